/** Conversations in PostgreSQL. */
import { ConversationConflictError, type ConversationStore } from 'context-gateway/conversation';

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
    conversation text, position integer, id text, message jsonb, PRIMARY KEY (conversation, position)
  );
  CREATE TABLE IF NOT EXISTS states (conversation text PRIMARY KEY, state jsonb);
`;

export function postgresStore(db: Database): Required<ConversationStore> {
  return {
    load: async (conversation) => {
      const messages = await db.query('SELECT message FROM messages WHERE conversation = $1 ORDER BY position', [
        conversation,
      ]);
      const states = await db.query('SELECT state FROM states WHERE conversation = $1', [conversation]);
      const column = (row: unknown, name: string) => (row as Record<string, never> | undefined)?.[name];
      return {
        messages: messages.rows.map((row) => column(row, 'message') as never), // as `append` stored them
        state: column(states.rows[0], 'state'),
      };
    },
    append: (conversation, turn, { after, newest }) =>
      db.transaction(async ({ query }) => {
        await query('SELECT pg_advisory_xact_lock(hashtext($1))', [conversation]); // one turn of it at a time
        const sql = 'SELECT id, position FROM messages WHERE conversation = $1 ORDER BY position DESC';
        const rows = (await query(sql, [conversation])).rows as { id: string; position: number }[];
        const before = after === undefined ? { position: -1 } : rows.find(({ id }) => id === after);
        if (rows[0]?.id !== newest || before === undefined) throw new ConversationConflictError();
        const { position } = before;
        await query('DELETE FROM messages WHERE conversation = $1 AND position > $2', [conversation, position]);
        await query(
          `INSERT INTO messages SELECT $1, $2 + ordinality, value ->> 'id', value
            FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY`,
          [conversation, position, JSON.stringify(turn)],
        );
      }),
    saveState: async (conversation, state) => {
      const sql = 'INSERT INTO states VALUES ($1, $2) ON CONFLICT (conversation) DO UPDATE SET state = excluded.state';
      await db.query(sql, [conversation, JSON.stringify(state)]);
    },
  };
}
