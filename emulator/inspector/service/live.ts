import { signal } from '@preact/signals';
import type { PushedEvents } from '../../src/control/page/events.js';
import type { RequestSummary } from '../../src/http/log/request-record.js';

/** The state of the connection to the emulator. */
export const connection = signal<'connecting' | 'live' | 'gone'>('connecting');
/** The requests in the emulator's log, oldest first. */
export const requests = signal<readonly RequestSummary[]>([]);

type Listener = (topics: ReadonlySet<string>) => void;
const listeners = new Set<Listener>();

/** Calls the listener with the topics of each change. Returns a function that removes the listener. */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/**
 * Receives events while the page is visible. Browsers open at most six connections to a host, so hidden pages with one
 * each would block other pages. A page that becomes visible again receives everything anew.
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

/** Calls `again` some time after the emulator has rejected the connection. */
function listen(again: () => void): EventSource {
  const source = new EventSource('/_emulator/events');
  const on = <Name extends keyof PushedEvents>(name: Name, take: (data: PushedEvents[Name]) => void): void =>
    source.addEventListener(name, (event) => take(JSON.parse(event.data)));
  on('requests', (pushed) => {
    requests.value = pushed.all ? pushed.requests : merged(requests.value, pushed.requests);
    notify(new Set(['requests', ...pushed.requests.map(({ requestId }) => `requests/${requestId}`)]));
  });
  on('changes', ({ topics }) => notify(new Set(topics)));
  source.onopen = () => {
    connection.value = 'live';
  };
  source.onerror = () => {
    connection.value = 'gone';
    // The browser reconnects by itself, except after an error response.
    if (source.readyState === EventSource.CLOSED) setTimeout(again, RECONNECT);
  };
  return source;
}

function notify(topics: ReadonlySet<string>): void {
  for (const listener of [...listeners]) listener(topics);
}

/** Replaces known requests in place, and appends new ones. */
function merged(known: readonly RequestSummary[], pushed: readonly RequestSummary[]): RequestSummary[] {
  const byId = new Map(known.map((request) => [request.requestId, request]));
  for (const request of pushed) byId.set(request.requestId, request);
  return [...byId.values()].slice(-MOST);
}

/** As many as the emulator's log has, with those of pages of other machines. */
const MOST = 1050;
/** Milliseconds. */
const RECONNECT = 2000;

/** Whether one of the wanted topics changed. `conversations/*` matches every conversation. */
export function hasTopic(changed: ReadonlySet<string>, wanted: readonly string[]): boolean {
  if (changed.has('everything')) return true;
  return wanted.some((topic) =>
    topic.endsWith('*') ? [...changed].some((name) => name.startsWith(topic.slice(0, -1))) : changed.has(topic),
  );
}
