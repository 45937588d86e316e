import { isObject } from '../base/objects.js';
import { ConfigurationError } from '../index.js';
import { checkLoaded, messageOf } from './context/rows.js';
import { wordsOf } from './index.js';
import type { ConversationMessage, StoredMessage } from './model.js';
import type { AppendPlace, ConversationState, ConversationStore, WantedMessages } from './store.js';

const START = Date.parse('2026-01-15T10:00:00.000Z');

/**
 * Tests your own store against what conversations need of it: order, fields, replacement in one step, conflicts between
 * processes, states, and parts if it returns any. It works in any test runner, and stores in conversations with new ids.
 *
 * @throws {ConfigurationError} that names each rule that the store breaks, and what was seen
 *
 * @example
 * ```ts
 * import { memoryStore } from 'context-gateway/conversation';
 * import { testStore } from 'context-gateway/conversation/testing';
 * await testStore(memoryStore()); // in Vitest: test('our store', () => testStore(ourStore(database)))
 * console.log('no rule is broken');
 * ```
 */
export async function testStore(store: ConversationStore): Promise<void> {
  const broken: string[] = [];
  for (const [rule, check] of Object.entries(RULES)) {
    const seen = await check(new Talk(store)).catch((error: unknown) => `it throws ${error}`);
    if (seen !== undefined) broken.push(`${rule}: ${seen}`);
  }
  if (broken.length === 0) return;
  throw new ConfigurationError(
    `The store breaks ${broken.length} of ${Object.keys(RULES).length} rules.\n- ${broken.join('\n- ')}`,
  );
}

/** One conversation of the store. */
class Talk {
  readonly id = crypto.randomUUID();

  constructor(readonly tested: ConversationStore) {}

  /** Stores texts, and resolves to their ids. */
  append(texts: readonly string[], place: AppendPlace): Promise<string[]> {
    return this.store(texts.map(messageWith), place);
  }

  async store(messages: readonly StoredMessage[], place: AppendPlace): Promise<string[]> {
    if (this.tested.append === undefined) throw new Error('there is no append: your app stores the messages itself');
    const ids = (await this.tested.append(this.id, messages, place)) ?? undefined;
    return messages.map(({ id }, at) => String(ids?.[at] ?? id));
  }

  /** Whether `append` is refused because of a conflict. */
  async refuses(place: AppendPlace): Promise<boolean> {
    try {
      await this.append(['Refused?'], place);
      return false;
    } catch (error) {
      if (Object(error).name === 'ConversationConflictError') return true;
      throw error;
    }
  }

  async load(): Promise<{ messages: ConversationMessage[]; state: ConversationState | null | undefined }> {
    const { messages = [], state } = (await this.tested.load(this.id)) ?? {};
    const reject = (field: string, message: string): Error =>
      new Error(`load returns a message whose ${field} ${message}`);
    return { messages: messages.map((row) => messageOf(row, reject)), state };
  }

  /** The texts of a part by their positions. `undefined` if the store returns all messages. */
  async part(wanted: Partial<WantedMessages>): Promise<Map<number, string> | undefined> {
    const nothing = { newest: 0, words: [], ids: [], positions: [] };
    const { messages, count } = checkLoaded(await this.tested.load(this.id, { ...nothing, ...wanted }));
    if (count === undefined) {
      if (messages.length === (await this.load()).messages.length) return undefined;
      throw new Error('load returns a part without the count of all messages, so it is taken for all of them');
    }
    return new Map(messages.map(({ position, content }) => [Number(position), content]));
  }

  async texts(): Promise<string> {
    return (await this.load()).messages.map(({ content }) => content).join(' ');
  }

  /** Three stored messages, with their ids. */
  async three(): Promise<string[]> {
    await this.append(['One.', 'Two.', 'Three.'], { after: undefined, newest: undefined });
    return (await this.load()).messages.map(({ id }) => String(id));
  }
}

function messageWith(content: string, at: number): StoredMessage {
  const role = at % 2 === 0 ? 'user' : 'assistant';
  return { id: crypto.randomUUID(), role, content, createdAt: new Date(START + at).toISOString() };
}

const isSame = (seen: unknown, expected: unknown): string | undefined =>
  seen === expected ? undefined : `expected ${JSON.stringify(expected)}, got ${JSON.stringify(seen)}`;

