import * as z from 'zod/mini';
import { whenAborted } from '../../base/aborts.js';
import { described, named } from '../../base/fields.js';
import type { RequestLog } from '../../http/log/request-log.js';
import { requestSummary, type SentEvent, sentEvent } from '../../http/log/request-record.js';

/** An event of a followed response, or its request when it has ended. */
export const requestEvent = named(
  'RequestEvent',
  described(
    'Events: `sent` with an event of the response, `end` with the request when it has ended.',
    z.union([sentEvent, requestSummary]),
  ),
);

/**
 * Server-sent events about the response to one request: the events that the log has, then each as it is sent, then the
 * summary of the request when it has ended. Returns undefined if the log does not have the request.
 */
export function requestEvents(
  log: RequestLog,
  requestId: string,
  ends: readonly AbortSignal[],
): ReadableStream<Uint8Array> | undefined {
  const entry = log.entry(requestId);
  if (entry === undefined) return undefined;
  const encoder = new TextEncoder();
  const ended = new AbortController();
  const { signal } = ended;
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      const write = (name: string, data: object): void =>
        controller.enqueue(encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
      const sent = (event: SentEvent): void => {
        // A reader that takes nothing gets gaps, which the numbers show.
        if ((controller.desiredSize ?? 0) > -MOST_WAITING) write('sent', event);
      };
      const end = (): void => {
        ended.abort();
        controller.close();
      };
      const endIfOver = (): void => {
        if (entry.outcome === 'pending') return;
        write('end', log.summary(entry));
        end();
      };
      const removers = [
        log.follow(entry, sent),
        log.listen((changed) => {
          if (changed === entry) endIfOver();
        }),
      ];
      for (const remove of removers) signal.addEventListener('abort', remove);
      whenAborted(ends, end, signal);
      endIfOver();
    },
    cancel: () => ended.abort(),
  });
}

/** In events. */
const MOST_WAITING = 10_000;
