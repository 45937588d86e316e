import * as z from 'zod/mini';
import { count, exact, id, label } from '../base/fields.js';
import type { ApiKeyInfo } from './api-keys.js';
import type { Collection, Storage } from './storage.js';

const tokens = z.number().check(z.gte(0));

/** Tokens on one UTC day: of one model, one key and one conversation. */
export interface UsageEntry {
  /** `YYYY-MM-DD` */
  day: string;
  model: string;
  tokens: number;
  /** The part of them that prompts had. */
  prompt?: number | undefined;
  requests?: number | undefined;
  key?: { id: string; name: string } | undefined;
  /** The conversation, if it is known. */
  conversation?: string | undefined;
}

export const usageEntry = exact<UsageEntry>()(
  z.object({
    day: label.check(z.regex(/^\d{4}-\d\d-\d\d$/, 'not a date as YYYY-MM-DD')),
    model: id,
    tokens,
    prompt: z.optional(tokens),
    requests: z.optional(count),
    key: z.optional(z.object({ id, name: label })),
    conversation: z.optional(label),
  }),
);

/** Used tokens by UTC day, model, key and conversation. */
export class Usage {
  readonly #records: Collection<UsageEntry>;

  constructor(
    storage: Storage,
    private readonly now: () => number,
  ) {
    this.#records = storage.collection('usage');
  }

  add(
    used: Pick<UsageEntry, 'model' | 'conversation'> & {
      prompt: number;
      completion: number;
      key?: ApiKeyInfo | undefined;
    },
  ): void {
    const { model, prompt, completion, key, conversation } = used;
    const day = new Date(this.now()).toISOString().slice(0, 10);
    const owner = key && { id: key.id, name: key.name };
    const entry: UsageEntry = { day, model, tokens: 0, key: owner, conversation };
    const id = usageId(entry);
    const before = this.#records.get(id);
    this.#records.set(id, {
      ...entry,
      tokens: (before?.tokens ?? 0) + prompt + completion,
      prompt: (before?.prompt ?? 0) + prompt,
      requests: (before?.requests ?? 0) + 1,
    });
  }

  /** One entry per day, model, key and conversation with any usage. */
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

/** @internal The id of an entry. Those of earlier versions have only day and model. */
export function usageId({ day, model, key, conversation }: UsageEntry): string {
  return [day, model, ...(key === undefined ? [] : [key.id, conversation ?? ''])].join(' ');
}
