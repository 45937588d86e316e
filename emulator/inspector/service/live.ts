import { signal } from '@preact/signals';
import type { PushedEvents } from '../../src/control/events.js';
import type { RequestSummary } from '../../src/http/request-log.js';

/** Whether the emulator is heard. */
export const connection = signal<'connecting' | 'live' | 'gone'>('connecting');
/** The emulator's time when it was last heard. */
export const emulatorTime = signal('');
/** The requests it has in its log, oldest first. */
export const requests = signal<readonly RequestSummary[]>([]);

type Listener = (topics: ReadonlySet<string>) => void;
const listeners = new Set<Listener>();

/** Called with what has changed; gives the function that takes the listener off. */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/**
 * Hear of everything that happens while the page is in sight. A browser has six connections to a host, so hidden pages with one each
 * would leave none for another; a page that is seen again is told everything anew.
 */
export function connect(): void {
  let source: EventSource | undefined;
  const follow = (): void => {
    source?.close();
    source = document.visibilityState === 'hidden' ? undefined : listen(follow);
  };
  document.addEventListener('visibilitychange', follow);
  follow();
}

/** `again` is called some time after the emulator has refused. */
function listen(again: () => void): EventSource {
  const source = new EventSource('/_emulator/events');
  const on = <Name extends keyof PushedEvents>(name: Name, take: (data: PushedEvents[Name]) => void): void =>
    source.addEventListener(name, (event) => take(JSON.parse(event.data)));
  on('requests', (pushed) => {
    requests.value = pushed.all ? pushed.requests : merged(requests.value, pushed.requests);
    tell(new Set(['requests']));
  });
  on('changes', ({ topics, time }) => {
    emulatorTime.value = time;
    tell(new Set(topics));
  });
  source.onopen = () => {
    connection.value = 'live';
  };
  source.onerror = () => {
    connection.value = 'gone';
    // The browser tries again by itself, except where it was refused.
    if (source.readyState === EventSource.CLOSED) setTimeout(again, RECONNECT);
  };
  return source;
}

function tell(topics: ReadonlySet<string>): void {
  for (const listener of [...listeners]) listener(topics);
}

/** A request that is known is replaced where it stands. */
function merged(known: readonly RequestSummary[], pushed: readonly RequestSummary[]): RequestSummary[] {
  const byId = new Map(known.map((request) => [request.requestId, request]));
  for (const request of pushed) byId.set(request.requestId, request);
  return [...byId.values()].slice(-MOST);
}

/** As many as the emulator keeps. */
const MOST = 1000;
/** Milliseconds. */
const RECONNECT = 2000;

/** Is one of the wanted topics among what changed? `conversations/*` stands for each of them. */
export function hasTopic(changed: ReadonlySet<string>, wanted: readonly string[]): boolean {
  if (changed.has('everything')) return true;
  return wanted.some((topic) =>
    topic.endsWith('*') ? [...changed].some((name) => name.startsWith(topic.slice(0, -1))) : changed.has(topic),
  );
}
