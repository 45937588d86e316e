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
import { option, optionsCheck } from '../validation/options.js';

/** Options of `sqliteStore` and `postgresStore`. */
export type SqlStoreOptions = {
  /**
   * What the names of the tables begin with: letters, digits and underscores, in PostgreSQL after a schema and a point, too
   * (`app.chat_`). Default: `chat_`, for `chat_conversations` and `chat_messages`.
   */
  tablePrefix?: string | undefined;
};

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

/** What a query is given. */
export type Value = string | number | boolean | null | readonly (string | number | boolean)[];
/** A query in which `$1` is its first value, as in PostgreSQL. */
export type Query = readonly [sql: string, ...values: Value[]];
export type Row = Readonly<Record<string, unknown>>;
/** What is done in a transaction. Each query gets its rows. */
export type Steps<T> = Generator<Query, T, readonly Row[]>;

/** How a database is asked. */
export interface Engine {
  query(query: Query): Promise<readonly Row[]>;
  /** Runs all steps, or none. They may be begun again. */
  transaction<T>(steps: () => Steps<T>): Promise<T>;
}

/** A message as it is added. The words are separated by spaces. */
type NewRow = readonly [position: number, id: string, message: string, excluded: boolean, words: string];

/** What the SQL of a database says in its own way. */
export interface Dialect {
  migration: readonly string[];
  /** What one migration of several waits for. */
  migrationLock?: string;
  now: string;
  /** Whether a column is one of a list. */
  isIn(column: string, list: string): string;
  /** The column of the messages that `found` selects: of the best 500 with one of the words, which `$5` has. */
  key: string;
  found: string;
  /** The words as `$5`. */
  match(conversation: string, words: readonly string[]): Value;
  insert(conversation: string, rows: readonly NewRow[]): readonly Query[];
}

/** Rows that are added by one statement. */
const ROWS = 500;

/** The same database gives the same store, so that the turns of one conversation keep their order. */
const STORES = new WeakMap<object, Map<string, SqlStore>>();

export function storeIn(database: object, prefix: string, open: () => Engine, dialect: Dialect): SqlStore {
  const stores = STORES.get(database) ?? new Map<string, SqlStore>();
  const store = stores.get(prefix) ?? newStore(open(), queriesOf(prefix, dialect), dialect);
  STORES.set(database, stores.set(prefix, store));
  return store;
}

