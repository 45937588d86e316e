import type { Changes } from '../base/changes.js';
import type { Clock } from '../base/clock.js';
import type { LogEntry } from '../http/log-entry.js';
import type { RequestLog, RequestSummary } from '../http/request-log.js';

/** The events of `GET /_emulator/events`, by name. */
export interface PushedEvents {
  /** Requests that started, got a response, or ended. If `all` is true, these are all logged requests. */
  requests: { all: boolean; requests: RequestSummary[] };
  /** Changed topics: kinds of records, `conversations/{id}`, `faults`, `clock`, or `everything`. */
  changes: { topics: string[]; time: string };
}

/** The sources of the events. */
export interface EventSources {
  log: RequestLog;
  changes: Changes;
  clock: Clock;
  /** Any of these signals ends the stream. */
  ends: readonly AbortSignal[];
}

/**
 * Server-sent events about an emulator: first everything, then changes. Listens from the first read until the client
 * disconnects.
 */
export function pushedEvents({ log, changes, clock, ends }: EventSources): ReadableStream<Uint8Array> {
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
    const write = (name: keyof PushedEvents, data: string): void => {
      text += `event: ${name}\ndata: ${data}\n\n`;
    };
    if (topics.has(EVERYTHING)) write('requests', `{"all":true,"requests":${log.summaries()}}`);
    else if (entries.size > 0) {
      const requests = [...entries.values()].map((entry) => log.summary(entry));
      write('requests', JSON.stringify({ all: false, requests }));
    }
    if (topics.size > 0) {
      write('changes', JSON.stringify({ topics: [...topics], time: new Date(clock.now()).toISOString() }));
    }
    topics.clear();
    entries.clear();
    controller.enqueue(encoder.encode(text));
  };
  /** Replaces the pending changes by `everything`, for a slow reader. */
  const replaceByEverything = (): void => {
    topics.clear();
    topics.add(EVERYTHING);
    entries.clear();
  };
  const schedule = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const hasChanges = entries.size > 0 || topics.size > 0;
    if (hasChanges && isWaiting) timer ??= setTimeout(flush, PAUSE, controller).unref();
  };
  const watch = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const removers = [
      log.listen((entry) => {
        if (!topics.has(EVERYTHING)) entries.set(entry.requestId, entry);
        if (entries.size > MOST_REQUESTS) replaceByEverything();
        schedule(controller);
      }),
      changes.listen((topic) => {
        topics.add(topic);
        if (topics.size > MOST_TOPICS) replaceByEverything();
        schedule(controller);
      }),
    ];
    const end = (): void => {
      stop?.();
      controller.close();
    };
    for (const signal of ends) signal.addEventListener('abort', end, { once: true });
    stop = () => {
      clearTimeout(timer);
      for (const remove of removers) remove();
      for (const signal of ends) signal.removeEventListener('abort', end);
    };
  };

  return new ReadableStream<Uint8Array>(
    {
      // Called when the reader wants more. So an unread stream does not listen, and a slow reader gets more changes at
      // once.
      pull: (controller) => {
        isWaiting = true;
        if (ends.some(({ aborted }) => aborted)) controller.close();
        else if (stop === undefined) {
          watch(controller);
          flush(controller, 'retry: 1000\n\n');
        } else schedule(controller);
      },
      cancel: () => stop?.(),
    },
    { highWaterMark: 0 },
  );
}

const EVERYTHING = 'everything';
/** Milliseconds over which changes are combined into one write. */
const PAUSE = 60;
/** Above these numbers, changes are not sent one by one. */
const MOST_REQUESTS = 500;
const MOST_TOPICS = 100;
