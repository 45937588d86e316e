import type { Clock } from '../base/clock.js';

/** Waits for `ms` milliseconds, with a comment line every `heartbeat` milliseconds. */
export async function* waitWithHeartbeat(
  clock: Clock,
  ms: number,
  { heartbeat, comment, signal }: { heartbeat: number; comment: string; signal: AbortSignal },
): AsyncGenerator<string, void> {
  let left = ms;
  while (left > heartbeat) {
    await clock.sleep(heartbeat, signal);
    left -= heartbeat;
    yield comment;
  }
  if (left > 0) await clock.sleep(left, signal);
}

/** Passes the source on, and yields undefined (a heartbeat) after every `heartbeat` milliseconds of silence. */
export async function* withHeartbeat<Piece>(
  clock: Clock,
  source: AsyncIterable<Piece>,
  { heartbeat, signal }: { heartbeat: number; signal: AbortSignal },
): AsyncGenerator<Piece | undefined, void> {
  if (heartbeat === Number.POSITIVE_INFINITY) return yield* source;
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      let result: IteratorResult<Piece> | undefined;
      while (result === undefined) {
        const quiet = new AbortController();
        const silence = clock.sleep(heartbeat, AbortSignal.any([signal, quiet.signal])).then(() => undefined);
        silence.catch(() => {});
        result = await Promise.race([next, silence]);
        quiet.abort();
        if (result === undefined) yield undefined;
      }
      if (result.done) return;
      yield result.value;
    }
  } finally {
    await iterator.return?.();
  }
}
