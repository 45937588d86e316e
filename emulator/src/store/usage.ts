import type { Collection, Storage } from './storage.js';

/** Tokens of one model on one UTC day. */
export interface UsageEntry {
  /** `YYYY-MM-DD` */
  day: string;
  model: string;
  tokens: number;
}

/** Used tokens by model and UTC day. */
export class Usage {
  readonly #records: Collection<UsageEntry>;
  readonly #now: () => number;

  constructor(storage: Storage, now: () => number) {
    this.#records = storage.collection('usage');
    this.#now = now;
  }

  add(model: string, tokens: number): void {
    const day = new Date(this.#now()).toISOString().slice(0, 10);
    const id = `${day} ${model}`;
    this.#records.set(id, { day, model, tokens: (this.#records.get(id)?.tokens ?? 0) + tokens });
  }

  /** One entry per day and model with any usage. */
  entries(): UsageEntry[] {
    return [...this.#records.values()];
  }

  /** Tokens by model, from one day to another, both inclusive. */
  byModel(start: string, end: string): Map<string, number> {
    const totals = new Map<string, number>();
    for (const { day, model, tokens } of this.#records.values()) {
      if (day >= start && day <= end) totals.set(model, (totals.get(model) ?? 0) + tokens);
    }
    return totals;
  }
}
