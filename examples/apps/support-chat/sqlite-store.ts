/** Conversations in SQLite, through the API of better-sqlite3 (here: libsql, which has it too). */
import { ConversationConflictError, type ConversationStore, wordsOf } from 'context-gateway/conversation';
import type Database from 'libsql';

const TABLES = `
  CREATE TABLE IF NOT EXISTS conversations (
    id TEXT PRIMARY KEY, edits INTEGER DEFAULT 0, count INTEGER DEFAULT 0, state TEXT, revision INTEGER DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS messages (
    key INTEGER PRIMARY KEY, conversation TEXT, position INTEGER, id TEXT, message TEXT, excluded INTEGER,
    UNIQUE (conversation, id), UNIQUE (conversation, position)
  );
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (talk, list, tokenize = 'ascii'); -- of the message with the key rowid
  CREATE TRIGGER IF NOT EXISTS forget AFTER DELETE ON messages BEGIN DELETE FROM words WHERE rowid = old.key; END;
`;

/** The messages that a turn wants. Of those with its words, the best 500. */
const PART = `
  WITH wanted AS (
    SELECT key FROM messages WHERE conversation = :conversation AND position >= :first
    UNION SELECT key FROM messages WHERE conversation = :conversation AND id IN (SELECT value FROM json_each(:ids))
    UNION SELECT key FROM messages WHERE conversation = :conversation AND position IN (SELECT value FROM json_each(:positions))
    UNION SELECT * FROM (SELECT rowid FROM words WHERE words MATCH :match ORDER BY bm25(words, 0) LIMIT 500)
  )
  SELECT * FROM messages JOIN wanted USING (key) WHERE conversation = :conversation ORDER BY position
`;

type Row = { position: number; id: string; message: string; excluded: number };
type ConversationRow = { edits: number; count: number; state: string | null; revision: number };

export function sqliteStore(db: Database.Database): Required<ConversationStore> {
  db.exec(TABLES);
  const create = db.prepare('INSERT INTO conversations (id) VALUES (?) ON CONFLICT DO NOTHING');
  const find = db.prepare('SELECT * FROM conversations WHERE id = ?');
  const update = db.prepare('UPDATE conversations SET edits = edits + ?, count = ? WHERE id = ?');
  const saveState = db.prepare(
    'UPDATE conversations SET state = ?, revision = revision + 1 WHERE id = ? AND revision = ?',
  );
  const all = db.prepare('SELECT * FROM messages WHERE conversation = ? ORDER BY position');
  const part = db.prepare(PART);
  const at = db.prepare('SELECT id FROM messages WHERE conversation = ? AND position = ?');
  const placeOf = db.prepare('SELECT position FROM messages WHERE conversation = ? AND id = ?');
  const remove = db.prepare('DELETE FROM messages WHERE conversation = ? AND position >= ? RETURNING id, excluded');
  const insert = db.prepare(
    'INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?) ON CONFLICT (conversation, id) DO NOTHING',
  );
  const insertWords = db.prepare('INSERT INTO words (rowid, talk, list) VALUES (?, ?, ?)');
  const setExcluded = db.prepare('UPDATE messages SET excluded = ? WHERE conversation = ? AND id = ?');
  /** A conversation as one word, whatever its id. */
  const wordOf = (conversation: string): string => Buffer.from(conversation).toString('hex');

  const load: ConversationStore['load'] = (conversation, wanted) => {
    const found = find.get(conversation) as ConversationRow | undefined;
    if (found === undefined) return null;
    const { count, edits, revision } = found;
    let rows = wanted ? [] : all.all(conversation);
    if (wanted !== undefined) {
      const [ids, positions] = [wanted.ids, wanted.positions].map((list) => JSON.stringify(list));
      const words = wanted.words.map((word) => `"${word}"`).join(' OR ');
      const match = words === '' ? '""' : `talk: "${wordOf(conversation)}" AND list: (${words})`;
      rows = part.all({ conversation, first: count - wanted.newest, ids, positions, match });
    }
    const messages = (rows as Row[]).map(({ message, position, excluded }) =>
      Object.assign(JSON.parse(message), { position, excluded: excluded === 1 }),
    );
    return { messages, count, edits, state: JSON.parse(found.state ?? 'null'), revision };
  };
  const append: Required<ConversationStore>['append'] = (conversation, messages, { edits, newest, after }) => {
    create.run(conversation);
    const stored = find.get(conversation) as ConversationRow;
    const last = at.get(conversation, stored.count - 1) as Row | undefined;
    const place = placeOf.get(conversation, after ?? null) as Row | undefined;
    if (edits !== stored.edits) throw new ConversationConflictError();
    if (newest !== undefined && newest !== (last?.id ?? null)) throw new ConversationConflictError();
    if (after != null && place === undefined) throw new ConversationConflictError();
    const start = after === undefined ? stored.count : (place?.position ?? -1) + 1;
    const removed = remove.all(conversation, start) as Row[];
    const excluded = new Set(removed.filter((row) => row.excluded).map(({ id }) => id));
    let count = start;
    for (const message of messages) {
      const isExcluded = message.excluded || excluded.has(message.id);
      const body = JSON.stringify(message);
      const { changes, lastInsertRowid } = insert.run(conversation, count, message.id, body, Number(isExcluded));
      if (changes === 0) continue; // it is stored already
      insertWords.run(lastInsertRowid, wordOf(conversation), wordsOf(message).join(' '));
      count += 1;
    }
    update.run(Number(after !== undefined), count, conversation);
    return count - start;
  };
  const [read, write] = [db.transaction(load), db.transaction(append)];
  return {
    load: (...given) => read(...given), // at one point in time
    append: (...given) => write.immediate(...given), // locks before it reads
    setExcluded: (conversation, id, excluded) => void setExcluded.run(excluded, conversation, id),
    saveState: (conversation, state, revision) => {
      create.run(conversation);
      const { changes } = saveState.run(JSON.stringify(state), conversation, revision);
      if (changes === 0) throw new ConversationConflictError();
    },
  };
}
