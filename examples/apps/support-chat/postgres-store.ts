/** Conversations in PostgreSQL. */
import {
  ConversationConflictError,
  type ConversationStore,
  type StoredMessage,
  wordsOf,
} from 'context-gateway/conversation';

export interface Queries {
  query(sql: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** PGlite. With `pg`, `transaction` takes a client of the pool, and sends BEGIN, then COMMIT or ROLLBACK. */
export interface Database extends Queries {
  transaction<T>(work: (db: Queries) => Promise<T>): Promise<T>;
}

/** Run it once, as a migration. */
export const TABLES = `
  CREATE TABLE IF NOT EXISTS messages (
    conversation text, position integer, id text, message jsonb, words text[], PRIMARY KEY (conversation, position)
  );
  CREATE INDEX IF NOT EXISTS messages_by_id ON messages (conversation, id);
  CREATE INDEX IF NOT EXISTS messages_by_word ON messages USING gin (words);
  CREATE TABLE IF NOT EXISTS states (conversation text PRIMARY KEY, state jsonb);
`;

const ALL = 'SELECT message FROM messages WHERE conversation = $1 ORDER BY position';
/** The messages that a turn wants. Of those with its words, the 500 that have the most and the rarest. */
const PART = `
  WITH hits AS (
    SELECT position, 1.0 / count(*) OVER (PARTITION BY word) AS weight FROM messages, unnest(words) AS word
    WHERE conversation = $1 AND words && $3::text[] AND word = ANY($3::text[])
  ), wanted AS (
    (SELECT position FROM hits GROUP BY position ORDER BY sum(weight) DESC, position DESC LIMIT 500)
    UNION SELECT position FROM messages WHERE conversation = $1 AND (position >= $2 OR id = ANY($4::text[]))
    UNION SELECT unnest($5::integer[])
  )
  SELECT position, message FROM messages JOIN wanted USING (position)
  WHERE conversation = $1 AND position < $6 ORDER BY position
`;

type Row = { position: number; message: StoredMessage };

export function postgresStore(db: Database): Required<ConversationStore> {
  const first = async <T>(sql: string, values: unknown[], queries: Queries = db) =>
    (await queries.query(sql, values)).rows[0] as T | undefined;
  const newestOf = (conversation: string, queries?: Queries) =>
    first<{ id: string; position: number }>(
      'SELECT id, position FROM messages WHERE conversation = $1 ORDER BY position DESC LIMIT 1',
      [conversation],
      queries,
    );
  return {
    load: async (conversation, wanted) => {
      const found = await first<{ state: never }>('SELECT state FROM states WHERE conversation = $1', [conversation]);
      const state = found?.state;
      if (wanted === undefined) {
        const { rows } = await db.query(ALL, [conversation]);
        return { messages: (rows as Row[]).map(({ message }) => message), state };
      }
      const count = 1 + ((await newestOf(conversation))?.position ?? -1);
      const { newest, words, ids, positions } = wanted;
      const { rows } = await db.query(PART, [conversation, count - newest, words, ids, positions, count]);
      return { messages: (rows as Row[]).map(({ position, message }) => ({ ...message, position })), state, count };
    },
    append: (conversation, turn, { after, newest }) =>
      db.transaction(async (queries) => {
        await queries.query('SELECT pg_advisory_xact_lock(hashtext($1))', [conversation]); // one turn of it at a time
        const last = await newestOf(conversation, queries);
        const sql = 'SELECT position FROM messages WHERE conversation = $1 AND id = $2 ORDER BY position DESC LIMIT 1';
        const before = after === undefined ? { position: -1 } : await first<Row>(sql, [conversation, after], queries);
        if (last?.id !== newest || before === undefined) throw new ConversationConflictError();
        const { position } = before;
        await queries.query('DELETE FROM messages WHERE conversation = $1 AND position > $2', [conversation, position]);
        for (const [at, message] of turn.entries())
          await queries.query('INSERT INTO messages VALUES ($1, $2, $3, $4, $5)', [
            ...[conversation, position + 1 + at, message.id],
            ...[JSON.stringify(message), wordsOf(message)],
          ]);
      }),
    saveState: async (conversation, state) => {
      const sql = 'INSERT INTO states VALUES ($1, $2) ON CONFLICT (conversation) DO UPDATE SET state = excluded.state';
      await db.query(sql, [conversation, JSON.stringify(state)]);
    },
  };
}