/** What each rule is, and what was seen if it is broken. */
const RULES: Readonly<Record<string, (talk: Talk) => Promise<string | undefined>>> = {
  'load returns null, undefined or no messages for a new conversation': async (talk) => isSame(await talk.texts(), ''),

  'load returns the messages in order, with role, content, id and createdAt': async (talk) => {
    const ids = await talk.append(['One.', 'Two.'], { after: undefined, newest: undefined });
    const { messages } = await talk.load();
    const seen = messages.map(({ id, role, content, createdAt }) => [
      id,
      role,
      content,
      new Date(createdAt ?? Number.NaN).getTime(),
    ]);
    const expected = ['user One.', 'assistant Two.'].map((text, at) => [ids[at], ...text.split(' '), START + at]);
    return isSame(jsonOf(seen), jsonOf(expected));
  },

  'load returns name, stopped, excluded, replyTo and recalled, as append got them': async (talk) => {
    const recalled = [{ id: 'a', score: 0.5, match: 'words' as const }];
    const expected = [
      { name: 'Ada', excluded: true },
      { stopped: true, replyTo: 'a', recalled },
    ];
    const messages = expected.map((fields, at) => ({ ...messageWith('Text.', at), ...fields }));
    await talk.store(messages, { after: undefined, newest: undefined });
    const seen = (await talk.load()).messages.map(({ name, excluded, stopped, replyTo, recalled }) =>
      Object.fromEntries(Object.entries({ name, excluded, stopped, replyTo, recalled }).filter(([, value]) => value)),
    );
    return isSame(jsonOf(seen), jsonOf(expected));
  },

  'load returns text unchanged: emoji, quotes, line breaks, 100,000 characters': async (talk) => {
    const text = `"O'Hara" 👩‍🚀 \\ \t\n${'x'.repeat(100_000)}`;
    await talk.append([text], { after: undefined, newest: undefined });
    return (await talk.texts()) === text ? undefined : 'the text has changed';
  },

  'append adds messages after the newest': async (talk) => {
    const newest = (await talk.three()).at(-1);
    await talk.append(['Four.'], { after: newest, newest });
    return isSame(await talk.texts(), 'One. Two. Three. Four.');
  },

  'append replaces what follows the message `after`': async (talk) => {
    const [after, , newest] = await talk.three();
    await talk.append(['New.'], { after, newest });
    return isSame(await talk.texts(), 'One. New.');
  },

  'append replaces everything without `after`': async (talk) => {
    const newest = (await talk.three()).at(-1);
    await talk.append(['New.'], { after: undefined, newest });
    return isSame(await talk.texts(), 'New.');
  },

  'append takes a message with the id of one that it replaces': async (talk) => {
    const [after, id = '', newest] = await talk.three();
    const edited: StoredMessage = { ...messageWith('Edited.', 0), id };
    await talk.store([edited], { after, newest });
    return isSame(await talk.texts(), 'One. Edited.');
  },

  'append gives no message the id of one that it deleted': async (talk) => {
    const [after, second, newest] = await talk.three();
    const [id] = await talk.append(['New.'], { after, newest });
    return id === second || id === newest ? `the new message has the id ${id} of a deleted one` : undefined;
  },

  'append throws a ConversationConflictError, and changes nothing, if `newest` is not the newest message': async (
    talk,
  ) => {
    const [first, second] = await talk.three();
    for (const newest of [undefined, first, second, 'unknown'])
      if (!(await talk.refuses({ after: first, newest }))) return `it takes ${newest} for the newest of three messages`;
    return isSame(await talk.texts(), 'One. Two. Three.');
  },

  'append throws a ConversationConflictError, and changes nothing, if `after` is not stored': async (talk) => {
    const newest = (await talk.three()).at(-1);
    if (!(await talk.refuses({ after: 'unknown', newest }))) return 'it stores messages after an unknown one';
    return isSame(await talk.texts(), 'One. Two. Three.');
  },

  'append stores one of two turns that begin at once, and refuses the other': async (talk) => {
    const newest = (await talk.three()).at(-1);
    const refused = await Promise.all(['Four.', 'Five.'].map(() => talk.refuses({ after: newest, newest })));
    if (refused.filter(Boolean).length !== 1) return `it refuses ${refused.filter(Boolean).length} of 2`;
    return isSame(await talk.texts(), 'One. Two. Three. Refused?');
  },

  'load returns the state that saveState got last, unchanged': async (talk) => {
    await talk.three();
    for (const revision of [1, 2]) await talk.tested.saveState?.(talk.id, stateOf(revision));
    const { state } = await talk.load();
    return state === null || state === undefined
      ? isSame(undefined, talk.tested.saveState && 'a state')
      : isSame(jsonOf(state), jsonOf(stateOf(2)));
  },

  'a part has the newest messages, those with the ids and those at the positions that are wanted': async (talk) => {
    const ids = await talk.append('abcdefgh'.split(''), { after: undefined, newest: undefined });
    const part = await talk.part({ newest: 2, ids: [ids[3] ?? '', 'unknown'], positions: [0, 5, 99] });
    const wanted = new Map([0, 3, 5, 6, 7].map((at) => [at, 'abcdefgh'.charAt(at)]));
    return part && isSame(jsonOf([...wanted].filter(([at, text]) => part.get(at) !== text)), '[]');
  },

  'a part has all of the newest messages that are wanted, also if these are many': async (talk) => {
    const texts = Array.from({ length: 700 }, (_, at) => `Message ${at}.`);
    await talk.append(texts, { after: undefined, newest: undefined });
    const part = await talk.part({ newest: 660 });
    return (
      part &&
      isSame(
        texts.findIndex((text, at) => at >= 40 && part.get(at) !== text),
        -1,
      )
    );
  },

  'a part has each message of which wordsOf has a wanted word: those that are stored now, of this conversation': async (
    talk,
  ) => {
    const other = new Talk(talk.tested);
    await other.append(TEXTS, { after: undefined, newest: undefined });
    const [first] = await talk.append(['First.', 'Second lantern.', ...TEXTS], { after: undefined, newest: undefined });
    const newest = (await talk.load()).messages.at(-1)?.id;
    const messages = TEXTS.map((text, at) => ({ ...messageWith(text, at), name: `Ada ${at}` }));
    await talk.store(messages, { after: first, newest });
    for (const [at, message] of messages.entries())
      for (const word of wordsOf(message)) {
        const part = await talk.part({ words: ['nowhere', word, 'neither'] });
        if (part === undefined) return undefined;
        if (part.get(at + 1) !== message.content)
          return `the word ${word} does not find ${JSON.stringify(message.content)}`;
      }
    const part = await talk.part({ words: wordsOf({ content: 'lantern' }) });
    return part && isSame([...part.values()].includes('Second lantern.'), false);
  },

  'a part has the count of all messages, positions from 0 for the oldest, and the state': async (talk) => {
    const [, after, newest] = await talk.three();
    await talk.append(['New.', 'Newer.'], { after, newest });
    await talk.tested.saveState?.(talk.id, stateOf(1));
    const part = await talk.part({ newest: 3 });
    if (part === undefined) return undefined;
    const loaded = await talk.tested.load(talk.id, { newest: 1, words: [], ids: [], positions: [] });
    const wrong = isSame(
      jsonOf([...part].slice(-3)),
      jsonOf([
        [1, 'Two.'],
        [2, 'New.'],
        [3, 'Newer.'],
      ]),
    );
    if (talk.tested.saveState && loaded?.state?.revision !== 1) return 'the state is missing';
    return wrong ?? isSame(Number(loaded?.count), 4);
  },

  'a part of a new conversation has no messages': async (talk) => {
    const part = await talk.part({ newest: 5, words: ['lanter'], ids: ['a'], positions: [0] });
    return part && isSame(part.size, 0);
  },

  'saveState changes no messages, and append no state': async (talk) => {
    const { tested, id } = talk;
    await tested.saveState?.(id, stateOf(1));
    await talk.three();
    const { state } = await talk.load();
    if (tested.saveState && state?.revision !== 1) return `after append, the revision is ${state?.revision}, not 1`;
    await tested.saveState?.(id, stateOf(2));
    return isSame(await talk.texts(), 'One. Two. Three.');
  },
};

/** Texts of which a search finds each by any of its words, whatever its case, accents and script. */
const TEXTS = [
  'The harbours were PLANNED in 1995.',
  'Die Häfen öffnen um sechs.',
  'Kırmızı fener, KIRMIZI kapı',
  '码头装了一盏红灯。',
  'Ça coûte 2,50 € — n’est-ce pas ?',
  "it's a/b-test: `x_y` 'quoted' \"twice\" 100% {} [] \\ ; --",
  'ท่าเรือเปิดหกโมง',
];

function stateOf(revision: number): ConversationState {
  return { format: 1, revision, lost: [], compaction: {}, excluded: ['ä', '"'] };
}

/** As JSON, with the fields of each object in one order: a database may return them in another. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort()) : part,
  );
}
