/** Conversations in SQLite, through the API of better-sqlite3 (here: libsql, which has it too). */
import { ConversationConflictError, type ConversationStore } from 'context-gateway/conversation';
import type Database from 'libsql';

type Row = { position: number; id: string; message: string };

export function sqliteStore(db: Database.Database): Required<ConversationStore> {
  db.exec(`
    CREATE TABLE IF NOT EXISTS messages (
      conversation TEXT, position INTEGER, id TEXT, message TEXT, PRIMARY KEY (conversation, position)
    );
    CREATE TABLE IF NOT EXISTS states (conversation TEXT PRIMARY KEY, state TEXT);
  `);
  const messages = db.prepare('SELECT * FROM messages WHERE conversation = ? ORDER BY position');
  const newestOf = db.prepare('SELECT * FROM messages WHERE conversation = ? ORDER BY position DESC LIMIT 1');
  const find = db.prepare('SELECT * FROM messages WHERE conversation = ? AND id = ? ORDER BY position DESC');
  const removeFrom = db.prepare('DELETE FROM messages WHERE conversation = ? AND position >= ?');
  const insert = db.prepare('INSERT INTO messages VALUES (?, ?, ?, ?)');
  const stateOf = db.prepare('SELECT state FROM states WHERE conversation = ?');
  const save = db.prepare('INSERT OR REPLACE INTO states VALUES (?, ?)');

  const append: Required<ConversationStore>['append'] = (conversation, turn, { after, newest }) => {
    const last = newestOf.get(conversation) as Row | undefined;
    const before = after === undefined ? { position: -1 } : (find.get(conversation, after) as Row | undefined);
    if (last?.id !== newest || before === undefined) throw new ConversationConflictError();
    const start = before.position + 1;
    removeFrom.run(conversation, start);
    for (const [at, message] of turn.entries())
      insert.run(conversation, start + at, message.id, JSON.stringify(message));
  };
  const transaction = db.transaction(append);
  return {
    load: (conversation) => ({
      messages: (messages.all(conversation) as Row[]).map(({ message }) => JSON.parse(message)),
      state: JSON.parse((stateOf.get(conversation) as { state: string } | undefined)?.state ?? 'null'),
    }),
    append: (...turn) => transaction.immediate(...turn), // locks before it reads
    saveState: (conversation, state) => void save.run(conversation, JSON.stringify(state)),
  };
}
