import type { Collection, Storage } from './storage.js';

/** So many requests in a window of so many milliseconds. */
export interface RateLimit {
  requests: number;
  windowMs: number;
}

/** What an account pays for. */
export interface Plan {
  id: string;
  /** Without it every `/v1` call is a 403. */
  gatewayAccess: boolean;
  /** USD. */
  pricePerMonth: number;
  /** Tokens a month. */
  includedTokens: number;
  overagePricePerMillion: number;
  /** Requests a minute. */
  limits: { gateway: number; context: number; compact: number };
}

/** The name of a plan the emulator knows. */
export type PlanName = (typeof PLAN_NAMES)[number];
/** Every one there is. */
export const PLAN_NAMES = ['starter', 'agency', 'enterprise'] as const;

/** What is set for an emulator, and wins over its plan where it is given. */
export interface AccountSettings {
  plan: Plan;
  limits: { gateway: RateLimit | undefined; context: RateLimit | undefined; compact: RateLimit | undefined };
  includedTokens: number | undefined;
  overagePricePerMillion: number | undefined;
}

/** The account: its plan, and what follows from it. */
export class Account {
  readonly #records: Collection<Plan>;
  readonly #settings: AccountSettings;

  constructor(storage: Storage, settings: AccountSettings) {
    this.#records = storage.collection('account');
    this.#settings = settings;
  }

  /** The plan in force. */
  get plan(): Plan {
    return structuredClone(this.#current());
  }

  /** Take another plan, at once: one the emulator knows, or one of your own. */
  setPlan(plan: PlanName | Plan): void {
    this.#records.set('plan', resolvePlan(plan));
  }

  /** @internal What is set for this emulator wins over what the plan says. */
  limit(kind: 'gateway' | 'context' | 'compact'): RateLimit {
    return this.#settings.limits[kind] ?? { requests: this.#current().limits[kind], windowMs: 60_000 };
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

/** The plan of a name, or a plan as it was given; a plan that cannot be is refused. */
export function resolvePlan(plan: PlanName | Plan): Plan {
  if (typeof plan !== 'string') return structuredClone(plan);
  const known = PLANS.find(({ id }) => id === plan);
  if (known === undefined)
    throw new RangeError(`not a plan: ${plan}; known are ${PLANS.map(({ id }) => id).join(', ')}`);
  return structuredClone(known) as Plan;
}

const M = 1_000_000;

/** The interface names the Agency plan, its price and its limit; the numbers around them are ours (A12, A25). */
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
