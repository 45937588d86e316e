import { isObject } from '../base/objects.js';
import { ConfigurationError } from '../index.js';
import { checkLoaded, messageOf } from './context/rows.js';
import { wordsOf } from './index.js';
import type { ConversationMessage, StoredMessage } from './model.js';
import type { AppendPlace, ConversationState, ConversationStore, WantedMessages } from './store.js';

const START = Date.parse('2026-01-15T10:00:00.000Z');

/**
 * Tests your own store against what conversations need of it: order, ids, fields, replacement in one step, conflicts between
 * processes, exclusions, states, and parts if it returns any. It works in any test runner, and stores in conversations with new ids.
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
  constructor(
    readonly tested: ConversationStore,
    readonly id: string = crypto.randomUUID(),
  ) {}

  /** Stores texts, and returns their messages. */
  async append(texts: readonly string[], place: AppendPlace = NEW): Promise<StoredMessage[]> {
    const messages = texts.map(messageWith);
    await this.store(messages, place);
    return messages;
  }

  /** Resolves to how many messages were added. */
  async store(messages: readonly StoredMessage[], place: AppendPlace = NEW): Promise<number> {
    if (this.tested.append === undefined) throw new Error('there is no append, so that no turn is stored');
    const copies = structuredClone(messages);
    return this.tested.append(this.id, copies, { ...place });
  }

  /** Whether `append` is refused because of a conflict. */
  async refuses(place: AppendPlace, text = 'Refused?'): Promise<boolean> {
    try {
      await this.append([text], place);
      return false;
    } catch (error) {
      if (isConflict(error)) return true;
      throw error;
    }
  }

  async load() {
    const loaded = checkLoaded(await this.tested.load(this.id));
    const reject = (field: string, message: string): Error =>
      new Error(`load returns a message whose ${field} ${message}`);
    return { ...loaded, messages: loaded.messages.map((row) => messageOf(row, reject)) };
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

  /** The ids of three stored messages. */
  async three(): Promise<string[]> {
    return (await this.append(['One.', 'Two.', 'Three.'])).map(({ id }) => id);
  }
}

const NEW: AppendPlace = { edits: 0 };

function isConflict(error: unknown): boolean {
  return Object(error).name === 'ConversationConflictError';
}

function messageWith(content: string, at: number): StoredMessage {
  const role = at % 2 === 0 ? 'user' : 'assistant';
  return { id: crypto.randomUUID(), role, content, createdAt: new Date(START + at).toISOString() };
}

function isSame(seen: unknown, expected: unknown): string | undefined {
  const [left, right] = [jsonOf(seen), jsonOf(expected)];
  return left === right ? undefined : `expected ${right}, got ${left}`;
}

/** The fields of a message that `append` gets and `load` returns, without those that are not set. */
function fieldsOf({ id, createdAt, position: _, ...fields }: ConversationMessage & { position?: unknown }): object {
  const time = new Date(createdAt ?? Number.NaN).getTime();
  return Object.fromEntries(Object.entries({ ...fields, id, time }).filter(([, value]) => value));
}

type Rule = (talk: Talk) => Promise<string | undefined>;

