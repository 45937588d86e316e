import * as z from 'zod/mini';
import { exact, id, namedObject } from '../base/fields.js';
import type { Collection, Storage } from './storage.js';

/** A rate limit: `requests` per window of `windowMs` milliseconds. */
export interface RateLimit {
  requests: number;
  windowMs: number;
}

const rate = z.number().check(z.gte(0));

/** A plan: its price, included tokens and limits. */
export interface Plan {
  id: string;
  /** If false, every `/v1` call fails with 403. */
  gatewayAccess: boolean;
  /** USD. */
  pricePerMonth: number;
  /** Tokens per month. */
  includedTokens: number;
  overagePricePerMillion: number;
  /** Requests per minute. */
  limits: { gateway: number; context: number; compact: number };
}

export const planSchema = exact<Plan>()(
  namedObject('Plan', {
    id,
    gatewayAccess: z.boolean(),
    pricePerMonth: rate,
    includedTokens: rate,
    overagePricePerMillion: rate,
    limits: z.object({ gateway: rate, context: rate, compact: rate }),
  }),
);

/** The name of a built-in plan. */
export type PlanName = (typeof PLAN_NAMES)[number];
/** The names of all built-in plans. */
export const PLAN_NAMES = ['starter', 'agency', 'enterprise'] as const;

/** The account options of an emulator. They override the plan. */
export interface AccountSettings {
  plan: Plan;
  limits: {
    gateway?: RateLimit | undefined;
    context?: RateLimit | undefined;
    compact?: RateLimit | undefined;
    tokens?: RateLimit | undefined;
  };
  includedTokens?: number | undefined;
  overagePricePerMillion?: number | undefined;
}

/** The account and its plan. */
export class Account {
  readonly #records: Collection<Plan>;
  readonly #settings: AccountSettings;

  constructor(storage: Storage, settings: AccountSettings) {
    this.#records = storage.collection('account');
    this.#settings = settings;
  }

  /** The current plan. */
  get plan(): Plan {
    return structuredClone(this.#current());
  }

  /** Changes the plan at once, to a built-in plan or your own. */
  setPlan(plan: PlanName | Plan): void {
    this.#records.set('plan', resolvePlan(plan));
  }

  /** @internal The emulator's options override the plan. */
  limit(kind: 'gateway' | 'context' | 'compact'): RateLimit {
    return this.#settings.limits[kind] ?? { requests: this.#current().limits[kind], windowMs: 60_000 };
  }

  /** @internal */
  get tokenLimit(): RateLimit | undefined {
    return this.#settings.limits.tokens;
  }

  /** @internal */
  get tokens(): { includedTokens: number; overagePricePerMillion: number } {
    const plan = this.#current();
    return {
      includedTokens: this.#settings.includedTokens ?? plan.includedTokens,
      overagePricePerMillion: this.#settings.overagePricePerMillion ?? plan.overagePricePerMillion,
    };
  }

  /** @internal */
  get gatewayAccess(): boolean {
    return this.#current().gatewayAccess;
  }

  #current(): Plan {
    return this.#records.get('plan') ?? this.#settings.plan;
  }
}

/** Looks up a plan by name, or copies a given plan. Throws a RangeError for an unknown name. */
export function resolvePlan(plan: PlanName | Plan): Plan {
  if (typeof plan !== 'string') return structuredClone(plan);
  const known = PLANS.find(({ id }) => id === plan);
  if (known === undefined)
    throw new RangeError(`unknown plan: ${plan}; use one of ${PLANS.map(({ id }) => id).join(', ')}`);
  return structuredClone(known) as Plan;
}

const M = 1_000_000;

/** The service documents the Agency plan with its price and limit. All other numbers are assumptions (A12, A25). */
export const PLANS: readonly Plan[] = Object.freeze([
  {
    id: 'starter',
    gatewayAccess: false,
    pricePerMonth: 0,
    includedTokens: 0,
    overagePricePerMillion: 0,
    limits: { gateway: 60, context: 60, compact: 5 },
  },
  {
    id: 'agency',
    gatewayAccess: true,
    pricePerMonth: 699,
    includedTokens: 10 * M,
    overagePricePerMillion: 2,
    limits: { gateway: 1000, context: 300, compact: 20 },
  },
  {
    id: 'enterprise',
    gatewayAccess: true,
    pricePerMonth: 2499,
    includedTokens: 100 * M,
    overagePricePerMillion: 1.5,
    limits: { gateway: 5000, context: 1500, compact: 100 },
  },
]);
