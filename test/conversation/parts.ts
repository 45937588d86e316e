import { type ConversationStore, type StoredRow, type WantedMessages, wordsOf } from 'context-gateway/conversation';

/** What a store returns that takes `wanted` at its word: nothing else. */
export function partOf<Row extends StoredRow>(rows: readonly Row[], wanted: WantedMessages | undefined) {
  if (wanted === undefined) return { messages: rows };
  const { newest, words, ids, positions } = wanted;
  const isWanted = (row: Row, position: number): boolean =>
    position >= rows.length - newest ||
    positions.includes(position) ||
    ids.includes(String(row.id)) ||
    wordsOf(row as never).some((word) => words.includes(word));
  const messages = rows.map((row, position) => ({ ...row, position })).filter((row) => isWanted(row, row.position));
  return { messages, count: rows.length };
}

/** A store that returns parts of what another has. `read` counts the rows of each load. */
export function partsOf(store: Required<ConversationStore>) {
  const read: number[] = [];
  const load: ConversationStore['load'] = async (id, wanted) => {
    const loaded = await store.load(id);
    const part = partOf(loaded?.messages ?? [], wanted);
    read.push(part.messages.length);
    return { ...loaded, ...part };
  };
  return { read, store: { ...store, load } };
}