/** What each rule of `append` is, and what was seen if it is broken. */
const STORING: Readonly<Record<string, Rule>> = {
  'load returns null, undefined or no messages, and no state, for a new conversation': async (talk) => {
    const { messages, edits, state, revision } = await talk.load();
    return isSame([messages, edits, state ?? null, revision], [[], 0, null, 0]);
  },

  'load returns the messages in order, with role, content, id and createdAt as append got them': async (talk) => {
    // The later has the earlier time, as from another server, and the ids rise and fall.
    const messages = ['One.', 'Two.', 'Three.'].map((text, at) => ({
      ...messageWith(text, at),
      id: `${'mzA'.charAt(at)}-x Y`,
    }));
    const given = messages.map((message, at) => ({
      ...message,
      createdAt: new Date(START - at * 1_000).toISOString(),
    }));
    await talk.store(given);
    return isSame((await talk.load()).messages.map(fieldsOf), given.map(fieldsOf));
  },

  'load returns every field of a message, also those of the app, as append got it': async (talk) => {
    const facts = {
      finish_reason: 'length',
      model: 'm',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    };
    const fields = [
      { name: 'Ada', excluded: true, ownField: { b: 1, a: [null, 'x'] } },
      { stopped: true, replyTo: 'a', recalled: [{ id: 'a', score: 0.5, match: 'words' as const }], ...facts },
    ];
    const given = fields.map((more, at) => ({ ...messageWith('Text.', at), ...more }));
    await talk.store(given);
    return isSame((await talk.load()).messages.map(fieldsOf), given.map(fieldsOf));
  },

  'load returns text unchanged: emoji, quotes, spaces, line breaks, 100,000 characters': async (talk) => {
    const text = ` "O'Hara" 👩‍🚀 \\ é e\u0301 \t\r\n${'x'.repeat(100_000)} `;
    await talk.append([text]);
    return (await talk.texts()) === text ? undefined : 'the text has changed';
  },

  'load returns ids unchanged, also those that differ only in their case or a space': async (talk) => {
    const ids = [
      'ABCDEF12-0000-4000-8000-00000000000A',
      'abcdef12-0000-4000-8000-00000000000a',
      ' x ',
      ' x',
      '007',
      '7',
    ];
    const added: number[] = [];
    for (const [at, id] of ids.entries()) added.push(await talk.store([{ ...messageWith('Text.', at), id }]));
    const loaded = (await talk.load()).messages.map(({ id }) => id);
    return isSame([added, loaded], [ids.map(() => 1), ids]);
  },

  'load returns 0, null or nothing as edits of a new conversation, and append adds to the newest': async (talk) => {
    await talk.three();
    await talk.append(['Four.']);
    return isSame((await talk.load()).edits, 0) ?? isSame(await talk.texts(), 'One. Two. Three. Four.');
  },

  'load returns all messages, however many there are, and all of the newest that are wanted': async (talk) => {
    const texts = Array.from({ length: 1_050 }, (_, at) => `Message ${at}.`);
    await talk.append(texts);
    const { length } = (await talk.load()).messages;
    if (length !== texts.length) return `it returns ${length} of ${texts.length}`;
    const part = await talk.part({ newest: 1_040 });
    return (
      part &&
      isSame(
        texts.findIndex((text, at) => at >= 10 && part.get(at) !== text),
        -1,
      )
    );
  },

  'append returns how many messages it added: those whose id is not stored': async (talk) => {
    const messages = ['One.', 'Two.', 'Three.'].map(messageWith);
    const added = [await talk.store(messages.slice(0, 2)), await talk.store(messages), await talk.store(messages)];
    return isSame(added, [2, 1, 0]) ?? isSame(await talk.texts(), 'One. Two. Three.');
  },

  'append stores a message of which another conversation has the id, and changes only its own conversation': async (
    talk,
  ) => {
    const messages = ['One.', 'Two.'].map(messageWith);
    const other = new Talk(talk.tested);
    const added = [await other.store(messages), await talk.store(messages)];
    const [id = '', newest] = messages.map((message) => message.id);
    await talk.tested.setExcluded?.(talk.id, id, 1);
    await talk.append(['New.'], { edits: 0, newest, after: null });
    const left = await other.load();
    return (
      isSame([added, await talk.texts()], [[2, 2], 'New.']) ??
      isSame([left.messages.map(fieldsOf), left.edits], [messages.map(fieldsOf), 0])
    );
  },

  'append stores a message once that is stored twice at the same moment': async (talk) => {
    await talk.three();
    const message = messageWith('Four.', 0);
    const added = await Promise.all([talk.store([message]), talk.store([message])]);
    return isSame(added[0] + added[1], 1) ?? isSame(await talk.texts(), 'One. Two. Three. Four.');
  },

  'append stores all of several that add at the same moment': async (talk) => {
    await talk.three();
    const texts = Array.from({ length: 8 }, (_, at) => `Text ${at}.`);
    await Promise.all(texts.map((text) => talk.append([text])));
    const { messages } = await talk.load();
    return isSame(
      messages
        .slice(3)
        .map(({ content }) => content)
        .sort(),
      texts,
    );
  },

  'append replaces what follows `after`, and adds 1 to edits': async (talk) => {
    const [after, , newest] = await talk.three();
    await talk.append(['New.'], { edits: 0, newest, after });
    return isSame([(await talk.load()).edits, await talk.texts()], [1, 'One. New.']);
  },

  'append replaces everything with `after: null`': async (talk) => {
    const newest = (await talk.three()).at(-1);
    await talk.append(['New.'], { edits: 0, newest, after: null });
    return isSame([(await talk.load()).edits, await talk.texts()], [1, 'New.']);
  },

  'append gives a message that it deletes and gets again its place and its excluded': async (talk) => {
    const [after, id = '', newest] = await talk.three();
    await talk.tested.setExcluded?.(talk.id, id, 1);
    const added = await talk.store([messageWith('Late.', 1), { ...messageWith('Edited.', 0), id }], {
      edits: 0,
      newest,
      after,
    });
    const seen = (await talk.load()).messages.map(({ content, excluded }) => [content, excluded === true]);
    return isSame(
      [added, seen],
      [
        2,
        [
          ['One.', false],
          ['Late.', false],
          ['Edited.', true],
        ],
      ],
    );
  },

  'append throws a ConversationConflictError, and changes nothing, if `edits` is another number': async (talk) => {
    const [after, , newest] = await talk.three();
    for (const edits of [1, 2]) if (!(await talk.refuses({ edits }))) return `it takes ${edits} for the 0 edits`;
    await talk.append(['New.'], { edits: 0, newest, after });
    if (!(await talk.refuses({ edits: 0 }))) return 'it takes 0 after an edit';
    if (await talk.refuses({ edits: 1 }, 'Added.')) return 'it refuses 1 after an edit';
    return isSame(await talk.texts(), 'One. New. Added.');
  },

  'append throws a ConversationConflictError, and changes nothing, if `newest` is not the newest message': async (
    talk,
  ) => {
    if (!(await talk.refuses({ edits: 0, newest: 'unknown' }))) return 'it takes unknown for the newest of no message';
    const ids = await talk.three();
    for (const newest of [null, ...ids.slice(0, 2), 'unknown'])
      if (!(await talk.refuses({ edits: 0, newest, after: ids[0] })))
        return `it takes ${newest} for the newest of three messages`;
    return isSame(await talk.texts(), 'One. Two. Three.');
  },

  'append throws a ConversationConflictError, and changes nothing, if `after` is not stored': async (talk) => {
    const newest = (await talk.three()).at(-1);
    if (!(await talk.refuses({ edits: 0, newest, after: 'unknown' }))) return 'it stores messages after an unknown one';
    return isSame([await talk.texts(), (await talk.load()).edits], ['One. Two. Three.', 0]);
  },

  'append makes one of two edits at the same moment, and refuses the other': async (talk) => {
    const [after, , newest] = await talk.three();
    const refused = await Promise.all(['A.', 'B.'].map((text) => talk.refuses({ edits: 0, newest, after }, text)));
    const { edits, messages } = await talk.load();
    if (refused.filter(Boolean).length !== 1) return `it refuses ${refused.filter(Boolean).length} of 2`;
    return isSame([edits, messages.length], [1, 2]);
  },

  'append makes one of an edit and an addition at the same moment, or both in their order': async (talk) => {
    const [after, , newest] = await talk.three();
    const [isEdited, isAdded] = (
      await Promise.all([talk.refuses({ edits: 0, newest, after }, 'Edit.'), talk.refuses({ edits: 0 }, 'Added.')])
    ).map((isRefused) => !isRefused);
    const expected = isEdited ? 'One. Edit.' : 'One. Two. Three. Added.';
    return isSame([isEdited, isAdded], [isEdited, !isEdited]) ?? isSame(await talk.texts(), expected);
  },

  'setExcluded marks a message, and takes it in again': async (talk) => {
    const [, id = ''] = await talk.three();
    const marks: unknown[] = [];
    for (const excluded of [1, 0] as const) {
      await talk.tested.setExcluded?.(talk.id, id, excluded);
      marks.push((await talk.load()).messages.map((message) => message.excluded === true));
    }
    await talk.tested.setExcluded?.(talk.id, 'unknown', 1);
    const none = [false, false, false];
    return isSame([marks, (await talk.load()).edits], [[[false, true, false], none], 0]);
  },
};

