import type * as z from 'zod/mini';
import { HttpError } from '../base/errors.js';
import { type activeFault, checkedRule, type FaultMatch, type FaultResponse, type FaultRule } from './rule.js';

/** An active rule. */
export interface ActiveFault {
  id: string;
  match: FaultMatch;
  /** How many more times it applies. */
  remaining: number;
  respond: FaultResponse;
}

/** Faults for the next requests, in the order they were added. */
export class Faults {
  #rules: (ActiveFault & { seen: number })[] = [];
  readonly #chance: () => number;
  readonly #changed: () => void;
  #count = 0;

  constructor(chance: () => number, changed: () => void = () => {}) {
    this.#chance = chance;
    this.#changed = changed;
  }

  /**
   * Adds a rule for the next `times` matching requests. Returns its id. Throws a RangeError if the rule cannot be
   * applied.
   */
  add(rule: FaultRule): string {
    const { match = {}, times = 1, respond } = checkedCopy(rule);
    this.#count += 1;
    const id = `fault_${this.#count}`;
    this.#rules.push({ id, match, remaining: times ?? Number.POSITIVE_INFINITY, respond, seen: 0 });
    this.#changed();
    return id;
  }

  /** Removes a rule. Returns false if there is no such rule. */
  remove(id: string): boolean {
    const index = this.#rules.findIndex((rule) => rule.id === id);
    if (index === -1) return false;
    this.#rules.splice(index, 1);
    this.#changed();
    return true;
  }

  /** The active rules. */
  list(): ActiveFault[] {
    return this.#rules.map(({ seen: _, ...rule }) => rule);
  }

  /** Removes all rules. The returned function restores them. */
  clear(): () => void {
    const before = this.#rules;
    this.#rules = [];
    this.#changed();
    return () => {
      this.#rules = before;
      this.#changed();
    };
  }

  /** @internal Finds the fault for a request, and counts it. */
  take(method: string, path: string, headers: Headers): ActiveFault | undefined {
    if (this.#rules.length === 0) return undefined;
    const index = this.#rules.findIndex((rule) => {
      if (!matches(rule.match, method, path, headers)) return false;
      rule.seen += 1;
      const { nth = 1, probability = 1 } = rule.match;
      return rule.seen >= nth && (probability === 1 || this.#chance() < probability);
    });
    const rule = this.#rules[index];
    if (rule === undefined) return undefined;
    rule.remaining -= 1;
    if (rule.remaining <= 0) {
      this.#rules.splice(index, 1);
      this.#changed();
    }
    return rule;
  }
}

/** An active rule in JSON: a regular expression becomes its text, and `Infinity` becomes null. */
export function faultInJson({ id, match, remaining, respond }: ActiveFault): z.infer<typeof activeFault> {
  return {
    id,
    match: { ...match, path: match.path && String(match.path) },
    remaining: remaining === Number.POSITIVE_INFINITY ? null : remaining,
    respond,
  };
}

/** A copy of the rule, so that later changes by the caller have no effect. */
function checkedCopy(rule: FaultRule): FaultRule {
  try {
    return checkedRule(rule);
  } catch (error) {
    throw error instanceof HttpError ? new RangeError(`this fault cannot be applied: ${error.message}`) : error;
  }
}

function matches(match: FaultMatch, method: string, path: string, headers: Headers): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== method) return false;
  if (match.path !== undefined && !pathMatches(match.path, path)) return false;
  return Object.entries(match.header ?? {}).every(([name, expected]) => {
    const actual = headers.get(name);
    return expected === '*' ? actual !== null : actual === expected;
  });
}

function pathMatches(expected: string | RegExp, path: string): boolean {
  if (typeof expected !== 'string') return path.search(expected) !== -1;
  return expected.endsWith('*') ? path.startsWith(expected.slice(0, -1)) : path === expected;
}
