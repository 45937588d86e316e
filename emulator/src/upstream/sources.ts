import * as z from 'zod/mini';
import { described, exact } from '../base/fields.js';
import { RecordingSource, ReplaySource, readableRecording, recordingsIn } from './cassettes.js';
import type { ModelSource, UpstreamOptions } from './model-source.js';
import { UpstreamSource } from './upstream-source.js';

/** Where completions are to come from. */
export interface SourceOptions {
  upstream?: UpstreamOptions | undefined;
  cassettes?: { directory: string; mode: 'record' | 'replay' } | undefined;
}

/** Where completions come from. */
export interface Answers {
  /** Unless a scripted reply matches. */
  from: 'built-in' | 'upstream' | 'recording';
  /** The URL of the upstream. */
  upstream?: string | undefined;
  /** The directory of recordings. */
  directory?: string | undefined;
  recordings: { file: string; request: Record<string, unknown>; answers: string[] }[];
}

export const answersResponse = exact<Answers>()(
  z.object({
    from: described('Unless a scripted reply matches.', z.enum(['built-in', 'upstream', 'recording'])),
    upstream: z.optional(described('Its URL.', z.string())),
    directory: z.optional(described('The directory of recordings.', z.string())),
    recordings: z.array(
      z.object({ file: z.string(), request: z.record(z.string(), z.unknown()), answers: z.array(z.string()) }),
    ),
  }),
);

/** The source of the options; `undefined` without an upstream or recorded responses. */
export function modelSource({ upstream, cassettes }: SourceOptions): ModelSource | undefined {
  if (cassettes?.mode === 'replay') return new ReplaySource(cassettes.directory);
  if (upstream === undefined) {
    if (cassettes === undefined) return undefined;
    throw new RangeError('cassettes: recording requires an upstream');
  }
  const source = new UpstreamSource(upstream);
  return cassettes === undefined ? source : new RecordingSource(source, cassettes.directory);
}

/** Describes a source. */
export function answersFrom(source: ModelSource | undefined, { upstream, cassettes }: SourceOptions): Answers {
  return {
    from: source?.name ?? 'built-in',
    upstream: upstream?.url,
    directory: cassettes?.directory,
    recordings: cassettes === undefined ? [] : recordingsIn(cassettes.directory).map(readableRecording),
  };
}
