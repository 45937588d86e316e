import {
  type AppendPlace,
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  type StoredConversation,
  type StoredMessage,
  type WantedMessages,
  wordsOf,
} from '../conversation/index.js';
import { ConfigurationError } from '../index.js';

/** Options of `sqliteStore` and `postgresStore`. */
export interface SqlStoreOptions {
  /**
   * What the names of the tables begin with: letters, digits and underscores, in PostgreSQL after a schema and a point, too
   * (`app.chat_`). Default: `chat_`, for `chat_conversations` and `chat_messages`.
   */
  tablePrefix?: string | undefined;
}

/** A store of conversations in tables. */
export interface SqlStore extends ConversationStore {
  load(conversationId: string, wanted?: WantedMessages): Promise<StoredConversation | null>;
  append(conversationId: string, messages: readonly StoredMessage[], place: AppendPlace): Promise<number>;
  setExcluded(conversationId: string, messageId: string, excluded: 0 | 1): Promise<void>;
  saveState(conversationId: string, state: ConversationState, revision: number): Promise<void>;
  /** Creates missing tables, and leaves existing ones unchanged. Call it when a server starts; several servers may start at once. */
  migrate(): Promise<void>;
  /** The SQL that `migrate` runs, for those who run migrations themselves. */
  readonly migration: string;
  /**
   * Deletes the messages and the state of a conversation. Its empty row stays, so that a turn that is running fails with a
   * `ConversationConflictError` and adds nothing.
   */
  deleteConversation(conversationId: string): Promise<void>;
}

/** What a query is given. Lists only in PostgreSQL. */
type Value = string | number | null | readonly (string | number | boolean)[];
/** A query, and its values. */
export type Query = readonly [sql: string, ...values: Value[]];
export type Row = Readonly<Record<string, unknown>>;
/** What is done in a transaction. Each query gets its rows. */
export type Steps<T> = Generator<Query, T, readonly Row[]>;

/** How a database is asked. */
export interface Engine {
  query(query: Query): Promise<readonly Row[]>;
  /** Runs all steps, or none. They may be begun again. */
  transaction<T>(steps: () => Steps<T>): Promise<T>;
  migrate(statements: readonly string[]): Promise<void>;
}

/** A message as it is added. */
interface NewRow {
  position: number;
  id: string;
  message: string;
  excluded: boolean;
  /** Separated by spaces. */
  words: string;
}

/** The SQL of a database. */
export interface Dialect {
  migration: readonly string[];
  /** Locks the row of a conversation until the transaction ends, and returns it. */
  lock(conversation: string): Query;
  /** The first row has the facts of the conversation, and the others are messages. One query, so that all are of one moment. */
  load(conversation: string, wanted: WantedMessages | undefined): Query;
  idAt(conversation: string, position: number): Query;
  positionOf(conversation: string, id: string): Query;
  /** Those of the ids that are stored. */
  stored(conversation: string, ids: readonly string[]): Query;
  /** Returns the ids, and whether they were excluded. */
  removeFrom(conversation: string, position: number): Query;
  insert(conversation: string, rows: readonly NewRow[]): readonly Query[];
  update(conversation: string, count: number, edits: number): Query;
  saveState(conversation: string, state: string): Query;
  setExcluded(conversation: string, id: string, excluded: boolean): Query;
  /** Empties the row of a conversation. */
  clear(conversation: string): Query;
}

/** Rows that are added by one statement. */
const ROWS = 500;

