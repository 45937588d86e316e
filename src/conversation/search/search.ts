import { pauses } from '../../base/pauses.js';
import type { Runtime } from '../../base/runtime.js';
import { ContextGatewayError } from '../../index.js';
import type { ConversationMessage, FoundMessage, LostEntry } from '../model.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import { localTimeOf } from './dates.js';
import { type Found, History } from './history.js';
import { normalise } from './words.js';

/** A search in the messages of a conversation. Returns messages by their ids, best first. */
export type ConversationSearch = (
  query: string,
  options: { limit: number; signal: AbortSignal },
) => readonly { id: string }[] | Promise<readonly { id: string }[]>;

/** Searches the history and the lost statements: by words, and with the app's own search. */
export class Searcher {
  readonly #lost = new History();

  constructor(
    private readonly ownSearch: ConversationSearch | undefined,
    private readonly runtime: Runtime,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** What is found for an input. The two user messages before it count, with less weight. */
  async found(
    input: readonly ConversationMessage[],
    messages: readonly ConversationMessage[],
    { history, timeouts, lost }: { history: History; timeouts: TurnTimeouts; lost: readonly LostEntry[] },
  ): Promise<Found> {
    const ofUser = messages.slice(-RECENT).filter(({ role }) => role === 'user');
    const previous = ofUser.slice(-2).map(({ content }) => content);
    const query = queryOf(input);
    const pause = pauses();
    const [ids] = await Promise.all([this.#idsFrom(query, MAX_HITS, timeouts), history.ready()]);
    await pause();
    const until = messages.length; // a question that is stored already would find itself
    const { messages: byWords, coverage } = history.around(query, {
      previous,
      limit: MAX_HITS,
      until,
      now: askedAt(input) ?? this.#now(),
    });
    await pause();
    return joined({ messages: [...this.#lostFor(query, lost, history), ...byWords], coverage }, ids, history, until);
  }

  /** Searches by words, and with the app's own search if there is one. */
  async search(query: string, limit: number, history: History, timeouts: TurnTimeouts): Promise<FoundMessage[]> {
    const [ids] = await Promise.all([this.#idsFrom(query, limit, timeouts), history.ready()]);
    const { messages } = history.around(query, { limit, weight: 0, now: this.#now() });
    return joined({ messages, coverage: 1 }, ids, history).messages;
  }

  #now(): string {
    return new Date(this.runtime.wallClock()).toISOString();
  }

  /** The lost statements that match, without those that a message makes: it is found by its words. */
  #lostFor(query: string, entries: readonly LostEntry[], history: History): FoundMessage[] {
    this.#lost.update(
      entries.map(({ text, term }) => ({ role: 'summary', content: term ? `${term}: ${text}` : text })),
    );
    const isSaid = (text = ''): boolean =>
      history.search(text, 1).some((origin) => normalise(origin.text).includes(normalise(text)));
    return this.#lost.search(query, MAX_LOST).flatMap((statement) => {
      return isSaid(entries[statement.position]?.text) ? [] : { ...statement, position: -1, score: 1 };
    });
  }

  async #idsFrom(query: string, limit: number, timeouts: TurnTimeouts): Promise<string[]> {
    const search = this.ownSearch;
    if (search === undefined) return [];
    const stop = new AbortController();
    try {
      const found = await timeouts.within(() => search(query, { limit, signal: stop.signal }), tooLate, SEARCH_TIMEOUT);
      return found.map(({ id }) => String(id)); // of a database, it may be a number
    } catch (error) {
      timeouts.throwIfAborted();
      this.onError(error);
      return [];
    } finally {
      stop.abort();
    }
  }
}

/** Among so many messages before the input, the user's are looked for. */
const RECENT = 200;
/** Messages that a search returns for a prompt. */
export const MAX_HITS = 1000;
/** Lost statements that a prompt repeats. */
const MAX_LOST = 5;
/** Milliseconds for the app's own search. */
const SEARCH_TIMEOUT = 2_000;

function tooLate(ms: number): Error {
  return new ContextGatewayError(`The option search took longer than ${ms} ms.`);
}

/** What the input asks for: the last message of the user. */
export function queryOf(input: readonly ConversationMessage[]): string {
  return questionIn(input)?.content ?? '';
}

/** When it was asked, from which "yesterday" counts. Now, if the question has no time. */
export function askedAt(input: readonly ConversationMessage[]): string | undefined {
  return localTimeOf(questionIn(input) ?? {});
}

function questionIn(input: readonly ConversationMessage[]): ConversationMessage | undefined {
  return input.findLast(({ role }) => role === 'user') ?? input.at(-1);
}

/**
 * Joins what was found by words with what the app's own search found, by reciprocal rank. The one place where a message
 * enters the list in two ways.
 */
function joined(byWords: Found, ids: readonly string[], history: History, until?: number): Found {
  const positions = new Map(ids.length === 0 ? [] : history.messages.slice(0, until).map(({ id }, at) => [id, at]));
  const byApp = ids.flatMap((id) => history.found(positions.get(id) ?? -1, 0, 'search') ?? []);
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

/** The usual constant of reciprocal rank fusion. */
const RANK_CONSTANT = 60;
