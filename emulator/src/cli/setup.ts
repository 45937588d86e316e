import type { EmulatorOptions } from '../emulator.js';
import type { UpstreamOptions } from '../upstream/model-source.js';
import { assumed } from './assume.js';
import type { GivenOptions } from './options.js';
import { addSampleConversation } from './sample.js';
import { seedFrom } from './seed-file.js';

/** Converts the options of the command to those of the emulator. */
export function emulatorOptions(given: GivenOptions): EmulatorOptions {
  const { seed, data, now, controlToken, plan, latency, limits, strict, summarizer, seedFile, pace, cors } = given;
  if (now !== undefined && (latency !== undefined || pace !== undefined)) {
    throw new Error(
      '--now cannot be combined with --latency or --pace: with a fixed clock, the delays would never end',
    );
  }
  return {
    seed,
    data,
    now,
    controlToken,
    plan,
    latency,
    limits,
    strict,
    summarizer,
    pace,
    setup: seedFile === undefined ? addSampleConversation : seedFrom(seedFile),
    cors: corsOf(cors),
    upstream: upstreamOf(given),
    cassettes: cassettesOf(given),
    ...assumed(Object.entries(given.assume ?? {}).map(([name, value]) => `${name}=${value}`)),
  };
}

function upstreamOf({ upstream, upstreamKey, modelMap }: GivenOptions): UpstreamOptions | undefined {
  if (upstream !== undefined) return { url: upstream, key: upstreamKey, models: modelMap };
  if (upstreamKey !== undefined) throw new Error('--upstream-key needs --upstream');
  if (modelMap !== undefined) throw new Error('--model-map needs --upstream');
  return undefined;
}

function cassettesOf({ record, replay }: GivenOptions): EmulatorOptions['cassettes'] {
  if (record !== undefined && replay !== undefined) throw new Error('--record and --replay cannot be combined');
  if (record !== undefined) return { directory: record, mode: 'record' };
  return replay === undefined ? undefined : { directory: replay, mode: 'replay' };
}

/** Parses `*`, `none` or a list of origins. */
function corsOf(origins: GivenOptions['cors']): EmulatorOptions['cors'] {
  if (origins === undefined) return undefined;
  if (origins === 'none') return false;
  return { origins: origins === '*' || Array.isArray(origins) ? origins : [origins] };
}
