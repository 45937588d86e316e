import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RequestRecord, RequestSummary } from '../../src/http/request-log.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Field, Select } from '../parts/field.js';
import { ask } from '../service/control.js';
import { saveFile } from '../service/files.js';
import { requests } from '../service/live.js';
import { goTo } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { count, duration, plural, timeOf } from '../service/words.js';
import { RequestDetail } from './detail.js';
import { type Filter, fits, isFailed, type StatusFilter } from './filter.js';
import { asHar } from './har.js';

/** Module state, so that the filter survives a visit to another view. */
const filter = signal<Filter>({ text: '', status: 'all', caller: '' });

const STATUSES: readonly { value: StatusFilter; label: string }[] = [
  { value: 'all', label: 'any status' },
  { value: 'ok', label: 'succeeded' },
  { value: 'failed', label: 'failed' },
  { value: '4xx', label: '4xx' },
  { value: '5xx', label: '5xx' },
  { value: 'faults', label: 'with a fault' },
];
const PAGE = 100;

/** The list of requests as they arrive, newest first. */
export function RequestsView({ selected }: { selected: string }) {
  const [most, setMost] = useState(PAGE);
  const { shown, held, release, listRef } = usePausableList(selected !== '');
  const found = shown.filter((request) => fits(request, filter.value)).reverse();
  const callers = [...new Set(requests.value.map(({ caller }) => caller))].filter((caller) => caller !== undefined);
  const set = (change: Partial<Filter>): void => {
    filter.value = { ...filter.value, ...change };
  };
  return (
    <>
      <Title name="Requests" actions={<Export />}>
        Your program's requests, as they happen.
      </Title>
      <div class={`requests ${selected === '' ? '' : 'with-detail'}`}>
        <Card
          title={
            found.length === requests.value.length
              ? plural(found.length, 'request')
              : `${count(found.length)} of ${plural(requests.value.length, 'request')}`
          }
        >
          <div class="form">
            <Field
              label="Search"
              type="search"
              id="request-search"
              value={filter.value.text}
              placeholder="path, method, fault"
              onInput={(text) => set({ text })}
            />
            <Select
              label="Status"
              id="request-status"
              value={filter.value.status}
              onChange={(status) => set({ status })}
              options={STATUSES}
            />
            <Select
              label="Key or user"
              id="request-caller"
              value={filter.value.caller}
              onChange={(caller) => set({ caller })}
              options={[{ value: '', label: 'any' }, ...callers]}
            />
          </div>
          {held > 0 && (
            <div class="held">
              <Button kind="main" onClick={release} id="release">
                {plural(held, 'new request')}
              </Button>
            </div>
          )}
          {requests.value.length === 0 && (
            <Empty>No requests yet. Point your program here, or ask something in the playground.</Empty>
          )}
          {requests.value.length > 0 && found.length === 0 && <Empty>No requests match these filters.</Empty>}
          <ol class="log" ref={listRef}>
            {found.slice(0, most).map((request) => (
              <Row key={request.requestId} request={request} isSelected={request.requestId === selected} />
            ))}
          </ol>
          {found.length > most && (
            <Button kind="quiet" onClick={() => setMost(most + PAGE)}>
              Show older requests
            </Button>
          )}
        </Card>
        {selected !== '' && <RequestDetail id={selected} onClose={() => goTo('requests')} />}
      </div>
    </>
  );
}

function Row({ request, isSelected }: { request: RequestSummary; isSelected: boolean }) {
  const { requestId, method, path, status, outcome, fault, events, receivedAt } = request;
  const notes = [
    outcome !== 'answered' && outcome,
    fault && `fault: ${fault}`,
    request.limit && `limit ${request.limit.name}`,
    request.attempt && `attempt ${request.attempt.number}`,
    request.isForeign && 'page of another machine',
    events !== undefined && plural(events, 'event'),
    request.duration !== undefined && duration(request.duration),
  ].filter(Boolean);
  return (
    <li>
      <a href={`#/requests/${requestId}`} aria-current={isSelected ? 'true' : undefined}>
        <span class={`status ${outcome === 'pending' ? 'pending' : isFailed(request) ? 'failed' : 'good'}`}>
          {status ?? '···'}
        </span>
        <span class="method">{method}</span>
        <code class="path">{path}</code>
        <small class="soft">
          {notes.join(' · ')}
          <time>{timeOf(receivedAt)}</time>
        </small>
      </a>
    </li>
  );
}

/**
 * While the user reads, selects or has scrolled, new requests are held back until `release`. Shown requests stay up to
 * date.
 */
function usePausableList(isReading: boolean) {
  const listRef = useRef<HTMLOListElement>(null);
  const [until, setUntil] = useState<string>();
  const all = requests.value;
  const isEmpty = all.length === 0;
  const at = until === undefined ? -1 : all.findIndex(({ requestId }) => requestId === until);
  const shown = at === -1 ? all : all.slice(0, at + 1);
  useEffect(() => {
    const update = (): void => {
      const isScrolled = (listRef.current?.getBoundingClientRect().top ?? 1) < 0;
      const selection = getSelection();
      const isSelecting = selection?.isCollapsed === false && listRef.current?.contains(selection.anchorNode) === true;
      const isPaused = isReading || isScrolled || isSelecting;
      setUntil((before) => (isPaused ? (before ?? requests.peek().at(-1)?.requestId) : before));
    };
    update();
    addEventListener('scroll', update, { passive: true });
    document.addEventListener('selectionchange', update);
    return () => {
      removeEventListener('scroll', update);
      document.removeEventListener('selectionchange', update);
    };
    // A view that is opened by its address holds from the first requests that arrive.
  }, [isReading, isEmpty]);
  const release = (): void => {
    setUntil(isReading ? all.at(-1)?.requestId : undefined);
    if (!isReading) scrollTo({ top: 0 });
  };
  return { shown, held: all.length - shown.length, release, listRef };
}

/**
 * The records of requests, oldest first. Loaded in pages, because one large response would delay the user's own
 * requests.
 */
async function recordsOf(ids: readonly string[]): Promise<RequestRecord[]> {
  const records = new Map<string, RequestRecord>();
  let after = '';
  for (;;) {
    // For an id that is not in the log, the emulator starts with the oldest request.
    const page = await ask<RequestRecord[]>('GET', `/requests?limit=${RECORDS}&after=${after}`);
    for (const record of page) records.set(record.requestId, record);
    after = page.at(-1)?.requestId ?? '';
    if (page.length < RECORDS || records.has(ids.at(-1) ?? '')) break;
  }
  return ids.map((id) => records.get(id)).filter((record) => record !== undefined);
}

const RECORDS = 20;

function Export() {
  const { run, error, isBusy } = useAction();
  const all = requests.value.length;
  const wanted = requests.value.filter((request) => fits(request, filter.value));
  const save = () =>
    run(async () => {
      const records = await recordsOf(wanted.map(({ requestId }) => requestId));
      const har = asHar(records, location.origin);
      saveFile('emulator.har', JSON.stringify(har, null, 2));
    });
  return (
    <>
      <Button onClick={save} isDisabled={isBusy || wanted.length === 0} id="export">
        Export {wanted.length === all ? '' : `${wanted.length} of ${all} `}as HAR
      </Button>
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}
