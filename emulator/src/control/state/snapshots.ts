import * as z from 'zod/mini';
import { count, exact, namedObject, time } from '../../base/fields.js';
import { checkedId } from '../../store/storage.js';
import type { EmulatorState } from './state-schema.js';

/** A kept snapshot, without its data. */
export interface SnapshotInfo {
  name: string;
  /** The time of the emulator's clock in the snapshot, in ISO 8601. */
  time: string;
  conversations: number;
}

export const snapshotInfo = exact<SnapshotInfo>()(
  namedObject('Snapshot', {
    name: z.string(),
    time,
    conversations: count,
  }),
);

/** Snapshots by name, in memory until the emulator is closed. A reset does not remove them. */
export class Snapshots {
  readonly #states = new Map<string, { info: SnapshotInfo; state: EmulatorState }>();

  /** Keeps a state under a name, in place of an earlier one. Throws a RangeError for the fifty-first name. */
  keep(name: string, state: EmulatorState, time: string): SnapshotInfo {
    checkedId('snapshot', name);
    if (!this.#states.has(name) && this.#states.size >= MOST)
      throw new RangeError(`there are ${MOST} snapshots; delete one first`);
    const info = { name, time, conversations: state.conversations.length };
    this.#states.delete(name);
    this.#states.set(name, { info, state });
    return info;
  }

  /** Newest first. */
  list(): SnapshotInfo[] {
    return [...this.#states.values()].map(({ info }) => info).reverse();
  }

  get(name: string): EmulatorState | undefined {
    return this.#states.get(name)?.state;
  }

  delete(name: string): boolean {
    return this.#states.delete(name);
  }
}

const MOST = 50;
