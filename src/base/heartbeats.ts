import { systemRuntime } from './runtime.js';
import type { Source } from './stream-of.js';

/** Milliseconds of silence after which something is sent: servers and proxies end what is silent for ten seconds or more. */
const SILENCE = 8_000;

const COMMENT = new TextEncoder().encode(':\n\n');

/** Waits for a promise, but no longer than a silence may last. Then resolves to `undefined`. */
export async function unlessSilent<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: unknown;
  const silence = new Promise<undefined>((resolve) => {
    timer = systemRuntime.setTimer(() => resolve(undefined), SILENCE);
  });
  return Promise.race([promise, silence]).finally(() => systemRuntime.clearTimer(timer));
}

/** Server-sent events, with a comment whenever they are silent for long. */
export function withHeartbeats(events: Source<Uint8Array>): Source<Uint8Array> {
  let pending: ReturnType<typeof events.next> | undefined;
  return {
    async next() {
      pending ??= events.next();
      const event = await unlessSilent(pending);
      if (event === undefined) return { done: false, value: COMMENT };
      pending = undefined;
      return event;
    },
  };
}
