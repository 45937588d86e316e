/** Conversations in PostgreSQL. */
import {
  ConversationConflictError,
  type ConversationStore,
  type StoredConversation,
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

/** Run it once, as a migration. The columns of JSON are not `jsonb`, which changes some texts, and refuses others. */
export const TABLES = `
  CREATE TABLE IF NOT EXISTS conversations (
    id text PRIMARY KEY, edits integer DEFAULT 0, count integer DEFAULT 0, state json, revision integer DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS messages (
    conversation text, position integer, id text, message json, excluded boolean, words text[],
    PRIMARY KEY (conversation, position), UNIQUE (conversation, id)
  );
  CREATE INDEX IF NOT EXISTS messages_by_word ON messages USING gin (words);
`;

/** Locks the row of a conversation: others wait here, and then see what was stored meanwhile. */
const LOCK = `
  INSERT INTO conversations (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET count = conversations.count
  RETURNING edits, count
`;
/** One query, so that all of it is of one point in time. */
const load = (messages: string): string => `
  SELECT edits, count, state, revision, (
    SELECT coalesce(json_agg(json_build_object('at', position, 'excluded', excluded, 'message', message) ORDER BY position), '[]')
    FROM ${messages} WHERE conversation = $1
  ) AS rows FROM conversations WHERE id = $1
`;
const ALL = load('messages');
/** The messages that a turn wants. Of those with its words, the 500 that have the most and the rarest. */
const PART = `
  WITH hits AS (
    SELECT position, 1.0 / count(*) OVER (PARTITION BY word) AS weight FROM messages, unnest(words) AS word
    WHERE conversation = $1 AND words && $3::text[] AND word = ANY($3::text[])
  ), wanted AS (
    (SELECT position FROM hits GROUP BY position ORDER BY sum(weight) DESC, position DESC LIMIT 500)
    UNION SELECT position FROM messages WHERE conversation = $1 AND id = ANY($4::text[])
    UNION SELECT position FROM messages
      WHERE conversation = $1 AND position >= (SELECT count FROM conversations WHERE id = $1) - $2::integer
    UNION SELECT unnest($5::integer[])
  ) ${load('messages JOIN wanted USING (position)')}
`;

type Loaded = Omit<StoredConversation, 'messages'> & {
  rows: { at: number; excluded: boolean; message: StoredMessage }[];
};

export function postgresStore(db: Database): Required<ConversationStore> {
  const rowsOf = async <T>(queries: Queries, sql: string, ...values: unknown[]) =>
    (await queries.query(sql, values)).rows as T[];
  return {
    load: async (conversation, wanted) => {
      const [found] =
        wanted === undefined
          ? await rowsOf<Loaded>(db, ALL, conversation)
          : await rowsOf<Loaded>(db, PART, conversation, wanted.newest, wanted.words, wanted.ids, wanted.positions);
      if (found === undefined) return null;
      const { rows, ...facts } = found;
      return { ...facts, messages: rows.map(({ at, excluded, message }) => ({ ...message, position: at, excluded })) };
    },
    append: (conversation, messages, { edits, newest, after }) =>
      db.transaction(async (queries) => {
        const query = <T>(sql: string, ...values: unknown[]) => rowsOf<T>(queries, sql, conversation, ...values);
        const [stored = { edits: 0, count: 0 }] = await query<{ edits: number; count: number }>(LOCK);
        const find = 'SELECT id, position FROM messages WHERE conversation = $1';
        const [last] = await query<{ id: string }>(`${find} AND position = $2`, stored.count - 1);
        const [place] = await query<{ position: number }>(`${find} AND id = $2`, after ?? null);
        if (edits !== stored.edits) throw new ConversationConflictError();
        if (newest !== undefined && newest !== (last?.id ?? null)) throw new ConversationConflictError();
        if (after != null && place === undefined) throw new ConversationConflictError();
        const start = after === undefined ? stored.count : (place?.position ?? -1) + 1;
        const remove = 'DELETE FROM messages WHERE conversation = $1 AND position >= $2 RETURNING id, excluded';
        const removed = await query<{ id: string; excluded: boolean }>(remove, start);
        const excluded = new Set(removed.filter((row) => row.excluded).map(({ id }) => id));
        const insert =
          'INSERT INTO messages VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (conversation, id) DO NOTHING RETURNING id';
        let count = start;
        for (const message of messages) {
          const isExcluded = message.excluded || excluded.has(message.id);
          const facts = [message.id, JSON.stringify(message), isExcluded, wordsOf(message)];
          count += (await query(insert, count, ...facts)).length; // none if it is stored already
        }
        const update = 'UPDATE conversations SET edits = edits + $2::integer, count = $3 WHERE id = $1';
        await query(update, Number(after !== undefined), count);
        return count - start;
      }),
    setExcluded: async (conversation, id, excluded) => {
      const sql = 'UPDATE messages SET excluded = $3 WHERE conversation = $1 AND id = $2';
      await db.query(sql, [conversation, id, excluded === 1]);
    },
    saveState: async (conversation, state, revision) => {
      await db.query('INSERT INTO conversations (id) VALUES ($1) ON CONFLICT DO NOTHING', [conversation]);
      const sql =
        'UPDATE conversations SET state = $2, revision = revision + 1 WHERE id = $1 AND revision = $3 RETURNING id';
      const saved = await rowsOf(db, sql, conversation, JSON.stringify(state), revision);
      if (saved.length === 0) throw new ConversationConflictError();
    },
  };
}
