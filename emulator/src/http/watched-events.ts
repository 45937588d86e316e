import type { Clock } from '../base/clock.js';
import { EventBody } from './event-body.js';
import type { Exchange } from './exchange.js';
import type { Outcome } from './log/request-record.js';
import type { SentBody } from './log/sent-body.js';

/** Passes events on, and records each with its time. */
export function watchedEvents(
  source: EventBody,
  sent: SentBody,
  { entry, request }: Exchange,
  { clock, finish }: { clock: Clock; finish: (outcome: Outcome) => void },
): EventBody {
  const stop = new AbortController();
  let isOver = false;
  const events = (async function* () {
    try {
      for (;;) {
        const { done, value } = await source.next();
        if (done) break;
        if (!value.startsWith(':')) entry.events = (entry.events ?? 0) + 1;
        sent.addText(value, clock.now());
        yield value;
      }
      isOver = true;
      finish('answered');
    } catch (error) {
      isOver = true;
      finish(stop.signal.aborted || request.signal.aborted ? 'aborted' : 'cut');
      throw error;
    } finally {
      // The reader left between two events.
      if (!isOver) {
        await source.cancel();
        finish('aborted');
      }
    }
  })();
  // While the source waits, only this ends it.
  stop.signal.addEventListener('abort', () => void source.cancel(stop.signal.reason), { once: true });
  return new EventBody(events, stop);
}
