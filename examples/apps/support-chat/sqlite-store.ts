/** Conversations in SQLite, through the API of better-sqlite3 (here: libsql, which has it too). */
import { ConversationConflictError, type ConversationStore, wordsOf } from 'context-gateway/conversation';
import type Database from 'libsql';

type Row = { position: number; id: string; message: string };

const TABLES = `
  CREATE TABLE IF NOT EXISTS messages (
    key INTEGER PRIMARY KEY, conversation TEXT, position INTEGER, id TEXT, message TEXT, UNIQUE (conversation, position)
  );
  CREATE INDEX IF NOT EXISTS ids ON messages (conversation, id);
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (talk, list, tokenize = 'ascii'); -- of the message with the key rowid
  CREATE TRIGGER IF NOT EXISTS forget AFTER DELETE ON messages BEGIN DELETE FROM words WHERE rowid = old.key; END;
  CREATE TABLE IF NOT EXISTS states (conversation TEXT PRIMARY KEY, state TEXT);
`;

/** The messages that a turn wants. Of those with its words, the best 500. */
const PART = `
  WITH wanted AS (
    SELECT key FROM messages WHERE conversation = :conversation AND position >= :first
    UNION SELECT key FROM messages WHERE conversation = :conversation AND id IN (SELECT value FROM json_each(:ids))
    UNION SELECT key FROM messages WHERE conversation = :conversation AND position IN (SELECT value FROM json_each(:positions))
    UNION SELECT * FROM (SELECT rowid FROM words WHERE words MATCH :match ORDER BY bm25(words, 0) LIMIT 500)
  )
  SELECT position, message FROM messages JOIN wanted USING (key)
  WHERE conversation = :conversation AND position < :count ORDER BY position
`;

export function sqliteStore(db: Database.Database): Required<ConversationStore> {
  db.exec(TABLES);
  const all = db.prepare('SELECT message FROM messages WHERE conversation = ? ORDER BY position');
  const part = db.prepare(PART);
  const newestOf = db.prepare(
    'SELECT id, position FROM messages WHERE conversation = ? ORDER BY position DESC LIMIT 1',
  );
  const find = db.prepare(
    'SELECT position FROM messages WHERE conversation = ? AND id = ? ORDER BY position DESC LIMIT 1',
  );
  const remove = db.prepare('DELETE FROM messages WHERE conversation = ? AND position >= ?');
  const insert = db.prepare('INSERT INTO messages (conversation, position, id, message) VALUES (?, ?, ?, ?)');
  const insertWords = db.prepare('INSERT INTO words (rowid, talk, list) VALUES (?, ?, ?)');
  const stateOf = db.prepare('SELECT state FROM states WHERE conversation = ?');
  const save = db.prepare('INSERT OR REPLACE INTO states VALUES (?, ?)');
  /** A conversation as one word, whatever its id. */
  const wordOf = (conversation: string): string => Buffer.from(conversation).toString('hex');
  const parsed = ({ message, position }: Row) => Object.assign(JSON.parse(message), { position });

  const append: Required<ConversationStore>['append'] = (conversation, turn, { after, newest }) => {
    const last = newestOf.get(conversation) as Row | undefined;
    const before = after === undefined ? { position: -1 } : (find.get(conversation, after) as Row | undefined);
    if (last?.id !== newest || before === undefined) throw new ConversationConflictError();
    const start = before.position + 1;
    remove.run(conversation, start);
    for (const [at, message] of turn.entries()) {
      const { lastInsertRowid } = insert.run(conversation, start + at, message.id, JSON.stringify(message));
      insertWords.run(lastInsertRowid, wordOf(conversation), wordsOf(message).join(' '));
    }
  };
  const transaction = db.transaction(append);
  return {
    load: (conversation, wanted) => {
      const state = JSON.parse((stateOf.get(conversation) as { state: string } | undefined)?.state ?? 'null');
      if (wanted === undefined) return { messages: (all.all(conversation) as Row[]).map(parsed), state };
      const count = 1 + ((newestOf.get(conversation) as Row | undefined)?.position ?? -1);
      const [ids, positions] = [wanted.ids, wanted.positions].map((list) => JSON.stringify(list));
      const words = wanted.words.map((word) => `"${word}"`).join(' OR ');
      const match = words === '' ? '""' : `talk: "${wordOf(conversation)}" AND list: (${words})`;
      const rows = part.all({ conversation, count, first: count - wanted.newest, ids, positions, match });
      return { messages: (rows as Row[]).map(parsed), state, count };
    },
    append: (...turn) => transaction.immediate(...turn), // locks before it reads
    saveState: (conversation, state) => void save.run(conversation, JSON.stringify(state)),
  };
}
