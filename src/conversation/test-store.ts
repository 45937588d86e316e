import { isObject } from '../base/objects.js';
import { ConfigurationError } from '../index.js';
import { messageOf } from './context/rows.js';
import type { ConversationMessage, StoredMessage } from './model.js';
import type { AppendPlace, ConversationState, ConversationStore } from './store.js';

/**
 * Tests your own store against what conversations need of it: order, fields, replacement in one step, conflicts between
 * processes, states. It works in any test runner, and stores in conversations with new ids.
 *
 * @throws {ConfigurationError} that names each rule that the store breaks, and what was seen
 *
 * @example
 * ```ts
 * import { memoryStore, testStore } from 'context-gateway/conversation';
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

  async texts(): Promise<string> {
    return (await this.load()).messages.map(({ content }) => content).join(' ');
  }

  /** Three stored messages, with their ids. */
  async three(): Promise<string[]> {
    await this.append(['One.', 'Two.', 'Three.'], { after: undefined, newest: undefined });
    return (await this.load()).messages.map(({ id }) => String(id));
  }
}

const START = Date.parse('2026-01-15T10:00:00.000Z');

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

function stateOf(revision: number): ConversationState {
  return { format: 1, revision, lost: [], compaction: {}, calibration: { latin: 1.25 }, excluded: ['ä', '"'] };
}

/** As JSON, with the fields of each object in one order: a database may return them in another. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort()) : part,
  );
}
