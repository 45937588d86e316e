import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReachedLimit } from '../../src/http/rate-limit.js';
import type { RequestRecord } from '../../src/http/request-log.js';
import { Button, CopyButton } from '../parts/button.js';
import { Card, ErrorLine } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { ask } from '../service/control.js';
import { requests } from '../service/live.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, dateAndTime, duration, plural, timeOf } from '../service/words.js';
import { CallAttempts } from './call-attempts.js';
import { requestAsCurl } from './curl.js';
import { ResendForm } from './resend.js';

/** A request and its response in full. */
export function RequestDetail({ id, onClose }: { id: string; onClose: () => void }) {
  const summary = requests.value.find(({ requestId }) => requestId === id);
  const path = `/requests/${encodeURIComponent(id)}`;
  const { data, error, reload } = useLoaded(path, () => ask<RequestRecord>('GET', path), []);
  // Reloads when the summary shows that the request was answered, or has ended.
  useEffect(() => void reload(), [summary?.outcome, summary?.status]);
  const head = useRef<HTMLElement>(null);
  useEffect(() => head.current?.focus({ preventScroll: true }), [id]);
  const [isEditing, setEditing] = useState(false);
  useEffect(() => setEditing(false), [id]);
  const tools = (
    <span class="row">
      {data !== undefined && (
        <>
          <Button kind="quiet" onClick={() => setEditing(!isEditing)} id="edit-resend">
            Edit and resend
          </Button>
          <CopyButton text={() => requestAsCurl(data, location.origin)} id="copy-curl">
            Copy as curl
          </CopyButton>
        </>
      )}
      <Button kind="quiet" onClick={onClose} id="close-detail">
        Close
      </Button>
    </span>
  );
  return (
    <section
      class="detail"
      ref={head}
      tabIndex={-1}
      aria-label="Request details"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <Card title={summary === undefined ? 'Request' : `${summary.method} ${summary.status ?? ''}`} aside={tools}>
        <ErrorLine>{error}</ErrorLine>
        {data !== undefined && isEditing && <ResendForm key={id} record={data} onClose={() => setEditing(false)} />}
        {data?.limit !== undefined && <LimitNote limit={data.limit} />}
        <CallAttempts id={id} />
        {data !== undefined && <Record record={data} />}
      </Card>
    </section>
  );
}

/** Which limit refused the request, and a way past it. */
function LimitNote({ limit: { name, unit, allowed, asked, windowMs, endsAt } }: { limit: ReachedLimit }) {
  const { run, error, isBusy } = useAction();
  const [isPast, setPast] = useState(false);
  return (
    <div class="limit-note" id="limit-note">
      <p>
        The limit <strong>{name}</strong> allows {plural(allowed, unit.slice(0, -1))} in {count(windowMs / 1000)} s.{' '}
        {unit === 'tokens' ? `${count(asked)} were used before this request` : `This was request ${count(asked)}`} of
        its window, which ends at {timeOf(endsAt)} UTC.
      </p>
      {isPast ? (
        <p role="status">The window has ended: the next request is accepted.</p>
      ) : (
        <Button
          id="advance-to-end"
          isDisabled={isBusy}
          onClick={async () => setPast(await run(() => ask('POST', '/clock', { to: endsAt })))}
        >
          Advance the clock to its end
        </Button>
      )}
      <ErrorLine>{error}</ErrorLine>
    </div>
  );
}

function Record({ record }: { record: RequestRecord }) {
  const { requestId, path, caller, receivedAt, outcome, fault, headers, body, isBodyCut, response, error } = record;
  return (
    <>
      <p class="detail-path">
        <code>{path}</code>
      </p>
      <dl class="detail-facts">
        <Fact name="Received">{`${dateAndTime(receivedAt)} UTC`}</Fact>
        <Fact name="Took">{record.duration === undefined ? 'in progress' : duration(record.duration)}</Fact>
        <Fact name="Outcome">{outcome}</Fact>
        <Fact name="Key or user">{record.isForeign ? 'a page of another machine' : (caller ?? 'no valid key')}</Fact>
        {fault !== undefined && <Fact name="Fault">{fault}</Fact>}
        {record.answeredBy !== undefined && <Fact name="Answered by">{record.answeredBy}</Fact>}
        <Fact name="Id">{requestId}</Fact>
      </dl>
      {error !== undefined && <pre class="bad">{error}</pre>}
      <Part title="Request headers" text={headersText(headers)} />
      {body !== undefined && body !== '' && <Part title="Request body" text={pretty(body)} isOpen />}
      {isBodyCut && <p class="soft">{body === undefined ? 'The request body could not be read.' : CUT}</p>}
      {response !== undefined && <Part title="Response headers" text={headersText(response.headers)} />}
      {response?.events === undefined ? (
        response !== undefined &&
        response.body !== '' && (
          <>
            <Part title="Response body" text={pretty(response.body)} isOpen />
            {response.isBodyCut && <p class="soft">{CUT}</p>}
          </>
        )
      ) : (
        <Events events={response.events} all={record.events ?? 0} />
      )}
    </>
  );
}

const CUT = 'This body is longer: the log keeps the first 64 KB.';

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Part({ title, text, isOpen = false }: { title: string; text: string; isOpen?: boolean }) {
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <Code label={title} text={text} />
    </details>
  );
}

function Events({ events, all }: { events: readonly { at: number; text: string }[]; all: number }) {
  return (
    <details open>
      <summary>{plural(all, 'event')}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <ol class="events" tabIndex={0} aria-label="Events of the stream">
        {events.map(({ at, text }, i) => (
          <li key={i}>
            <time>{duration(at)}</time>
            <code>{text.trim()}</code>
          </li>
        ))}
      </ol>
      {all > events.length && <p class="soft">{CUT}</p>}
    </details>
  );
}

function headersText(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
