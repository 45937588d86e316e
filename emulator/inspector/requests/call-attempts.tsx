import type { RequestSummary } from '../../src/http/request-log.js';
import { requests } from '../service/live.js';
import { linkTo } from '../service/router.js';
import { duration, timeOf } from '../service/words.js';
import { isFailed } from './filter.js';

/** The attempts of the call that a request belongs to, oldest first; only itself if nothing was repeated. */
function attemptsOf(all: readonly RequestSummary[], id: string): RequestSummary[] {
  const call = all.find(({ requestId }) => requestId === id)?.attempt?.call ?? id;
  return all.filter(({ requestId, attempt }) => requestId === call || attempt?.call === call);
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
  return (
    <section class="call" aria-label="Attempts of one call">
      <h3>{attempts.length} attempts of one call</h3>
      <p class="soft">
        {by === 'same request'
          ? 'Joined because method, path, key and body are the same, and each follows a failure.'
          : `Joined by the header ${by}.`}{' '}
        {duration(end - start)} on the emulator's clock.
      </p>
      <ol class="attempts">
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
                  class={isFailed(attempt) ? 'failed' : 'good'}
                  style={{ left: place(at), right: `calc(100% - ${place(endOf(attempt))})` }}
                />
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function endOf({ receivedAt, duration: ms = 0 }: RequestSummary): number {
  return Date.parse(receivedAt) + ms;
}
