import { FLOOD, type Ledger, type Outcome, type Report, WINDOW } from './plan.js';

/** The result of checking one invariant. */
export interface Verdict {
  readonly id: string;
  readonly what: string;
  readonly seen: string;
  readonly holds: boolean;
}

/** `lingered`: how long the process ran after its work, in ms. */
export interface Evidence {
  readonly report: Report;
  readonly ledger: Ledger;
  readonly lingered: number;
}

const REFUSED = new Set<number | string>([429, 503]);
const TEMPORARY = new Set<number | string>([408, 425, 429, 500, 502, 503, 504]);
/** Failures that a retry cannot help, or that the caller caused. */
const LASTING = new Set(['400', '409', '422', '307', 'AbortError', 'ClientClosedError', 'ResponseTooLargeError']);

export function judge({ report, ledger, lingered }: Evidence): Verdict[] {
  const { outcomes, flood, batch } = report;
  const effects = outcomes.filter(({ kind }) => kind === 'effect' || kind === 'upload' || kind === 'stream');
  const commitsOf = ({ operation }: Outcome): number => ledger.commits[operation] ?? 0;
  const verdict = (id: string, what: string, seen: string, holds: boolean): Verdict => ({ id, what, seen, holds });
  const none = (id: string, what: string, found: readonly unknown[]): Verdict =>
    verdict(id, what, found.length === 0 ? 'none otherwise' : `${found.length}: ${show(found[0])}`, found.length === 0);

  const overruns = outcomes.flatMap(({ overrun }) => overrun ?? []);
  const aborts = outcomes.flatMap(({ abort, end }) => (abort !== undefined && end === 'AbortError' ? [abort] : []));
  const safe = outcomes.filter(
    ({ kind, deadline, end, detail }) =>
      kind === 'safe' && deadline > 1_000 && !LASTING.has(end) && !LASTING.has(detail ?? ''),
  );
  const succeeded = safe.filter(({ end }) => end === 'success').length;
  const sends = outcomes.reduce((sum, { operation }) => sum + (ledger.sends[operation] ?? 0), 0);
  const repeated = effects.filter((o) => commitsOf(o) > 1);
  const lying = effects.filter((o) => o.sent === 'no' && commitsOf(o) > 0);
  const undone = effects.filter((o) => o.end === 'success' && commitsOf(o) !== 1);
  const forbidden = outcomes.filter((o) => !obeysMatrix(o, ledger));
  const withProblem = (words: string): Outcome[] => outcomes.filter(({ problem }) => problem?.includes(words));
  const foreign = outcomes.filter(({ end, problem }) => end === 'foreign' || problem?.startsWith('an '));
  const mixedUp = [...withProblem('another call'), ...Array(ledger.mixedUp).fill('payload')];
  const early = ledger.slack.filter((slack) => slack < -5);
  const { memory } = report;
  const [rss, heap] = [mb(memory.peak - memory.start), mb(memory.heapEnd - memory.heapStart)];
  const retried = report.outage.sends - report.outage.calls;
  const left = [report.timers, report.listeners, report.hanging, report.connectionsClosed];

  return [
    none('I1', 'an effect happens at most once', repeated),
    none('I2', "sent: 'no' means no effect, success means exactly one", [...lying, ...undone]),
    none('I3', 'retries follow the matrix, with at most six requests a call', forbidden),
    verdict(
      'I4',
      'calls end at their deadline, p90 within 50 ms',
      `${overruns.length} at it, p90 ${ms(p(overruns, 90))} after a plain timer, max ${ms(p(overruns, 100))}`,
      p(overruns, 90) <= 50 + report.lateness,
    ),
    verdict(
      'I5',
      'an abort ends its call, p99 within 50 ms',
      `${aborts.length}, p99 ${ms(p(aborts, 99))}, max ${ms(p(aborts, 100))}`,
      p(aborts, 99) <= 50 + report.lateness,
    ),
    verdict(
      'I6',
      'no retry before the wait that the service asked for',
      `${ledger.slack.length} hints, earliest ${ms(Math.min(...ledger.slack))} after`,
      early.length === 0,
    ),
    none('I7', 'every failure is one of our error classes, with its facts', foreign),
    none('I8', 'no unhandled rejection, exception or warning', report.unhandled),
    verdict(
      'I9',
      'no timers, listeners, connections or processes are left',
      `${left.join(', ')}; gone after ${ms(lingered)}`,
      // A busy machine ends a process late, as it does with timers.
      left.every((n) => n === 0) && lingered <= 1_000 + 20 * report.lateness,
    ),
    verdict('I10', 'memory stays flat', `rss +${rss} MB, heap +${heap} MB`, rss <= 150 && heap <= 15),
    verdict(
      'I11',
      'few more requests than calls, and at most 200 in an outage',
      `${(sends / Math.max(1, outcomes.length)).toFixed(3)} and ${retried}`,
      sends <= 1.2 * outcomes.length && retried <= 200,
    ),
    verdict('I12', 'no redirect is followed', `${ledger.trapped}`, ledger.trapped === 0),
    none('I13', 'no key in an error, an event or a client', report.leaks),
    none('I14', 'a stream that ends well is complete, to the byte', withProblem('stream')),
    none('I15', 'no response and no payload of another call', mixedUp),
    verdict(
      'I16',
      'the event loop is not blocked, p99 within 100 ms',
      `p99 ${ms(report.heldUp)}; timers were ${ms(report.lateness)} late`,
      report.heldUp <= 100,
    ),
    verdict(
      'I17',
      '99 of 100 calls without an effect succeed',
      percent(succeeded, safe.length),
      succeeded >= 0.99 * safe.length,
    ),
    verdict(
      'I18',
      'the rate limit is kept, and all calls under it succeed',
      `${ledger.fullestWindow} of ${WINDOW.limit} in the fullest window, ${report.window.failed} failed`,
      ledger.fullestWindow <= WINDOW.limit * 1.02 && report.window.failed === 0,
    ),
    none('I19', 'no text of a request in an error or an event, even if the service quotes it', report.quotes),
    verdict(
      'I20',
      'a 429 that says nothing slows all calls down, and none fails',
      `${percent(ledger.bare.rejected, ledger.bare.requests)} rejected, ${report.bareFailed} failed`,
      ledger.bare.rejected <= 0.2 * ledger.bare.requests && report.bareFailed === 0,
    ),
    verdict(
      'I21',
      '200,000 mistakes are one short error, or are returned',
      `${flood.error}, ${flood.printed} characters after ${ms(flood.took)} of CPU time; ${flood.returned} choices returned`,
      flood.error === 'ResponseValidationError' &&
        flood.printed <= 20_000 &&
        flood.took <= 3_000 &&
        flood.returned === FLOOD,
    ),
    verdict(
      'I22',
      'a batch keeps no outcome that was taken, and lets timers run',
      `memory +${mb(batch.grown)} MB, ${batch.ticks} ticks, ${batch.missing} missing`,
      mb(batch.grown) <= 10 && batch.ticks > 5 && batch.missing === 0,
    ),
  ];
}

/** Checks that each retry was allowed. An attempt that was rejected or never sent had no effect. */
function obeysMatrix({ kind, attempts, operation }: Outcome, ledger: Ledger): boolean {
  const earlier = attempts.slice(0, -1);
  const sends = ledger.sends[operation] ?? 0;
  if (attempts.length > 6 || sends > attempts.length) return false;
  if (kind === 'safe' || kind === 'idempotent') {
    return earlier.every((attempt) => typeof attempt === 'string' || TEMPORARY.has(attempt));
  }
  const refused = earlier.filter((attempt) => REFUSED.has(attempt)).length;
  return sends <= refused + 1 && earlier.every((attempt) => typeof attempt === 'string' || REFUSED.has(attempt));
}

/** A percentile, or 0 for an empty list. */
export function p(values: readonly number[], rank: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((rank / 100) * sorted.length))] ?? 0;
}

export function ms(value: number): string {
  return Number.isFinite(value) ? `${value.toFixed(value < 10 ? 1 : 0)} ms` : '–';
}

export function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} % of ${whole}`;
}

function mb(bytes: number): number {
  return Math.max(0, Math.round(bytes / 1024 ** 2));
}

function show(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 160);
}