/** The rules of states. A store without `saveState` keeps them. */
const STATES: Readonly<Record<string, Rule>> = {
  'load returns the state that saveState got last, unchanged, and its revision': async (talk) => {
    const { tested, id } = talk;
    if (tested.saveState === undefined) return undefined;
    for (const revision of [0, 1]) await tested.saveState(id, stateOf(`Rule ${revision}`), revision);
    await tested.saveState(crypto.randomUUID(), stateOf('Another conversation'), 0);
    await talk.three();
    const { state, revision } = await talk.load();
    return isSame([state, revision], [stateOf('Rule 1'), 2]);
  },

  'saveState throws a ConversationConflictError, and changes nothing, if `revision` is not the stored one': async (
    talk,
  ) => {
    const { tested, id } = talk;
    if (tested.saveState === undefined) return undefined;
    await tested.saveState(id, stateOf('First'), 0);
    for (const revision of [0, 2])
      try {
        await tested.saveState(id, stateOf('Other'), revision);
        return `it takes ${revision} for revision 1`;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    return isSame((await talk.load()).state, stateOf('First'));
  },

  'saveState changes no messages, and append no state': async (talk) => {
    const { tested, id } = talk;
    await tested.saveState?.(id, stateOf('First'), 0);
    const [after, , newest] = await talk.three();
    await talk.append(['New.'], { edits: 0, newest, after });
    const states = [(await talk.load()).state];
    await tested.saveState?.(id, stateOf('Second'), 1);
    states.push((await talk.load()).state);
    const saved = tested.saveState && ['First', 'Second'].map(stateOf);
    return isSame(await talk.texts(), 'One. New.') ?? (saved && isSame(states, saved));
  },
};

/** The rules of parts. A store that always returns all messages keeps them. */
const PARTS: Readonly<Record<string, Rule>> = {
  'a part has the newest messages, those with the ids and those at the positions that are wanted': async (talk) => {
    const stored = await talk.append('abcdefgh'.split(''));
    const part = await talk.part({ newest: 2, ids: [stored[3]?.id ?? '', 'unknown'], positions: [0, 5, 99] });
    const wanted = new Map([0, 3, 5, 6, 7].map((at) => [at, 'abcdefgh'.charAt(at)]));
    return (
      part &&
      isSame(
        [...wanted].filter(([at, text]) => part.get(at) !== text),
        [],
      )
    );
  },

  'a part has each message of which wordsOf has a wanted word: those that are stored now, of this conversation': async (
    talk,
  ) => {
    await new Talk(talk.tested).append(TEXTS);
    const stored = await talk.append(['First.', 'Second lantern.', ...TEXTS]);
    const messages = TEXTS.map((text, at) => ({ ...messageWith(text, at), name: `Ada ${at}` }));
    await talk.store(messages, { edits: 0, newest: stored.at(-1)?.id, after: stored[0]?.id });
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

  'a part has the count of all messages, positions from 0 without gaps, edits and the state': async (talk) => {
    const [, after, newest] = await talk.three();
    const messages = ['New.', 'Newer.'].map(messageWith);
    await talk.store(messages, { edits: 0, newest, after });
    await talk.store([...messages, messageWith('Newest.', 2)], { edits: 1 }); // two of them are stored
    await talk.tested.saveState?.(talk.id, stateOf('First'), 0);
    const part = await talk.part({ newest: 3 });
    if (part === undefined) return undefined;
    const nothing = { words: [], ids: [], positions: [] };
    const { count, edits, revision, state } = checkLoaded(await talk.tested.load(talk.id, { newest: 1, ...nothing }));
    const saved = talk.tested.saveState && stateOf('First');
    return (
      isSame([...part].slice(-3), [
        [2, 'New.'],
        [3, 'Newer.'],
        [4, 'Newest.'],
      ]) ?? isSame([count, edits, state, revision], [5, 1, saved, saved ? 1 : 0])
    );
  },

  'a part of a new conversation has no messages': async (talk) => {
    const part = await talk.part({ newest: 5, words: ['lanter'], ids: ['a'], positions: [0] });
    return part && isSame(part.size, 0);
  },
};

const RULES = { ...STORING, ...STATES, ...PARTS };

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

function stateOf(text: string): ConversationState {
  return {
    format: 1,
    lost: [{ section: 'requirements', text: `${text} ä "`, until: 1 }],
    compaction: {},
  };
}

/** As JSON, with the fields of each object in one order: a database may return them in another. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort()) : part,
  );
}
