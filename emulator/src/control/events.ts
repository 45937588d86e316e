import type { Changes } from '../base/changes.js';
import type { Clock } from '../base/clock.js';
import type { LogEntry, RequestLog, RequestSummary } from '../http/request-log.js';

/** What `GET /_emulator/events` sends, by the names of its events. */
export interface PushedEvents {
  /** Requests that began, were answered or ended; `all` is true when they are all there are. */
  requests: { all: boolean; requests: RequestSummary[] };
  /** What has changed: kinds of records, `conversations/{id}`, `faults`, `clock`, or `everything`. */
  changes: { topics: string[]; time: string };
}

/** What is watched. */
export interface Watched {
  log: RequestLog;
  changes: Changes;
  clock: Clock;
  /** Ends the stream. */
  closed: AbortSignal;
}

/** Server-sent events about an emulator: everything at first, then what happens. Ends when its reader leaves. */
export function pushedEvents({ log, changes, clock, closed }: Watched): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const topics = new Set<string>();
  const entries = new Map<string, LogEntry>();
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => {};

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = <Name extends keyof PushedEvents>(name: Name, data: PushedEvents[Name]): void =>
          controller.enqueue(encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
        const later = (): void => {
          timer ??= setTimeout(flush, PAUSE).unref();
        };
        const flush = (): void => {
          timer = undefined;
          // A reader that is behind gets more at a time, not more messages.
          if ((controller.desiredSize ?? 0) <= 0) {
            later();
            return;
          }
          const all = topics.has(EVERYTHING);
          if (all) send('requests', { all, requests: log.summaries() });
          else if (entries.size > 0)
            send('requests', { all, requests: [...entries.values()].map((entry) => log.summary(entry)) });
          if (topics.size > 0) send('changes', { topics: [...topics], time: new Date(clock.now()).toISOString() });
          topics.clear();
          entries.clear();
        };
        const endings = [
          log.listen((entry) => {
            entries.set(entry.requestId, entry);
            if (entries.size > MOST_REQUESTS) topics.add(EVERYTHING);
            later();
          }),
          changes.listen((topic) => {
            if (topics.size < MOST_TOPICS) topics.add(topic);
            else topics.add(EVERYTHING);
            later();
          }),
        ];
        stop = () => {
          clearTimeout(timer);
          for (const end of endings) end();
          closed.removeEventListener('abort', close);
        };
        const close = (): void => {
          stop();
          controller.close();
        };
        closed.addEventListener('abort', close, { once: true });
        controller.enqueue(encoder.encode('retry: 1000\n\n'));
        topics.add(EVERYTHING);
        flush();
      },
      cancel: () => stop(),
    },
    { highWaterMark: 16 },
  );
}

const EVERYTHING = 'everything';
/** Milliseconds in which what happens is told together. */
const PAUSE = 60;
/** More of them are not told one by one. */
const MOST_REQUESTS = 500;
const MOST_TOPICS = 100;
