import { useEffect, useRef, useState } from 'preact/hooks';
import type { RequestSummary } from '../../src/http/log/request-record.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Excerpt, type Match } from '../parts/excerpt.js';
import { Field } from '../parts/field.js';
import { requests } from '../service/live.js';
import { goTo, linkTo } from '../service/router.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, duration, plural, timeOf } from '../service/words.js';
import { RequestDetail } from './detail.js';
import { isFailed, words } from './filter.js';
import { FirstRunCard } from './first-run.js';
import { OpenCase, ShareForm } from './share.js';

const PAGE = 100;

/** The list of requests as they arrive, newest first. */
export function RequestsView({ id: selected, part }: { id: string; part: string }) {
  const [most, setMost] = useState(PAGE);
  const { shown, isFrozen, release, listRef } = usePausableList(selected !== '');
  const { matches, query, error } = useMatches();
  const isWanted = ({ requestId }: RequestSummary): boolean => matches === undefined || matches.has(requestId);
  const found = shown.filter(isWanted).reverse();
  const known = new Set(shown.map(({ requestId }) => requestId));
  const held = isFrozen ? requests.value.filter((each) => !known.has(each.requestId) && isWanted(each)).length : 0;
  return (
    <>
      <Title name="Requests">What your program sends, and what it gets, as it happens.</Title>
      <FirstRunCard />
      {selected === '' && (
        <details id="share">
          <summary>Share these requests, or open a case</summary>
          <ShareForm query={query} requests={found.length} />
          <OpenCase />
        </details>
      )}
      <div class={`stack requests ${selected === '' ? '' : 'with-detail'}`}>
        <Card
          title={
            found.length === shown.length
              ? plural(found.length, 'request')
              : `${count(found.length)} of ${plural(shown.length, 'request')}`
          }
        >
          <Field
            label="Filter by words of a prompt or a reply, a status, a model, a key"
            type="search"
            id="filter"
            of={words}
            placeholder="failed 503"
          />
          <ErrorLine>{error}</ErrorLine>
          {held > 0 && (
            <div class="row held">
              <Button kind="main" onClick={release} id="release">
                {plural(held, 'new request')}
              </Button>
            </div>
          )}
          {shown.length === 0 && (
            <Empty>No requests yet. Point your program here, or ask something in the playground.</Empty>
          )}
          {shown.length > 0 && found.length === 0 && <Empty>No request has all of these words.</Empty>}
          <ol class="link-rows log" ref={listRef}>
            {found.slice(0, most).map((request) => (
              <Row
                key={request.requestId}
                request={request}
                isSelected={request.requestId === selected}
                match={matches?.get(request.requestId)}
              />
            ))}
          </ol>
          {found.length > most && (
            <Button kind="quiet" onClick={() => setMost(most + PAGE)}>
              Show older requests
            </Button>
          )}
        </Card>
        {selected !== '' && (
          <RequestDetail key={selected} id={selected} original={part} onClose={() => goTo('requests')} />
        )}
      </div>
    </>
  );
}

interface RowProps {
  request: RequestSummary;
  isSelected: boolean;
  match: Match | undefined;
}

function Row({ request, isSelected, match }: RowProps) {
  const { requestId, method, path, status, outcome, fault, events, receivedAt, stoppedBy, tokens } = request;
  const notes = [
    outcome !== 'answered' && outcome,
    stoppedBy && `stopped by ${stoppedBy}`,
    fault ? `fault: ${fault}` : request.code,
    request.limit && `limit ${request.limit.name}`,
    request.attempt && `attempt ${request.attempt.number}`,
    request.similar && `similar request ${request.similar.number}`,
    request.isForeign && 'page of another machine',
    request.isImported && 'from a case',
    request.model,
    tokens && `${count(tokens.prompt)} + ${plural(tokens.completion, 'token')}`,
    events !== undefined && plural(events, 'event'),
    request.duration !== undefined && duration(request.duration),
    timeOf(receivedAt),
  ].filter(Boolean);
  return (
    <li>
      <a href={linkTo('requests', requestId)} aria-current={isSelected ? 'true' : undefined}>
        <span class={`status ${outcome === 'pending' ? 'pending' : isFailed(request) ? 'failed' : 'good'}`}>
          {status ?? '···'}
        </span>
        <span class="soft">{method}</span>
        <code class="path">{path}</code>
        {request.asked !== undefined && <span class="asked">{request.asked}</span>}
        {request.replied !== undefined && <span class="soft replied">{request.replied}</span>}
        <small class="soft notes">{notes.join(' · ')}</small>
        {match !== undefined && <Excerpt match={match} where={`in the ${match.in}`} />}
      </a>
    </li>
  );
}

/** Where the emulator found the words, by the id of the request; undefined without words. */
function useMatches() {
  const query = new URLSearchParams(words.value.trim() === '' ? {} : { q: words.value.trim() });
  const path = query.size === 0 ? '' : `/search/requests?limit=1000&${query}`;
  const { data, error } = useLoaded<{ requests: { requestId: string; match?: Match }[] }>(path, ['requests'], {
    keepsLast: true, // or the list would be empty at each letter
  });
  const matches = new Map(data?.requests.map(({ requestId, match }) => [requestId, match]));
  return { matches: path === '' ? undefined : matches, query, error };
}

/**
 * While the user reads, selects or has scrolled, the list stays as it is, also if the log no longer has its requests. What
 * is shown stays up to date. `release` takes in what is new.
 */
function usePausableList(isReading: boolean) {
  const listRef = useRef<HTMLOListElement>(null);
  const [frozen, setFrozen] = useState<readonly RequestSummary[]>();
  const isEmpty = requests.value.length === 0;
  useEffect(() => {
    const update = (): void => {
      const isScrolled = (listRef.current?.getBoundingClientRect().top ?? 1) < 0;
      const selection = getSelection();
      const isSelecting = selection?.isCollapsed === false && listRef.current?.contains(selection.anchorNode) === true;
      const isPaused = !isEmpty && (isReading || isScrolled || isSelecting);
      setFrozen((before) => (isPaused ? (before ?? requests.peek()) : undefined));
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
    setFrozen(isReading ? requests.value : undefined);
    if (!isReading) scrollTo({ top: 0 });
  };
  if (frozen === undefined) return { shown: requests.value, isFrozen: false, release, listRef };
  const newest = new Map(requests.value.map((each) => [each.requestId, each]));
  return { shown: frozen.map((each) => newest.get(each.requestId) ?? each), isFrozen: true, release, listRef };
}
