import { useEffect, useState } from 'preact/hooks';
import type { RequestRecord } from '../../src/http/log/request-record.js';
import { useLoaded } from '../service/use-loaded.js';

/** An event of a stream, and the milliseconds since the request arrived. */
export interface SentEvent {
  at: number;
  text: string;
}

/** A request, with the events of its stream as they are sent. */
export function useFollowed(id: string) {
  const path = `/requests/${encodeURIComponent(id)}`;
  const { data: record, error } = useLoaded<RequestRecord>(path, [`requests/${id}`]);
  const [sent, setSent] = useState<readonly SentEvent[]>([]);
  const [follows, setFollows] = useState(false);
  useEffect(() => {
    if (record?.outcome === 'pending') setFollows(true);
  }, [record]);
  useEffect(() => {
    if (!follows) return undefined;
    const source = new EventSource(`/_emulator${path}/events`);
    const events: SentEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer = undefined;
      setSent([...events]);
    };
    source.addEventListener('sent', ({ data }) => {
      events.push(JSON.parse(data));
      timer ??= setTimeout(show, FRAME);
    });
    // A new connection would begin with the first event again.
    for (const end of ['end', 'error']) source.addEventListener(end, () => source.close());
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [follows]);
  const recorded = record?.response?.events ?? [];
  // The log keeps the first 64 KB, the page what it has seen.
  return { record, events: sent.length > recorded.length ? sent : recorded, error };
}

/** Milliseconds between two pictures of a stream. A fast one would keep the page busy with drawing. */
const FRAME = 100;
