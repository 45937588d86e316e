/** Which requests a fault is for; everything given must agree. */
export interface FaultMatch {
  method?: string | undefined;
  /** An exact path, a path that ends in `*`, or (in process) an expression. */
  path?: string | RegExp | undefined;
  /** Headers with these values; `'*'` means: present. */
  header?: Record<string, string> | undefined;
  /** Fires from the n-th matching request on. @default 1 */
  nth?: number | undefined;
  /** Fires with this chance, from 0 to 1, drawn from the emulator's seed. @default 1 */
  probability?: number | undefined;
}

/** What happens instead of, or to, the answer. */
export type FaultResponse =
  /** An answer with this status; without a body the error form of the API area. `retryAfter` is in seconds. */
  | {
      type?: 'status' | undefined;
      status: number;
      body?: unknown;
      headers?: Record<string, string> | undefined;
      retryAfter?: number | undefined;
      message?: string | undefined;
    }
  /** The connection breaks without an answer: before the work is done, or after it. */
  | { type: 'reset'; when?: 'before' | 'after' | undefined }
  /** No answer ever. */
  | { type: 'stall' }
  /** The real answer, so many milliseconds later. */
  | { type: 'slow'; delay: number }
  /** A 200 whose body is not what was asked for. */
  | { type: 'garbage'; body?: string | undefined; contentType?: string | undefined }
  /** The real answer under another content type. */
  | { type: 'contentType'; contentType: string }
  /** The real status and headers, but half of the JSON; of a stream, half of its second event and then the rest. */
  | { type: 'malformed' }
  /** The real answer, so many bytes at a time with a pause of so many milliseconds before each. */
  | { type: 'drip'; bytes: number; every: number }
  /** The real answer, but its body breaks off after so many bytes. */
  | { type: 'cutBody'; afterBytes: number }
  /** The real stream, but after so many events, or before `[DONE]`, it ends, breaks, or sends nothing more. */
  | { type: 'cutStream'; afterEvents?: number | undefined; how?: 'end' | 'reset' | 'stall' | undefined }
  /** The real stream, but the event after so many is not valid JSON. */
  | { type: 'garbleStream'; afterEvents: number }
  /** The real stream, but after so many events an error event comes and nothing more. */
  | { type: 'streamError'; afterEvents: number; error?: Record<string, unknown> | undefined };

/** One rule. */
export interface FaultRule {
  /** @default every request of the two API areas */
  match?: FaultMatch | undefined;
  /** How many requests it is for. @default 1 */
  times?: number | undefined;
  respond: FaultResponse;
}

/** A rule that is in force. */
export interface ActiveFault {
  id: string;
  match: FaultMatch;
  /** How often it will still be applied. */
  remaining: number;
  respond: FaultResponse;
}

/** Faults for the next requests, in the order they were added. */
export class Faults {
  readonly #rules: (ActiveFault & { seen: number })[] = [];
  readonly #chance: () => number;
  #count = 0;

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  /** The next `times` requests that match get this; gives the rule's id. */
  add(rule: FaultRule): string {
    const times = rule.times ?? 1;
    if (!(times >= 1)) throw new RangeError(`times is below one: ${times}`);
    if (rule.respond === undefined) throw new RangeError('a fault says what to respond');
    const { nth = 1, probability = 1 } = rule.match ?? {};
    if (!(nth >= 1)) throw new RangeError(`match.nth is below one: ${nth}`);
    if (!(probability >= 0 && probability <= 1))
      throw new RangeError(`match.probability is not a chance: ${probability}`);
    this.#count += 1;
    const id = `fault_${this.#count}`;
    this.#rules.push({ id, match: rule.match ?? {}, remaining: times, respond: rule.respond, seen: 0 });
    return id;
  }

  /** Take a rule back. */
  remove(id: string): boolean {
    const index = this.#rules.findIndex((rule) => rule.id === id);
    if (index === -1) return false;
    this.#rules.splice(index, 1);
    return true;
  }

  /** The rules that are still in force. */
  list(): ActiveFault[] {
    return this.#rules.map(({ seen: _, ...rule }) => rule);
  }

  clear(): void {
    this.#rules.length = 0;
  }

  /** @internal The fault for a request; counts it. */
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
    if (rule.remaining <= 0) this.#rules.splice(index, 1);
    return rule;
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
