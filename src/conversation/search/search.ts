import { inSlices } from '../../base/pauses.js';
import type { Runtime } from '../../base/runtime.js';
import { textOf } from '../content.js';
import { isSent, questionIn } from '../messages.js';
import type { ConversationMessage, FoundMessage, LostEntry } from '../model.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import type { Archive, Loaded } from './archive.js';
import { localTimeOf } from './dates.js';
import { wantedWords } from './index-words.js';
import { rankMessages, type SearchQuery } from './rank.js';
import { type Found, found, foundMessage, searchMessages } from './search-messages.js';
import type { InSlices } from './terms.js';
import { normalise } from './words.js';

/** A search in the messages of a conversation. Returns messages by their ids, best first. */
export type ConversationSearch = (
  query: string,
  options: { limit: number; signal: AbortSignal },
) => readonly { id: string }[] | Promise<readonly { id: string }[]>;

/** The options that a search needs. */
interface SearchParts {
  search?: ConversationSearch | undefined;
  timeZone?: string | undefined;
  runtime: Runtime;
}

/** Among so many messages before the input, the user's are looked for. */
const RECENT = 200;
/** Messages that a search returns for a prompt. */
export const MAX_HITS = 1000;
/** Lost statements that a prompt repeats. */
const MAX_LOST = 5;
/** The usual constant of reciprocal rank fusion. */
const RANK_CONSTANT = 60;

/** Searches the messages and the lost statements: by words, and with the app's own search. */
export class Searcher {
  constructor(
    private readonly options: SearchParts,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** What is found for an input in the messages before it. The two user messages before it count, with less weight. */
  async found(
    input: readonly ConversationMessage[],
    messages: readonly ConversationMessage[],
    more: {
      archive: Archive;
      until: number;
      timeouts: TurnTimeouts;
      lost: readonly LostEntry[];
      /** What the app's own search finds, if it was begun before. */
      own?: Promise<readonly string[]> | undefined;
    },
  ): Promise<Found> {
    const { archive, until, timeouts, lost, own } = more;
    const ofUser = messages.slice(-RECENT).filter((message) => message.role === 'user' && isSent(message));
    const previous = ofUser.slice(-2).map(textOf);
    const text = queryOf(input);
    const now = askedAt(input) ?? this.#now();
    // `until`, because a question that is stored already would find itself.
    const query = { text, previous, limit: MAX_HITS, until, now, timeZone: this.options.timeZone };
    const found = await this.#search(query, archive, timeouts, own);
    const statements = await inSlices(this.#lostFor(text, lost, archive.messages));
    return { ...found, messages: [...statements, ...found.messages] };
  }

  /** Searches by words, and with the app's own search if there is one. */
  async search(text: string, limit: number, archive: Archive, timeouts: TurnTimeouts): Promise<FoundMessage[]> {
    const query = { text, limit, weight: 0, now: this.#now(), timeZone: this.options.timeZone } as const;
    return (await this.#search(query, archive, timeouts)).messages;
  }

  async #search(
    query: SearchQuery,
    archive: Archive,
    timeouts: TurnTimeouts,
    own = this.own(query.text, query.limit, timeouts),
  ): Promise<Found> {
    const [ids] = await Promise.all([own, archive.load({ words: wantedWords(query) })]);
    const ranking = await inSlices(rankMessages(archive.messages, query));
    await archive.load({ ids, positions: ranking.best.map(({ position }) => position) });
    return this.#joined(found(ranking, archive.messages, query.timeZone), ids, archive.messages, query.until);
  }

  #now(): string {
    return new Date(this.options.runtime.wallClock()).toISOString();
  }

  /** The lost statements that match, without those that a message makes: it is found by its words. */
  *#lostFor(text: string, entries: readonly LostEntry[], messages: Loaded): InSlices<FoundMessage[]> {
    const statements = entries.map((entry) => ({
      role: 'summary',
      content: entry.term ? `${entry.term}: ${entry.text}` : entry.text,
    }));
    const query = { text, limit: MAX_LOST, weight: 0, now: this.#now() } as const;
    const found = (yield* searchMessages(statements, query)).messages;
    const left = new Set(found.map((one) => ({ one, ...statementOf(entries[one.position]?.text ?? '') })));
    for (const message of messages) {
      if (left.size === 0) break;
      yield;
      if (message === undefined || message.excluded === true) continue;
      const content = textOf(message).toLowerCase();
      const likely = [...left].filter(({ longest }) => content.includes(longest)); // mostly none
      if (likely.length === 0) continue;
      const words = normalise(content);
      for (const statement of likely) if (words.includes(statement.words)) left.delete(statement);
    }
    return [...left].map(({ one }) => ({ ...one, position: -1, score: 1 }));
  }

  /** What the app's own search finds. */
  async own(query: string, limit: number, timeouts: TurnTimeouts): Promise<readonly string[]> {
    const { search } = this.options;
    if (search === undefined) return [];
    const ids = async (signal: AbortSignal): Promise<string[]> => {
      const found = await search(query, { limit, signal });
      return [...new Set(found.map(({ id }) => String(id)))]; // of a database, it may be a number; of each chunk, the same
    };
    return (await timeouts.optional('The option search', ids, this.onError)) ?? [];
  }

  /**
   * Joins what was found by words with what the app's own search found, by reciprocal rank. The one place where a message
   * enters the list in two ways.
   */
  #joined(byWords: Found, ids: readonly string[], messages: Loaded, until?: number): Found {
    if (ids.length === 0) return byWords;
    const positions = new Map(messages.slice(0, until).map((message, at) => [message?.id, at]));
    const how = { score: 0, match: 'search', timeZone: this.options.timeZone } as const;
    const byApp = ids.flatMap((id) => foundMessage(messages, positions.get(id) ?? -1, how) ?? []);
    if (byApp.length === 0) return byWords;
    const all = new Map<unknown, FoundMessage>();
    for (const [rank, found] of [...byWords.messages.entries(), ...byApp.entries()]) {
      const key = found.position < 0 ? found : found.position; // lost statements have no position
      const { score, ...known } = all.get(key) ?? { ...found, score: 0 };
      all.set(key, { ...known, score: score + 1 / (RANK_CONSTANT + rank) });
    }
    const sorted = [...all.values()].sort((a, b) => b.score - a.score);
    const best = sorted[0]?.score ?? 1;
    return { messages: sorted.map((found) => ({ ...found, score: found.score / best })), coverage: 1 };
  }
}

/** The words by which a message makes a statement, and the longest, which most messages do not have. */
function statementOf(text: string): { words: string; longest: string } {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const longest = words.reduce((one, other) => (other.length > one.length ? other : one), '');
  return { words: normalise(text), longest };
}

/** What the input asks for: the last message of the user. */
export function queryOf(input: readonly ConversationMessage[]): string {
  return textOf(asked(input) ?? {});
}

/** When it was asked, from which "yesterday" counts. Now, if the question has no time. */
export function askedAt(input: readonly ConversationMessage[]): string | undefined {
  return localTimeOf(asked(input) ?? {});
}

function asked(input: readonly ConversationMessage[]): ConversationMessage | undefined {
  return questionIn(input) ?? input.at(-1);
}
