import { readFileSync } from 'node:fs';
import { manualClock } from '../base/clock.js';
import { HttpError } from '../base/errors.js';
import { parseJsonText } from '../base/json.js';
import type { EmulatorState } from '../control/state/state-schema.js';
import { checkedState } from '../control/state/state-schema.js';
import type { EmulatorOptions } from '../emulator.js';
import type { UpstreamOptions } from '../upstream/model-source.js';
import { assumed } from './assume.js';
import type { GivenOptions } from './options.js';
import { addSampleConversation } from './sample.js';
import { seedFrom } from './seed-file.js';

/** Converts the options of the command to those of the emulator. */
export function emulatorOptions(given: GivenOptions): EmulatorOptions {
  const { now, seedFile, assume = {} } = given;
  if (given.import !== undefined && seedFile !== undefined) {
    throw new Error('--import and --seed-file cannot be combined: the snapshot has all data');
  }
  return {
    ...given,
    // Delays take real time: no one may be there to advance the clock.
    clock: now === undefined ? undefined : manualClock(now, { realSleeps: true }),
    setup: seedFile === undefined ? addSampleConversation : seedFrom(seedFile),
    state: given.import === undefined ? undefined : snapshotFrom(given.import),
    upstream: upstreamOf(given),
    cassettes: cassettesOf(given),
    ...assumed(Object.entries(assume).map(([name, value]) => `${name}=${value}`)),
  };
}

/** Reads a snapshot from a file. */
function snapshotFrom(file: string): EmulatorState {
  try {
    return checkedState(parseJsonText(readFileSync(file, 'utf8')));
  } catch (error) {
    const unread = error instanceof SyntaxError ? error.message : 'cannot read the file';
    const reason = error instanceof HttpError ? `not a snapshot: ${error.message}` : unread;
    throw new Error(`${file}: ${reason}`, { cause: error });
  }
}

function upstreamOf({ upstream, upstreamKey, modelMap }: GivenOptions): UpstreamOptions | undefined {
  if (upstream !== undefined)
    return { ...upstream, key: upstreamKey ?? upstream.key, models: modelMap ?? upstream.models };
  if (upstreamKey !== undefined) throw new Error('--upstream-key needs --upstream');
  if (modelMap !== undefined) throw new Error('--model-map needs --upstream');
  return undefined;
}

function cassettesOf({ record, replay }: GivenOptions): EmulatorOptions['cassettes'] {
  if (record !== undefined && replay !== undefined) throw new Error('--record and --replay cannot be combined');
  if (record !== undefined) return { directory: record, mode: 'record' };
  return replay === undefined ? undefined : { directory: replay, mode: 'replay' };
}
