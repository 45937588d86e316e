import type { SummaryEntry } from './entries.js';

/** A statement that some version of the summary contained. */
export interface LedgerEntry extends SummaryEntry {
  /** The first version of the summary that contained it. */
  since: number;
  /** The last version that contained it. The statement is lost if this is not the newest version. */
  until: number;
  /**
   * The text of the later decision that revokes it. A revoked statement is not sent again. Computed on read, not
   * stored.
   */
  overruledBy?: string | undefined;
}

/** The record of all summaries of one conversation. Plain JSON. */
export interface LedgerState {
  format: 1;
  /** The newest version that was read. */
  version: number;
  /** The time of the last compaction, as of that version. */
  compactedAt?: string | null | undefined;
  entries: LedgerEntry[];
}

/**
 * Storage for ledgers. Without it, a ledger stays in memory for as long as the conversation object lives. If one of its
 * functions throws, `onError` is called and the turn continues.
 */
export interface LedgerStore {
  /**
   * Return the state that `save` got last, or `null` or `undefined` for a new conversation. With anything else, turns
   * fail with a `ConfigurationError`. Called before every change, because other processes may have saved.
   */
  load(conversationId: string): LedgerState | null | undefined | Promise<LedgerState | null | undefined>;
  save(conversationId: string, state: LedgerState): void | Promise<void>;
}
