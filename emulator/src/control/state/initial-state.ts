import type { ClockPosition } from '../../base/clock.js';
import { dropCaches, initializeStores, type SeedRecord } from '../../store/stores.js';
import type { EmulatorParts } from '../parts.js';
import { importState } from './state.js';
import type { EmulatorState } from './state-schema.js';

/** The state that an emulator begins with, and that a reset returns to. */
export class InitialState {
  #start: ClockPosition | undefined;

  /** Without a snapshot, `setup` creates the data. */
  constructor(
    private readonly parts: Pick<EmulatorParts, 'stores' | 'clock' | 'faults' | 'chat'>,
    private readonly setup: () => void,
    private readonly snapshot: EmulatorState | undefined,
  ) {}

  /** Sets up an empty storage. Returns false if there is stored data, which stays. */
  open(seed: SeedRecord): boolean {
    const { stores, clock } = this.parts;
    const isNew = stores.seedRecord() === undefined;
    if (isNew && this.snapshot?.clock !== undefined) clock.moveTo?.(this.snapshot.clock);
    this.#start = clock.position?.();
    if (isNew) this.#begin(seed);
    return isNew;
  }

  /** Returns to it, with the same seed and without faults and replies. If `setup` throws, nothing changes. */
  restore(): void {
    const { stores, clock, faults, chat } = this.parts;
    // `setup` may add rules and replies, so these are removed first, and restored if it fails.
    const undo = [faults.clear(), chat.clear()];
    try {
      // The setup may depend on the time.
      const now = clock.position?.();
      if (now !== undefined && this.#start !== undefined) {
        clock.moveTo?.(this.#start);
        undo.push(() => clock.moveTo?.(now));
      }
      // `open` has set it.
      this.#begin(stores.seedRecord() as SeedRecord);
    } catch (error) {
      for (const takeBack of undo) takeBack();
      throw error;
    }
  }

  #begin(seed: SeedRecord): void {
    const { stores } = this.parts;
    if (this.snapshot !== undefined) {
      importState(stores.storage, this.snapshot);
      dropCaches(stores);
    } else initializeStores(stores, seed, this.setup);
  }
}
