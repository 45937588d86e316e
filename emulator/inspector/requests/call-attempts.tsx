import type { RequestSummary } from '../../src/http/log/request-record.js';
import { inColor } from '../parts/gauge.js';
import { requests } from '../service/live.js';
import { linkTo } from '../service/router.js';
import { duration, timeOf } from '../service/words.js';
import { isFailed } from './filter.js';

/** The first request of the call, or of the similar ones, that a request belongs to. */
function firstOf({ requestId, attempt, similar }: RequestSummary): string {
  return attempt?.call ?? similar?.first ?? requestId;
}

/** The attempts of the call that a request belongs to, or the ones similar to it, oldest first; itself at least. */
export function attemptsOf(all: readonly RequestSummary[], id: string): RequestSummary[] {
  const own = all.find(({ requestId }) => requestId === id);
  const first = own === undefined ? id : firstOf(own);
  return all.filter((request) => firstOf(request) === first);
}

/** Why an attempt ended as it did, in a few words. */
function reasonOf({ fault, limit, outcome, status, error }: RequestSummary & { error?: string | undefined }): string {
  if (fault !== undefined) return `fault: ${fault}`;
  if (limit !== undefined) return `limit ${limit.name}: ${limit.asked} of ${limit.allowed} ${limit.unit}`;
  if (outcome === 'aborted') return 'the client disconnected';
  if (outcome === 'pending') return 'in progress';
  if (error !== undefined || status === 500) return 'failed inside the emulator';
  return status !== undefined && status < 400 ? 'succeeded' : 'refused';
}

/** The attempts of one call on one line of time. */
export function CallAttempts({ id }: { id: string }) {
  const attempts = attemptsOf(requests.value, id);
  const [first] = attempts;
  if (first === undefined || attempts.length < 2) return null;
  const start = Date.parse(first.receivedAt);
  const end = Math.max(...attempts.map(endOf));
  const place = (time: number): string => `${end === start ? 0 : (100 * (time - start)) / (end - start)}%`;
  const by = attempts.at(-1)?.attempt?.by;
  const title = by === undefined ? `${attempts.length} similar requests` : `${attempts.length} attempts of one call`;
  return (
    <section class="call" aria-label={title}>
      <h3>{title}</h3>
      <p class="soft">
        {by === undefined
          ? 'Method, path, key and body are the same, and each follows a failure. Nothing tells whether one call sent them.'
          : `Joined by the header ${HEADERS[by]}.`}{' '}
        {duration(end - start)} on the emulator's clock.
      </p>
      <ol class="link-rows attempts">
        {attempts.map((attempt, i) => {
          const { requestId, status, receivedAt } = attempt;
          const at = Date.parse(receivedAt);
          const before = attempts[i - 1];
          return (
            <li key={requestId}>
              <a href={linkTo('requests', requestId)} aria-current={requestId === id ? 'true' : undefined}>
                <span class={`status ${isFailed(attempt) ? 'failed' : 'good'}`}>{status ?? '···'}</span>
                <span class="grow">
                  {reasonOf(attempt)}
                  <small class="soft">
                    {before !== undefined && `after a wait of ${duration(at - endOf(before))} · `}
                    {timeOf(receivedAt)} · {duration(endOf(attempt) - at)}
                  </small>
                </span>
              </a>
              <div class="track" aria-hidden="true">
                <span
                  style={{
                    ...inColor(isFailed(attempt) ? 'bad' : 'series-0'),
                    left: `min(${place(at)}, 100% - 6px)`,
                    right: `calc(100% - ${place(endOf(attempt))})`,
                  }}
                />
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const HEADERS = { call: 'X-Call-Attempt', 'idempotency-key': 'Idempotency-Key', traceparent: 'traceparent' };

function endOf({ receivedAt, duration: ms = 0 }: RequestSummary): number {
  return Date.parse(receivedAt) + ms;
}