function newStore(engine: Engine, sql: Queries, { migration, migrationLock }: Dialect): SqlStore {
  return {
    migration: `${migration.join(';\n')};\n`,
    migrate: () =>
      engine.transaction(function* () {
        if (migrationLock !== undefined) yield [migrationLock];
        for (const statement of migration) yield [statement];
      }),
    load: async (conversation, wanted) => {
      const [facts, ...rows] = await engine.query(sql.load(conversation, wanted));
      if (facts === undefined) return null;
      const messages = rows.map(({ json, position, excluded }) => ({
        ...JSON.parse(String(json)),
        position: Number(position),
        excluded: Boolean(excluded),
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
  sql: Queries,
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
  const start = after === undefined ? count : Number(place?.position ?? -1) + 1;
  const removed = after === undefined ? [] : yield sql.removeFrom(conversation, start);
  const excluded = new Set(removed.flatMap((row) => (row.excluded ? row.id : [])));
  let end = start;
  for (let at = 0; at < messages.length; at += ROWS) {
    const some = messages.slice(at, at + ROWS);
    const ids = some.map(({ id }) => id);
    const known = new Set((yield sql.stored(conversation, ids)).map(({ id }) => id));
    const rows: NewRow[] = [];
    for (const message of some) {
      const { id } = message;
      if (known.has(id)) continue;
      known.add(id);
      const words = wordsOf(message).join(' ');
      const isExcluded = message.excluded === true || excluded.has(id);
      rows.push([end, id, JSON.stringify(message), isExcluded, words]);
      end += 1;
    }
    if (rows.length > 0) for (const query of sql.insert(conversation, rows)) yield query;
  }
  yield sql.update(conversation, end, edits + Number(after !== undefined));
  return end - start;
}

type Queries = ReturnType<typeof queriesOf>;

function queriesOf(prefix: string, { now, isIn, key, found, match, insert }: Dialect) {
  const [conversations, messages] = [`${prefix}conversations`, `${prefix}messages`];
  /** The first row has the facts of the conversation, and the others are messages. One query, so that all are of one moment. */
  const rowsOf = (from: string): string => `
    SELECT -1 AS position, edits, count, revision, CAST(state AS text) AS json, false AS excluded FROM ${conversations} WHERE id = $1
    UNION ALL SELECT position, NULL, NULL, NULL, CAST(message AS text), excluded FROM ${from} WHERE conversation = $1
    ORDER BY position
  `;
  const all = rowsOf(messages);
  const ofTalk = `SELECT ${key} FROM ${messages} WHERE conversation = $1 AND`;
  const part = `
    WITH wanted AS (
      ${ofTalk} position >= (SELECT count FROM ${conversations} WHERE id = $1) - $2
      UNION ${ofTalk} ${isIn('id', '$3')} UNION ${ofTalk} ${isIn('position', '$4')} UNION SELECT * FROM (${found}) AS found
    ) ${rowsOf(`${messages} JOIN wanted USING (${key})`)}
  `;
  const query =
    <Values extends Value[]>(sql: string) =>
    (conversation: string, ...values: Values): Query => [sql, conversation, ...values];
  return {
    insert,
    /** Locks the row of a conversation until the transaction ends, and returns it. */
    lock: query<[]>(`INSERT INTO ${conversations} AS stored (id) VALUES ($1)
      ON CONFLICT (id) DO UPDATE SET count = stored.count RETURNING edits, count, revision`),
    load: (conversation: string, wanted: WantedMessages | undefined): Query => {
      if (wanted === undefined) return [all, conversation];
      const { newest, ids, positions, words } = wanted;
      return [part, conversation, newest, ids, positions, match(conversation, words)];
    },
    idAt: query<[position: number]>(`SELECT id FROM ${messages} WHERE conversation = $1 AND position = $2`),
    positionOf: query<[id: string]>(`SELECT position FROM ${messages} WHERE conversation = $1 AND id = $2`),
    stored: query<[ids: string[]]>(`SELECT id FROM ${messages} WHERE conversation = $1 AND ${isIn('id', '$2')}`),
    removeFrom: query<[position: number]>(
      `DELETE FROM ${messages} WHERE conversation = $1 AND position >= $2 RETURNING id, excluded`,
    ),
    update: query<[count: number, edits: number]>(
      `UPDATE ${conversations} SET count = $2, edits = $3, updated_at = ${now} WHERE id = $1`,
    ),
    saveState: query<[state: string]>(`UPDATE ${conversations} SET state = $2, revision = revision + 1 WHERE id = $1`),
    setExcluded: query<[id: string, excluded: boolean]>(
      `UPDATE ${messages} SET excluded = $3 WHERE conversation = $1 AND id = $2`,
    ),
    /** Empties the row of a conversation. */
    clear: query<[]>(`UPDATE ${conversations}
      SET edits = edits + 1, count = 0, state = NULL, revision = revision + 1, updated_at = ${now} WHERE id = $1`),
  };
}

/** A check of the options of a store, which returns its prefix. */
/* @__NO_SIDE_EFFECTS__ */
export function prefixCheck(pattern: RegExp, example: string): (options: SqlStoreOptions) => string {
  const fits = (value: unknown): boolean => typeof value === 'string' && value.length <= 40 && pattern.test(value);
  const message = `must be at most 40 letters, digits and underscores, and begin with no digit, ${example}`;
  const check = optionsCheck({ tablePrefix: option<string>(fits, message) });
  return (options) => {
    check(options);
    return options.tablePrefix ?? 'chat_';
  };
}

export function missingTables(cause: unknown): ConfigurationError {
  return new ConfigurationError('The tables of the store are missing: await store.migrate() when the server starts.', {
    cause,
  });
}
