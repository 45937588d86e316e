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
  /** Each of them ends the stream. */
  ends: readonly AbortSignal[];
}

/** Server-sent events about an emulator: everything at first, then what happens. Watches from the first read until its reader leaves. */
export function pushedEvents({ log, changes, clock, ends }: Watched): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const topics = new Set([EVERYTHING]);
  const entries = new Map<string, LogEntry>();
  let timer: NodeJS.Timeout | undefined;
  let isWaiting = false;
  let stop: (() => void) | undefined;

  const flush = (controller: ReadableStreamDefaultController<Uint8Array>, before = ''): void => {
    timer = undefined;
    isWaiting = false;
    let text = before;
    const say = (name: keyof PushedEvents, data: string): void => {
      text += `event: ${name}\ndata: ${data}\n\n`;
    };
    if (topics.has(EVERYTHING)) say('requests', `{"all":true,"requests":${log.summaries()}}`);
    else if (entries.size > 0) {
      const requests = [...entries.values()].map((entry) => log.summary(entry));
      say('requests', JSON.stringify({ all: false, requests }));
    }
    if (topics.size > 0) {
      say('changes', JSON.stringify({ topics: [...topics], time: new Date(clock.now()).toISOString() }));
    }
    topics.clear();
    entries.clear();
    controller.enqueue(encoder.encode(text));
  };
  /** What a reader that is behind is told in place of each thing. */
  const tellAll = (): void => {
    topics.clear();
    topics.add(EVERYTHING);
    entries.clear();
  };
  const later = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const isNews = entries.size > 0 || topics.size > 0;
    if (isNews && isWaiting) timer ??= setTimeout(flush, PAUSE, controller).unref();
  };
  const watch = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const endings = [
      log.listen((entry) => {
        if (!topics.has(EVERYTHING)) entries.set(entry.requestId, entry);
        if (entries.size > MOST_REQUESTS) tellAll();
        later(controller);
      }),
      changes.listen((topic) => {
        topics.add(topic);
        if (topics.size > MOST_TOPICS) tellAll();
        later(controller);
      }),
    ];
    const end = (): void => {
      stop?.();
      controller.close();
    };
    for (const signal of ends) signal.addEventListener('abort', end, { once: true });
    stop = () => {
      clearTimeout(timer);
      for (const off of endings) off();
      for (const signal of ends) signal.removeEventListener('abort', end);
    };
  };

  return new ReadableStream<Uint8Array>(
    {
      // Called when a reader waits. So nothing is watched that is not read, and a reader that is behind gets more at a time.
      pull: (controller) => {
        isWaiting = true;
        if (ends.some(({ aborted }) => aborted)) controller.close();
        else if (stop === undefined) {
          watch(controller);
          flush(controller, 'retry: 1000\n\n');
        } else later(controller);
      },
      cancel: () => stop?.(),
    },
    { highWaterMark: 0 },
  );
}

const EVERYTHING = 'everything';
/** Milliseconds in which what happens is told together. */
const PAUSE = 60;
/** More of them are not told one by one. */
const MOST_REQUESTS = 500;
const MOST_TOPICS = 100;
