import { Limits } from './limits.js';
import { type Hit, MessageIndex } from './memory.js';
import type { ConversationMessage, LostEntry } from './model.js';
import type { Found } from './recall.js';
import { normalise } from './receipt.js';

/** A search in the messages of a conversation. Returns the ids of messages, best first. */
export type ConversationSearch = (
  query: string,
  options: { limit: number; signal: AbortSignal },
) => readonly SearchHit[] | Promise<readonly SearchHit[]>;

/** A message that an app's own search found. */
export interface SearchHit {
  id: string;
}

/** The loaded messages of a conversation, and the index for searching them. */
export class History {
  #messages: readonly ConversationMessage[] = [];
  readonly #index = new MessageIndex();

  get messages(): readonly ConversationMessage[] {
    return this.#messages;
  }

  /** Replaces the messages. The index keeps those that have not changed. */
  update(messages: readonly ConversationMessage[]): void {
    const before = this.#messages;
    let same = 0;
    const most = Math.min(this.#index.length, messages.length);
    while (same < most && isSame(messages[same], before[same])) same += 1;
    if (same < this.#index.length) this.#index.truncate(same);
    this.#messages = messages;
  }

  /** The index with all messages. Adds new ones in slices, so that a long history does not block the event loop. */
  async index(): Promise<MessageIndex> {
    const messages = this.#messages;
    const pause = pauses();
    while (this.#index.length < messages.length && messages === this.#messages) {
      this.#index.append(messages.slice(this.#index.length, this.#index.length + SLICE));
      await pause();
    }
    return this.#index;
  }
}

/** Returns a function to call between slices of work. It lets other events be handled, if the last time is long ago. */
export function pauses(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < MAX_BLOCK) return undefined;
    return new Promise((resolve) => setTimeout(resolve, 0)).then(() => {
      began = performance.now();
    });
  };
}

function isSame(one: ConversationMessage | undefined, other: ConversationMessage | undefined): boolean {
  return one === other || (one?.content === other?.content && one?.name === other?.name);
}

/** Searches the history and the lost statements: by words, and with the app's own search. */
export class Searcher {
  readonly #search: ConversationSearch | undefined;
  readonly #onError: (error: unknown) => void;
  readonly #lost = new History();

  constructor(search: ConversationSearch | undefined, onError: (error: unknown) => void) {
    this.#search = search;
    this.#onError = onError;
  }

  /** What is found for an input. The two user messages before it count, with less weight. */
  async found(
    input: readonly ConversationMessage[],
    messages: readonly ConversationMessage[],
    { history, limits, lost: entries }: { history: History; limits: Limits; lost: readonly LostEntry[] },
  ): Promise<Found> {
    const { content: query } = input.findLast(({ role }) => role === 'user') ?? input.at(-1) ?? { content: '' };
    const ofUser = messages.slice(-RECENT).filter(({ role }) => role === 'user');
    const previous = ofUser.slice(-2).map(({ content }) => content);
    const index = await history.index();
    const pause = pauses();
    const hits = await this.hits(query, { previous, limit: MAX_HITS }, history, limits);
    await pause();
    this.#lost.update(entries.map(({ text, term = '' }) => ({ role: 'summary', content: `${term} ${text}` })));
    const statements = (await this.#lost.index()).search(query, { limit: MAX_LOST, neighbours: false });
    const lost: LostEntry[] = [];
    for (const entry of statements.flatMap(({ position }) => entries[position] ?? [])) {
      const [origin] = index.search(entry.text, { limit: 1, neighbours: false });
      const content = normalise(messages[origin?.position ?? -1]?.content ?? '');
      if (!content.includes(normalise(entry.text))) lost.push(entry);
      if (origin !== undefined) hits.splice(Math.min(hits.length, 3), 0, origin);
    }
    return { hits, lost, index, query };
  }

  /** Searches by words, and with the app's own search if there is one. */
  async hits(
    query: string,
    options: { limit: number; previous?: readonly string[]; neighbours?: boolean },
    history: History,
    limits: Limits,
  ): Promise<Hit[]> {
    const [index, ids] = await Promise.all([history.index(), this.#idsFrom(query, options.limit, limits)]);
    const { messages } = history;
    let hits = index.search(query, options);
    if (ids.length > 0) {
      const positions = new Map(messages.map(({ id }, at) => [id, at]));
      const byApp = ids.flatMap((id) => positions.get(id) ?? []);
      hits = joinHits(hits, byApp);
    }
    return hits.filter(({ position }) => messages[position]?.excluded !== true);
  }

  async #idsFrom(query: string, limit: number, { signal }: Limits): Promise<string[]> {
    const search = this.#search;
    if (search === undefined) return [];
    const stop = new AbortController();
    try {
      const bounded = new Limits({ signal, timeout: SEARCH_TIMEOUT });
      const found = await bounded.within('search', () => search(query, { limit, signal: stop.signal }));
      return found.map(({ id }) => id);
    } catch (error) {
      if (signal?.aborted === true) throw error;
      this.#onError(error);
      return [];
    } finally {
      stop.abort();
    }
  }
}

/** Among so many messages before the input, the user's are looked for. */
const RECENT = 20;
/** Messages that a search returns for a prompt. */
const MAX_HITS = 1000;
/** Lost statements that a prompt repeats. */
const MAX_LOST = 5;
/** Milliseconds for the app's own search. */
const SEARCH_TIMEOUT = 2_000;
/** Messages that are added to an index at once. */
const SLICE = 20;
/** Milliseconds of work before other events are handled. */
const MAX_BLOCK = 8;

/** Joins the ranking by words with that of the app's own search, by reciprocal rank. */
function joinHits(byWords: readonly Hit[], byApp: readonly number[]): Hit[] {
  const joined = new Map<number, Hit>();
  for (const [rank, hit] of byWords.entries()) joined.set(hit.position, { ...hit, score: 1 / (RANK_CONSTANT + rank) });
  for (const [rank, position] of byApp.entries()) {
    const hit = joined.get(position) ?? { position, score: 0 };
    joined.set(position, { ...hit, score: hit.score + 1 / (RANK_CONSTANT + rank) });
  }
  return [...joined.values()].sort((a, b) => b.score - a.score);
}

/** The usual constant of reciprocal rank fusion. */
const RANK_CONSTANT = 60;
