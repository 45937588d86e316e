import { useEffect, useState } from 'preact/hooks';
import type { RequestRecord } from '../../src/http/log/request-record.js';
import { ask } from '../service/control.js';

/** An event of a stream, and the milliseconds since the request arrived. */
export interface SentEvent {
  at: number;
  text: string;
}

/** A request, with the events of its stream as they are sent. */
export function useFollowed(id: string): {
  record: RequestRecord | undefined;
  events: readonly SentEvent[];
  error: string | undefined;
} {
  const [record, setRecord] = useState<RequestRecord>();
  const [error, setError] = useState<string>();
  const [sent, setSent] = useState<readonly SentEvent[]>([]);
  useEffect(() => {
    const path = `/requests/${encodeURIComponent(id)}`;
    let isLeft = false;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      try {
        const loaded = await ask<RequestRecord>('GET', path);
        if (isLeft) return;
        setRecord(loaded);
        if (loaded.outcome === 'pending') follow();
      } catch (reason) {
        if (!isLeft) setError(reason instanceof Error ? reason.message : String(reason));
      }
    };
    /** Events come as they are sent. The first shows that the response has started, and the end that it is complete. */
    const follow = (): void => {
      if (source !== undefined) return;
      source = new EventSource(`/_emulator${path}/events`);
      const events: SentEvent[] = [];
      const show = (): void => {
        timer = undefined;
        setSent([...events]);
      };
      source.addEventListener('sent', ({ data }) => {
        const { at, text } = JSON.parse(data) as SentEvent;
        events.push({ at, text });
        timer ??= setTimeout(show, FRAME);
        if (events.length === 1) void load();
      });
      const end = (): void => {
        source?.close();
        if (isLeft) return;
        show();
        void load();
      };
      source.addEventListener('end', end, { once: true });
      // A new connection would begin with the first event again.
      source.onerror = () => source?.close();
    };
    void load();
    return () => {
      isLeft = true;
      clearTimeout(timer);
      source?.close();
    };
  }, [id]);
  const recorded = record?.response?.events ?? [];
  // The log keeps the first 64 KB, the page what it has seen.
  return { record, events: sent.length > recorded.length ? sent : recorded, error };
}

/** Milliseconds between two pictures of a stream. A fast one would keep the page busy with drawing. */
const FRAME = 100;
