/** Conversations in SQLite, through the API of better-sqlite3 (here: libsql, which has it too). */
import { ConversationConflictError, type ConversationStore, wordsOf } from 'context-gateway/conversation';
import type Database from 'libsql';

type Row = { position: number; id: string; message: string };

const TABLES = `
  CREATE TABLE IF NOT EXISTS messages (
    key INTEGER PRIMARY KEY, conversation TEXT, position INTEGER, id TEXT, message TEXT, UNIQUE (conversation, position)
  );
  CREATE INDEX IF NOT EXISTS ids ON messages (conversation, id);
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (list, tokenize = 'ascii'); -- of the message with the key rowid
  CREATE VIRTUAL TABLE IF NOT EXISTS counts USING fts5vocab (words, row); -- how many messages have each word
  CREATE TABLE IF NOT EXISTS states (conversation TEXT PRIMARY KEY, state TEXT);
`;

/** The rarest of the words of an input, so that a search looks at few messages, however many there are. */
const RAREST = `
  SELECT term FROM (SELECT term, doc, sum(doc) OVER (ORDER BY doc) AS total FROM counts WHERE term IN (SELECT value FROM json_each(?)))
  WHERE total <= 3000 OR total = doc
`;

/** The messages that a turn wants. Of those with its words, the best 500. */
const PART = `
  WITH wanted AS (
    SELECT key FROM messages WHERE conversation = :conversation AND position >= :first
    UNION SELECT key FROM messages WHERE conversation = :conversation AND id IN (SELECT value FROM json_each(:ids))
    UNION SELECT key FROM messages WHERE conversation = :conversation AND position IN (SELECT value FROM json_each(:positions))
    UNION SELECT * FROM (SELECT rowid FROM words WHERE words MATCH :match ORDER BY rank LIMIT 500)
  )
  SELECT position, message FROM messages JOIN wanted USING (key) ORDER BY position
`;

export function sqliteStore(db: Database.Database): Required<ConversationStore> {
  db.exec(TABLES);
  const all = db.prepare('SELECT message FROM messages WHERE conversation = ? ORDER BY position');
  const rarest = db.prepare(RAREST);
  const part = db.prepare(PART);
  const newestOf = db.prepare(
    'SELECT id, position FROM messages WHERE conversation = ? ORDER BY position DESC LIMIT 1',
  );
  const find = db.prepare(
    'SELECT position FROM messages WHERE conversation = ? AND id = ? ORDER BY position DESC LIMIT 1',
  );
  const keys = 'SELECT key FROM messages WHERE conversation = ? AND position >= ?';
  const removeWords = db.prepare(`DELETE FROM words WHERE rowid IN (${keys})`);
  const remove = db.prepare(`DELETE FROM messages WHERE key IN (${keys})`);
  const insert = db.prepare('INSERT INTO messages (conversation, position, id, message) VALUES (?, ?, ?, ?)');
  const insertWords = db.prepare('INSERT INTO words (rowid, list) VALUES (?, ?)');
  const stateOf = db.prepare('SELECT state FROM states WHERE conversation = ?');
  const save = db.prepare('INSERT OR REPLACE INTO states VALUES (?, ?)');
  /** One more word of each message, so that only those of its conversation are found. */
  const wordOf = (conversation: string): string => `talk${Buffer.from(conversation).toString('hex')}`;
  const parsed = ({ message, position }: Row) => Object.assign(JSON.parse(message), { position });

  const append: Required<ConversationStore>['append'] = (conversation, turn, { after, newest }) => {
    const last = newestOf.get(conversation) as Row | undefined;
    const before = after === undefined ? { position: -1 } : (find.get(conversation, after) as Row | undefined);
    if (last?.id !== newest || before === undefined) throw new ConversationConflictError();
    const start = before.position + 1;
    removeWords.run(conversation, start);
    remove.run(conversation, start);
    for (const [at, message] of turn.entries()) {
      const { lastInsertRowid } = insert.run(conversation, start + at, message.id, JSON.stringify(message));
      insertWords.run(lastInsertRowid, [wordOf(conversation), ...wordsOf(message)].join(' '));
    }
  };
  const transaction = db.transaction(append);
  return {
    load: (conversation, wanted) => {
      const state = JSON.parse((stateOf.get(conversation) as { state: string } | undefined)?.state ?? 'null');
      if (wanted === undefined) return { messages: (all.all(conversation) as Row[]).map(parsed), state };
      const count = 1 + ((newestOf.get(conversation) as Row | undefined)?.position ?? -1);
      const [ids, positions] = [wanted.ids, wanted.positions].map((list) => JSON.stringify(list));
      const terms = wanted.words.length === 0 ? [] : (rarest.all(JSON.stringify(wanted.words)) as { term: string }[]);
      const words = terms.map(({ term }) => `"${term}"`).join(' OR ');
      const match = words && `"${wordOf(conversation)}" AND (${words})`;
      const rows = part.all({ conversation, first: count - wanted.newest, ids, positions, match: match || '""' });
      return { messages: (rows as Row[]).map(parsed), state, count };
    },
    append: (...turn) => transaction.immediate(...turn), // locks before it reads
    saveState: (conversation, state) => void save.run(conversation, JSON.stringify(state)),
  };
}
