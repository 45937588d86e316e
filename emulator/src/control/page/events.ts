import * as z from 'zod/mini';
import { whenAborted } from '../../base/aborts.js';
import type { Changes } from '../../base/changes.js';
import type { Clock } from '../../base/clock.js';
import { described, named, time } from '../../base/fields.js';
import type { LogEntry } from '../../http/log/log-entry.js';
import type { RequestLog } from '../../http/log/request-log.js';
import { requestSummary } from '../../http/log/request-record.js';

const changedRequests = z.object({
  /** Whether these are all logged requests. */
  all: z.boolean(),
  requests: z.array(requestSummary),
});
const changedTopics = z.object({
  /** Kinds of records, `conversations/{id}`, `faults`, `clock`, or `everything`. */
  topics: z.array(z.string()),
  time,
});
/** An event of `GET /_emulator/events`. */
export const pushedEvent = named(
  'PushedEvent',
  described(
    'Events: `requests` with requests that started or changed, `changes` with changes of the stored data.',
    z.union([changedRequests, changedTopics]),
  ),
);
/** The events by name. */
export interface PushedEvents {
  requests: z.infer<typeof changedRequests>;
  changes: z.infer<typeof changedTopics>;
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
export function pushedEvents(sources: EventSources): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(new PushedChanges(sources), { highWaterMark: 0 });
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

class PushedChanges implements UnderlyingDefaultSource<Uint8Array> {
  /** What has changed since the last write. */
  readonly #topics = new Set([EVERYTHING]);
  readonly #entries = new Map<string, LogEntry>();
  readonly #ended = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isWaiting = false;
  #isWatching = false;

  constructor(private readonly sources: EventSources) {}

  /**
   * Called when the reader wants more. So an unread stream does not listen, and a slow reader gets more changes at once.
   */
  pull(controller: Controller): void {
    this.#isWaiting = true;
    if (this.sources.ends.some(({ aborted }) => aborted)) this.#end(controller);
    else if (this.#isWatching) this.#schedule(controller);
    else {
      this.#watch(controller);
      this.#flush(controller, 'retry: 1000\n\n');
    }
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#ended.abort();
  }

  #watch(controller: Controller): void {
    const { log, changes, ends } = this.sources;
    const { signal } = this.#ended;
    this.#isWatching = true;
    const removers = [
      log.listen((entry) => {
        if (!this.#topics.has(EVERYTHING)) this.#entries.set(entry.requestId, entry);
        if (this.#entries.size > MOST_REQUESTS) this.#replaceByEverything();
        this.#schedule(controller);
      }),
      changes.listen((topic) => {
        this.#topics.add(topic);
        if (this.#topics.size > MOST_TOPICS) this.#replaceByEverything();
        this.#schedule(controller);
      }),
    ];
    for (const remove of removers) signal.addEventListener('abort', remove);
    whenAborted(ends, () => this.#end(controller), signal);
  }

  /** Once: the listeners are removed, because one before them may make the client read, and so end the stream. */
  #end(controller: Controller): void {
    this.cancel();
    controller.close();
  }

  /** Replaces the pending changes by `everything`, for a slow reader. */
  #replaceByEverything(): void {
    this.#topics.clear();
    this.#topics.add(EVERYTHING);
    this.#entries.clear();
  }

  #schedule(controller: Controller): void {
    const hasChanges = this.#entries.size > 0 || this.#topics.size > 0;
    if (hasChanges && this.#isWaiting) this.#timer ??= setTimeout(() => this.#flush(controller), PAUSE).unref();
  }

  #flush(controller: Controller, before = ''): void {
    const { log, clock } = this.sources;
    this.#timer = undefined;
    this.#isWaiting = false;
    let text = before;
    const write = (name: keyof PushedEvents, data: string): void => {
      text += `event: ${name}\ndata: ${data}\n\n`;
    };
    if (this.#topics.has(EVERYTHING)) write('requests', `{"all":true,"requests":${log.summaries()}}`);
    else if (this.#entries.size > 0) {
      const requests = [...this.#entries.values()].map((entry) => log.summary(entry));
      write('requests', JSON.stringify({ all: false, requests }));
    }
    if (this.#topics.size > 0) {
      write('changes', JSON.stringify({ topics: [...this.#topics], time: new Date(clock.now()).toISOString() }));
    }
    this.#topics.clear();
    this.#entries.clear();
    controller.enqueue(encoder.encode(text));
  }
}

const encoder = new TextEncoder();
const EVERYTHING = 'everything';
/** Milliseconds over which changes are combined into one write. */
const PAUSE = 60;
/** Above these numbers, changes are not sent one by one. */
const MOST_REQUESTS = 500;
const MOST_TOPICS = 100;
