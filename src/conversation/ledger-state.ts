import type { SummaryEntry } from './entries.js';

/** A statement that some version of the summary held. */
export interface LedgerEntry extends SummaryEntry {
  /** The first version of the summary it stood in. */
  since: number;
  /** The last one. It is lost when that is not the newest. */
  until: number;
  /** The later decision that takes it back: it is not sent again. Found when asked for, not stored. */
  overruledBy?: string | undefined;
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
  /** Nothing for a conversation that is new. Called before every change: other processes may have saved. */
  load(conversationId: string): LedgerState | null | undefined | Promise<LedgerState | null | undefined>;
  save(conversationId: string, state: LedgerState): void | Promise<void>;
}
