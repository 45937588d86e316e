import type { CompactionReceipt, SummaryVersion } from './conversation-records.js';
import type { Collection, Storage } from './storage.js';

/** The last 100 versions of each summary, and the receipts of the last 100 compactions. */
export class SummaryHistory {
  constructor(private readonly storage: Storage) {}

  versions(id: string): SummaryVersion[] {
    return [...this.#versions(id).values()];
  }

  lastVersion(id: string): SummaryVersion | undefined {
    let last: SummaryVersion | undefined;
    for (const version of this.#versions(id).values()) last = version;
    return last;
  }

  keepVersion(id: string, version: SummaryVersion): void {
    const versions = this.#versions(id);
    versions.set(String(version.summary.version), version);
    versions.delete(String(version.summary.version - MOST_VERSIONS));
  }

  receipts(id: string): CompactionReceipt[] {
    return [...this.#receipts(id).values()];
  }

  /** Numbers a receipt and keeps it. */
  keepReceipt(id: string, receipt: Omit<CompactionReceipt, 'number'>): void {
    const receipts = this.#receipts(id);
    let number = 1;
    for (const last of receipts.values()) number = last.number + 1;
    receipts.set(String(number), { number, ...receipt });
    receipts.delete(String(number - MOST_VERSIONS));
  }

  delete(id: string): void {
    for (const { summary } of this.versions(id)) this.#versions(id).delete(String(summary.version));
    for (const { number } of this.receipts(id)) this.#receipts(id).delete(String(number));
  }

  #versions(id: string): Collection<SummaryVersion> {
    return this.storage.collection(`summaries/${id}`);
  }

  #receipts(id: string): Collection<CompactionReceipt> {
    return this.storage.collection(`receipts/${id}`);
  }
}

const MOST_VERSIONS = 100;
