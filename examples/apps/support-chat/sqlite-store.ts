/** Conversations in SQLite, through the API of better-sqlite3 (here: libsql, which has it too). */
import { ConversationConflictError, type ConversationStore } from 'context-gateway/conversation';
import type Database from 'libsql';

export function sqliteStore(db: Database.Database): Required<ConversationStore> {
  db.exec(`
    CREATE TABLE IF NOT EXISTS messages (conversation TEXT, position INTEGER, message TEXT, PRIMARY KEY (conversation, position));
    CREATE TABLE IF NOT EXISTS states (conversation TEXT PRIMARY KEY, state TEXT);
  `);
  const messages = db.prepare('SELECT message FROM messages WHERE conversation = ? ORDER BY position');
  const state = db.prepare('SELECT state FROM states WHERE conversation = ?');
  const insert = db.prepare('INSERT INTO messages VALUES (?, ?, ?)');
  const remove = db.prepare(`DELETE FROM messages WHERE conversation = :id AND position >=
    (SELECT position FROM messages WHERE conversation = :id AND message ->> 'id' = :message)`);
  const save = db.prepare('INSERT OR REPLACE INTO states VALUES (?, ?)');
  const parse = (row: unknown, column: string) => JSON.parse((row as Record<string, string>)[column] ?? 'null');
  return {
    load: (id) => ({
      messages: messages.all(id).map((row) => parse(row, 'message')),
      state: parse(state.get(id) ?? {}, 'state'),
    }),
    append: db.transaction((id: string, turn: readonly object[], position: number) => {
      try {
        for (const [at, message] of turn.entries()) insert.run(id, position + at, JSON.stringify(message));
      } catch (error) {
        // Another process has stored a message at this position.
        if (String((error as { code?: string }).code).startsWith('SQLITE_CONSTRAINT'))
          throw new ConversationConflictError();
        throw error;
      }
    }) as Required<ConversationStore>['append'],
    truncate: (id, message) => void remove.run({ id, message }),
    saveState: (id, value) => void save.run(id, JSON.stringify(value)),
  };
}
