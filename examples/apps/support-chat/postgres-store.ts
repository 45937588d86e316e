/** Conversations in PostgreSQL. */
import { ConversationConflictError, type ConversationStore } from 'context-gateway/conversation';

/** A `Pool` of `pg`, or PGlite. */
export interface Queries {
  query(sql: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** Run it once, as a migration. */
export const TABLES = `
  CREATE TABLE IF NOT EXISTS messages (conversation text, position integer, message jsonb, PRIMARY KEY (conversation, position));
  CREATE TABLE IF NOT EXISTS states (conversation text PRIMARY KEY, state jsonb);
`;

export function postgresStore(db: Queries): Required<ConversationStore> {
  return {
    load: async (id) => {
      const messages = await db.query('SELECT message FROM messages WHERE conversation = $1 ORDER BY position', [id]);
      const states = await db.query('SELECT state FROM states WHERE conversation = $1', [id]);
      const column = (row: unknown, name: string) => (row as Record<string, never> | undefined)?.[name];
      return {
        messages: messages.rows.map((row) => column(row, 'message') as never), // as `append` stored them
        state: column(states.rows[0], 'state'),
      };
    },
    append: async (id, turn, position) => {
      const sql = `INSERT INTO messages SELECT $1, $2::integer + ordinality - 1, value
        FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY`;
      await db.query(sql, [id, position, JSON.stringify(turn)]).catch((error: { code?: string }) => {
        // Unique violation: another process has stored a message at this position.
        throw error.code === '23505' ? new ConversationConflictError() : error;
      });
    },
    truncate: async (id, message) => {
      const sql = `DELETE FROM messages WHERE conversation = $1 AND position >=
        (SELECT position FROM messages WHERE conversation = $1 AND message ->> 'id' = $2)`;
      await db.query(sql, [id, message]);
    },
    saveState: async (id, state) => {
      const sql = 'INSERT INTO states VALUES ($1, $2) ON CONFLICT (conversation) DO UPDATE SET state = excluded.state';
      await db.query(sql, [id, JSON.stringify(state)]);
    },
  };
}