export function storeIn(engine: Engine, sql: Dialect): SqlStore {
  return {
    migration: `${sql.migration.join(';\n')};\n`,
    migrate: () => engine.migrate(sql.migration),
    load: async (conversation, wanted) => {
      const [facts, ...rows] = await engine.query(sql.load(conversation, wanted));
      if (facts === undefined) return null;
      const messages = rows.map(({ json, position, excluded }) => ({
        ...JSON.parse(String(json)),
        position: Number(position),
        excluded: Boolean(Number(excluded)),
      }));
      const [edits, revision, count] = [facts.edits, facts.revision, facts.count].map(Number);
      return { messages, edits, revision, count, state: JSON.parse(String(facts.json ?? null)) };
    },
    append: (conversation, messages, place) => engine.transaction(() => appending(sql, conversation, messages, place)),
    setExcluded: async (conversation, id, excluded) => {
      await engine.query(sql.setExcluded(conversation, id, excluded === 1));
    },
    saveState: (conversation, state, revision) =>
      engine.transaction(function* () {
        const [stored] = yield sql.lock(conversation);
        if (Number(stored?.revision) !== revision) throw new ConversationConflictError();
        yield sql.saveState(conversation, JSON.stringify(state));
      }),
    deleteConversation: (conversation) =>
      engine.transaction(function* () {
        yield sql.clear(conversation);
        yield sql.removeFrom(conversation, 0);
      }),
  };
}

function* appending(
  sql: Dialect,
  conversation: string,
  messages: readonly StoredMessage[],
  { edits, newest, after }: AppendPlace,
): Steps<number> {
  const [stored] = yield sql.lock(conversation);
  const count = Number(stored?.count);
  const [last] = newest === undefined ? [] : yield sql.idAt(conversation, count - 1);
  const [place] = after == null ? [] : yield sql.positionOf(conversation, after);
  const isOther = newest !== undefined && newest !== (last?.id ?? null);
  if (Number(stored?.edits) !== edits || isOther || (after != null && place === undefined))
    throw new ConversationConflictError();
  const excluded = new Set<unknown>();
  let start = count;
  if (after !== undefined) {
    start = place === undefined ? 0 : Number(place.position) + 1;
    const removed = yield sql.removeFrom(conversation, start);
    for (const row of removed) if (Number(row.excluded)) excluded.add(row.id);
  }
  let end = start;
  for (let at = 0; at < messages.length; at += ROWS) {
    const some = messages.slice(at, at + ROWS);
    const known = new Set(
      (yield sql.stored(
        conversation,
        some.map(({ id }) => id),
      )).map(({ id }) => id),
    );
    const rows: NewRow[] = [];
    for (const message of some) {
      const { id } = message;
      if (known.has(id)) continue;
      known.add(id);
      const words = wordsOf(message).join(' ');
      const isExcluded = message.excluded === true || excluded.has(id);
      rows.push({ position: end, id, message: JSON.stringify(message), excluded: isExcluded, words });
      end += 1;
    }
    if (rows.length > 0) for (const query of sql.insert(conversation, rows)) yield query;
  }
  yield sql.update(conversation, end, edits + Number(after !== undefined));
  return end - start;
}

/** The same database gives the same store, so that the turns of one conversation keep their order. */
export class Stores {
  readonly #stores = new WeakMap<object, Map<string, SqlStore>>();

  of(database: object, prefix: string, make: () => SqlStore): SqlStore {
    const stores = this.#stores.get(database) ?? new Map<string, SqlStore>();
    this.#stores.set(database, stores);
    const store = stores.get(prefix) ?? make();
    stores.set(prefix, store);
    return store;
  }
}

/** @throws {ConfigurationError} */
export function prefixOf({ tablePrefix = 'chat_' }: SqlStoreOptions, pattern: RegExp, example: string): string {
  if (typeof tablePrefix === 'string' && tablePrefix.length <= 40 && pattern.test(tablePrefix)) return tablePrefix;
  throw new ConfigurationError(
    `tablePrefix must be at most 40 letters, digits and underscores, and begin with no digit, ${example}.`,
  );
}

/** @throws {ConfigurationError} if it is an error that tells of a missing table */
export function withoutTables(error: unknown, isMissing: boolean): never {
  if (!isMissing) throw error;
  throw new ConfigurationError('The tables of the store are missing: await store.migrate() when the server starts.', {
    cause: error,
  });
}
