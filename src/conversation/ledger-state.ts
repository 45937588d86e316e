import type { SummaryEntry } from './entries.js';

/** A statement that some version of the summary held. */
export interface LedgerEntry extends SummaryEntry {
  /** The first version of the summary it stood in. */
  since: number;
  /** The last one. It is lost when that is not the newest. */
  until: number;
}

/** All that is remembered of the summaries of one conversation. Plain JSON. */
export interface LedgerState {
  format: 1;
  /** The newest version that was read. */
  version: number;
  /** When it was compacted last, as of then. */
  compactedAt?: string | null | undefined;
  entries: LedgerEntry[];
}

/** Where ledgers are kept. By default in memory, for as long as the conversation object lives. */
export interface LedgerStore {
  load(conversationId: string): LedgerState | undefined | Promise<LedgerState | undefined>;
  save(conversationId: string, state: LedgerState): void | Promise<void>;
}
