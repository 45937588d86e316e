/** Which requests a fault is for; everything given must agree. */
export interface FaultMatch {
  method?: string | undefined;
  /** An exact path, a path that ends in `*`, or (in process) an expression. */
  path?: string | RegExp | undefined;
  /** Headers with these values; `'*'` means: present. */
  header?: Record<string, string> | undefined;
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
  /** The connection breaks before any answer. */
  | { type: 'reset' }
  /** No answer ever. */
  | { type: 'stall' }
  /** The real answer, so many milliseconds later. */
  | { type: 'slow'; delay: number }
  /** A 200 whose body is not what was asked for. */
  | { type: 'garbage'; body?: string | undefined; contentType?: string | undefined }
  /** The real answer, but its body breaks off after so many bytes. */
  | { type: 'cutBody'; afterBytes: number }
  /** The real stream, but after so many events it ends without `[DONE]`, breaks, or sends nothing more. */
  | { type: 'cutStream'; afterEvents: number; how?: 'end' | 'reset' | 'stall' | undefined }
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
  readonly #rules: ActiveFault[] = [];
  #count = 0;

  /** The next `times` requests that match get this; gives the rule's id. */
  add(rule: FaultRule): string {
    const times = rule.times ?? 1;
    if (!(times >= 1)) throw new RangeError(`times is below one: ${times}`);
    if (rule.respond === undefined) throw new RangeError('a fault says what to respond');
    this.#count += 1;
    const id = `fault_${this.#count}`;
    this.#rules.push({ id, match: rule.match ?? {}, remaining: times, respond: rule.respond });
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
    return this.#rules.map((rule) => ({ ...rule }));
  }

  clear(): void {
    this.#rules.length = 0;
  }

  /** @internal The fault for a request; counts it. */
  take(method: string, path: string, headers: Headers): ActiveFault | undefined {
    if (this.#rules.length === 0) return undefined;
    const index = this.#rules.findIndex((rule) => matches(rule.match, method, path, headers));
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
