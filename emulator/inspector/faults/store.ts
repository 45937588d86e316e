import { signal } from '@preact/signals';
import { ask } from '../service/control.js';
import { inTurn } from '../service/in-turn.js';
import { hasTopic, onChanges } from '../service/live.js';
import type { ShownFault } from './rules.js';

/** The active rules, for the banner on every view. */
export const activeFaults = signal<readonly ShownFault[]>([]);

const load = inTurn(async () => {
  // If the emulator does not respond, another banner reports it.
  activeFaults.value = await ask<ShownFault[]>('GET', '/faults').catch(() => activeFaults.value);
});

onChanges((topics) => {
  if (hasTopic(topics, ['faults'])) void load();
});
