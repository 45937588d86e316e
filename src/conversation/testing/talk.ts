import { sortedJson, textOf } from '../content.js';
import { checkLoaded, messageOf } from '../context/rows.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
import type { AppendPlace, ConversationState, ConversationStore, WantedMessages } from '../store.js';

export const START = Date.parse('2026-01-15T10:00:00.000Z');

/** Returns what was seen, if it is broken. */
export type Rule = (talk: Talk) => Promise<string | undefined>;

/** One conversation of the store. */
export class Talk {
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
    return new Map(messages.map(({ position, content }) => [Number(position), textOf({ content })]));
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

export function isConflict(error: unknown): boolean {
  return Object(error).name === 'ConversationConflictError';
}

export function messageWith(content: string, at: number): StoredMessage {
  const role = at % 2 === 0 ? 'user' : 'assistant';
  return { id: crypto.randomUUID(), role, content, createdAt: new Date(START + at).toISOString() };
}

export function isSame(seen: unknown, expected: unknown): string | undefined {
  const [left, right] = [sortedJson(seen), sortedJson(expected)];
  return left === right ? undefined : `expected ${right}, got ${left}`;
}

/** The fields of a message that `append` gets and `load` returns, without those that are not set. */
export function fieldsOf({
  id,
  createdAt,
  position: _,
  ...fields
}: ConversationMessage & { position?: unknown }): object {
  const time = new Date(createdAt ?? Number.NaN).getTime();
  return Object.fromEntries(Object.entries({ ...fields, id, time }).filter(([, value]) => value));
}

export function stateOf(text: string): ConversationState {
  return {
    format: 1,
    lost: [{ section: 'requirements', text: `${text} ä "`, until: 1 }],
    compaction: {},
  };
}
