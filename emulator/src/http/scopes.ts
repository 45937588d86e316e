import { mention } from '../base/mention.js';

/** The header of a request that names its scope. */
export const SCOPE_HEADER = 'x-emulator-scope';

/** The parts of a shared emulator, each for one test. */
export class Scopes<Scope extends { close(): Promise<void> }> {
  readonly #scopes = new Map<string, Scope>();

  constructor(private readonly create: () => Scope) {}

  /** The scope of this name, created on first use. Throws a RangeError for an invalid name, or if there are too many. */
  of(name: string): Scope {
    const known = this.#scopes.get(name);
    if (known !== undefined) return known;
    if (!/^[\w.:-]{1,200}$/.test(name)) throw new RangeError(`not a name of a scope: ${mention(name)}`);
    if (this.#scopes.size >= MOST_SCOPES) throw new RangeError(`there are ${MOST_SCOPES} scopes; end some`);
    const scope = this.create();
    this.#scopes.set(name, scope);
    return scope;
  }

  /** Ends a scope and its pending requests. Returns false if there is none. */
  async end(name: string): Promise<boolean> {
    const scope = this.#scopes.get(name);
    this.#scopes.delete(name);
    await scope?.close();
    return scope !== undefined;
  }

  /** Ends all. */
  async close(): Promise<void> {
    await Promise.all([...this.#scopes.values()].map((scope) => scope.close()));
    this.#scopes.clear();
  }
}

const MOST_SCOPES = 500;
