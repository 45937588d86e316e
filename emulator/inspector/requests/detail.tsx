import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { RequestRecord } from '../../src/http/log/request-record.js';
import type { ReachedLimit } from '../../src/http/rate-limit.js';
import { ActionButton } from '../parts/action.js';
import { Button, CopyButton } from '../parts/button.js';
import { Card, ErrorLine, Facts } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { ask } from '../service/control.js';
import { requests } from '../service/live.js';
import { linkTo } from '../service/router.js';
import { count, dateAndTime, duration, plural, timeOf } from '../service/words.js';
import { attemptsOf, CallAttempts } from './call-attempts.js';
import { requestAsCurl } from './curl.js';
import { Events } from './events.js';
import { isFailed } from './filter.js';
import { messagesOf } from './messages.js';
import { MessagesPart } from './messages-part.js';
import { ResendForm } from './resend.js';
import { ShareForm } from './share.js';
import { type SentEvent, useFollowed } from './use-followed.js';

/** A request and its response in full, as it happens, with a link to the request that it is a change of. */
export function RequestDetail({ id, original, onClose }: { id: string; original: string; onClose: () => void }) {
  const { record, events, error } = useFollowed(id);
  const head = useRef<HTMLElement>(null);
  useEffect(() => head.current?.focus({ preventScroll: true }), []);
  const close = (
    <Button kind="quiet" onClick={onClose} id="close-detail">
      Close
    </Button>
  );
  const call = attemptsOf(requests.value, id).map(({ requestId }) => requestId);
  const shared = call.length === 0 ? [id] : call;
  return (
    <section
      class="detail"
      ref={head}
      tabIndex={-1}
      aria-label="Request details"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <Card title={record === undefined ? 'Request' : `${record.method} ${record.status ?? ''}`} aside={close}>
        <ErrorLine>{error}</ErrorLine>
        {record !== undefined && (
          <div class="tools">
            <CopyButton text={() => requestAsCurl(record, location.origin)} id="copy-curl">
              Copy as curl
            </CopyButton>
            <details id="edit-resend">
              <summary>Edit and resend</summary>
              <ResendForm record={record} />
            </details>
            <details id="share-one">
              <summary>Share</summary>
              <ShareForm query={new URLSearchParams({ requests: shared.join(',') })} requests={shared.length} />
            </details>
          </div>
        )}
        {record?.limit !== undefined && <LimitNote limit={record.limit} />}
        <CallAttempts id={id} />
        {record !== undefined && <Record record={record} original={original} events={events} />}
      </Card>
    </section>
  );
}

/** Which limit refused the request, and a way past it. */
function LimitNote({ limit: { name, unit, allowed, asked, windowMs, endsAt } }: { limit: ReachedLimit }) {
  return (
    <div class="card warning limit-note" id="limit-note">
      <p>
        The limit <strong>{name}</strong> allows {plural(allowed, unit.slice(0, -1))} in {count(windowMs / 1000)} s.{' '}
        {unit === 'tokens' ? `${count(asked)} were used before this request` : `This was request ${count(asked)}`} of
        its window, which ends at {timeOf(endsAt)} UTC.
      </p>
      <ActionButton id="advance-to-end" act={() => ask('POST', '/clock', { to: endsAt })}>
        Advance the clock to its end
      </ActionButton>
    </div>
  );
}

/** Who ended a reply before its end, in words. */
export const STOPPED_BY: Readonly<Record<string, string>> = {
  client: 'the client, which disconnected',
  fault: 'a fault',
  upstream: 'the upstream',
  emulator: 'the emulator',
};

function Record({
  record,
  original,
  events,
}: {
  record: RequestRecord;
  original: string;
  events: readonly SentEvent[];
}) {
  const { path, conversation, file, headers, body, response, error, prompt } = record;
  const facts: Record<string, ComponentChildren> = {
    Received: `${dateAndTime(record.receivedAt)} UTC`,
    Took: record.duration === undefined ? 'in progress' : duration(record.duration),
    Outcome: record.outcome,
    'Stopped by': record.stoppedBy && (STOPPED_BY[record.stoppedBy] ?? record.stoppedBy),
    'Error code': record.code,
    'Key or user': record.isForeign ? 'a page of another machine' : (record.caller ?? 'no valid key'),
    Model: record.model,
    Tokens: record.tokens && `${count(record.tokens.prompt)} + ${count(record.tokens.completion)}`,
    Fault: record.fault,
    'Answered by': record.answeredBy,
    Conversation: conversation && <a href={linkTo('conversation', conversation)}>{conversation}</a>,
    File: file && <a href={linkTo('service', 'files')}>{file}</a>,
    'Changed from': original && <a href={linkTo('requests', original)}>{original}</a>,
    Id: record.requestId,
  };
  const messages = messagesOf(record, events);
  const cut = (isCut: boolean | undefined) => isCut && <p class="soft">{CUT}</p>;
  return (
    <>
      <p class="detail-path">
        <code>{path}</code>
      </p>
      {isFailed(record) && <ErrorLine>{record.replied}</ErrorLine>}
      <Facts of={facts} />
      <ErrorLine>{error}</ErrorLine>
      {messages.length > 0 && <MessagesPart messages={messages} prompt={prompt} />}
      {events.length > 0 && <Events events={events} all={record.events ?? 0} isLive={record.outcome === 'pending'} />}
      {events.length === 0 && response !== undefined && response.body !== '' && (
        <>
          <Part title="Response body" text={pretty(response.body)} isOpen />
          {cut(response.isBodyCut)}
        </>
      )}
      {body !== undefined && body !== '' && <Part title="Request body" text={pretty(body)} isOpen />}
      {body === undefined && record.isBodyCut ? (
        <p class="soft">The request body could not be read.</p>
      ) : (
        cut(record.isBodyCut)
      )}
      <Part title="Request headers" text={headersText(headers)} />
      {response !== undefined && <Part title="Response headers" text={headersText(response.headers)} />}
    </>
  );
}

const CUT = 'This body is longer: the log keeps the first 64 KB.';

function Part({ title, text, isOpen = false }: { title: string; text: string; isOpen?: boolean }) {
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <Code label={title} text={text} />
    </details>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Headers as text, one a line. */
function headersText(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
