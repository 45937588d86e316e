import { RecordingSource, ReplaySource } from './cassettes.js';
import type { ModelSource, UpstreamOptions } from './model-source.js';
import { UpstreamSource } from './upstream-source.js';

/** The source that the options ask for; none without an upstream or recorded answers. */
export function modelSource(
  upstream: UpstreamOptions | undefined,
  cassettes: { directory: string; mode: 'record' | 'replay' } | undefined,
): ModelSource | undefined {
  if (cassettes?.mode === 'replay') return new ReplaySource(cassettes.directory);
  if (upstream === undefined) {
    if (cassettes === undefined) return undefined;
    throw new RangeError('recording needs an upstream');
  }
  const source = new UpstreamSource(upstream);
  return cassettes === undefined ? source : new RecordingSource(source, cassettes.directory);
}
