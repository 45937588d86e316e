import { ConfigurationError, type ContextMetadata, type RollingSummary } from '../index.js';
import { Ledger } from './ledger.js';
import type { LedgerStore } from './ledger-state.js';

/** The ledger of a conversation in the app's storage, which other processes may use too. */
export class StoredLedger {
  readonly #store: LedgerStore | undefined;
  readonly #conversationId: string;
  readonly #onError: (error: unknown) => void;
  readonly #ledger = new Ledger();
  #isLoaded = false;
  #last: Promise<void> = Promise.resolve();

  constructor(store: LedgerStore | undefined, conversationId: string, onError: (error: unknown) => void) {
    this.#store = store;
    this.#conversationId = conversationId;
    this.#onError = onError;
  }

  /** The ledger as last loaded. Empty before that. */
  get ledger(): Ledger {
    return this.#ledger;
  }

  async read(): Promise<Ledger> {
    if (!this.#isLoaded) await this.#change(() => {});
    return this.#ledger;
  }

  /** Records a snapshot. Loads the stored ledger only if the version is new. */
  async observe(summary: RollingSummary, metadata: ContextMetadata): Promise<void> {
    const observe = (): void => this.#ledger.observe(summary, metadata);
    if (this.#isLoaded && summary.version <= this.#ledger.state.version) observe();
    else await this.#change(observe);
  }

  /** Forgets the statements of a message that the user excluded. */
  forget(content: string | undefined): Promise<void> {
    return this.#change(() => this.#ledger.forget(content));
  }

  /** Loads, changes and saves, one change at a time. A ledger that could not be loaded is never overwritten. */
  #change(change: () => void): Promise<void> {
    const run = async (): Promise<void> => {
      this.#isLoaded = await this.#load();
      const { state } = this.#ledger;
      change();
      if (!this.#isLoaded || this.#ledger.state === state) return;
      try {
        await this.#store?.save(this.#conversationId, this.#ledger.state);
      } catch (error) {
        this.#onError(error);
      }
    };
    this.#last = this.#last.then(run, run);
    return this.#last;
  }

  /** @throws {ConfigurationError} when the store returns something else: silence would lose every statement */
  async #load(): Promise<boolean> {
    try {
      const stored = (await this.#store?.load(this.#conversationId)) ?? undefined;
      if (stored !== undefined && !(stored.format === 1 && Array.isArray(stored.entries)))
        throw new ConfigurationError('ledger.load must return the state of ledger.save(conversationId, state).');
      if (stored !== undefined && stored.version >= this.#ledger.state.version) this.#ledger.restore(stored);
      return true;
    } catch (error) {
      if (ConfigurationError.is(error)) throw error;
      this.#onError(error);
      return false;
    }
  }
}
