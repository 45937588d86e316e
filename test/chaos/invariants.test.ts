import { expect, test } from 'vitest';
import { type Evidence, judge } from './invariants.js';
import type { Ledger, Outcome, Report } from './plan.js';

const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  ...{ operation: 'safe-1', kind: 'safe', end: 'success', attempts: [200], duration: 5, deadline: 2_400 },
  ...more,
});

const effect: Outcome = outcome({ operation: 'effect-1', kind: 'effect' });

const report: Report = {
  outcomes: [outcome(), effect],
  outage: { calls: 1_000, sends: 1_100 },
  window: { calls: 150, failed: 0 },
  bareFailed: 0,
  retries: {},
  stops: {},
  ...{ leaks: [], quotes: [], unhandled: [] },
  ...{ timers: 0, listeners: 0, hanging: 0, connectionsClosed: 0 },
  memory: { start: 1, peak: 2, heapStart: 1, heapEnd: 2 },
  ...{ lateness: 1, heldUp: 2, seconds: 11 },
  flood: { error: 'ResponseValidationError', printed: 900, took: 80, returned: 50_000 },
  batch: { missing: 0, ticks: 30, grown: 0 },
};

const ledger: Ledger = {
  ...{ requests: 2, connections: 2, slack: [3], trapped: 0, fullestWindow: 50, mixedUp: 0 },
  commits: { 'effect-1': 1 },
  sends: { 'safe-1': 1, 'effect-1': 1 },
  bare: { requests: 210, rejected: 10 },
};

/** The invariants that do not hold for a good run with these changes. */
function brokenBy({ report: seen, ledger: counted, lingered = 5 }: BadRun): string[] {
  const evidence: Evidence = { report: { ...report, ...seen }, ledger: { ...ledger, ...counted }, lingered };
  return judge(evidence).flatMap(({ id, holds }) => (holds ? [] : id));
}

interface BadRun {
  report?: Partial<Report>;
  ledger?: Partial<Ledger>;
  lingered?: number;
}

const with1 = (more: Partial<Outcome>): BadRun => ({ report: { outcomes: [outcome(), { ...effect, ...more }] } });
const MB = 1024 ** 2;

const BAD: readonly [bug: string, run: BadRun, ...broken: string[]][] = [
  ['an effect happens twice', { ledger: { commits: { 'effect-1': 2 } } }, 'I1', 'I2'],
  ["a call with sent: 'no' has had its effect", with1({ end: 'APIConnectionError', sent: 'no' }), 'I2'],
  ['a successful call has had no effect', { ledger: { commits: {} } }, 'I2'],
  ['a POST is repeated after a 500', with1({ attempts: [500, 200] }), 'I3'],
  ['a POST that may have been read is repeated', { ledger: { sends: { 'safe-1': 1, 'effect-1': 2 } } }, 'I3', 'I11'],
  ['a call is tried seven times', with1({ attempts: [503, 503, 503, 503, 503, 503, 200] }), 'I3'],
  ['a GET is repeated after a 404', { report: { outcomes: [outcome({ attempts: [404, 200] }), effect] } }, 'I3'],
  ['a wait does not end with the deadline', with1({ end: 'APITimeoutError', overrun: 900 }), 'I4'],
  ['an abort does not end its call', with1({ end: 'AbortError', abort: 900 }), 'I5'],
  ['a hint is not read', { ledger: { slack: [3, -20] } }, 'I6'],
  ['an error of undici is thrown', with1({ end: 'foreign' }), 'I7'],
  ['a rejection is not handled', { report: { unhandled: ['unhandledRejection: x'] } }, 'I8'],
  ...['timers', 'listeners', 'hanging', 'connectionsClosed'].map((what): (typeof BAD)[number] => [
    `${what} are left`,
    { report: { [what]: 1 } },
    'I9',
  ]),
  ['the process does not end', { lingered: 1_050 }, 'I9'],
  ['the heap grows', { report: { memory: { start: 1, peak: 2, heapStart: 0, heapEnd: 20 * MB } } }, 'I10'],
  ['bodies are held', { report: { memory: { start: 0, peak: 200 * MB, heapStart: 1, heapEnd: 2 } } }, 'I10'],
  ['an outage is retried', { report: { outage: { calls: 1_000, sends: 3_000 } } }, 'I11'],
  ['a redirect is followed', { ledger: { trapped: 1 } }, 'I12'],
  ['an error keeps the key', { report: { leaks: ['error.request.key'] } }, 'I13'],
  ['a truncated stream ends well', with1({ problem: 'a stream of 11 pieces' }), 'I14'],
  ['a call gets the response of another', with1({ problem: 'the response of another call' }), 'I15'],
  ['a request has the payload of another', { ledger: { mixedUp: 1 } }, 'I15'],
  ['the event loop is blocked', { report: { heldUp: 150 } }, 'I16'],
  ['safe calls fail', { report: { outcomes: [outcome({ end: 'InternalServerError' }), effect] } }, 'I17'],
  ['the limit is exceeded', { ledger: { fullestWindow: 60 } }, 'I18'],
  ['a call under the limit fails', { report: { window: { calls: 150, failed: 1 } } }, 'I18'],
  ['a prompt is printed', { report: { quotes: ['error.message'] } }, 'I19'],
  ['a bare 429 slows nothing down', { ledger: { bare: { requests: 300, rejected: 100 } } }, 'I20'],
  ['a bare 429 fails calls', { report: { bareFailed: 1 } }, 'I20'],
  ['too many mistakes are an error of zod', { report: { flood: { ...report.flood, error: 'RangeError' } } }, 'I21'],
  ['too many mistakes lose the reply', { report: { flood: { ...report.flood, returned: 0 } } }, 'I21'],
  ['a batch keeps what it has delivered', { report: { batch: { ...report.batch, grown: 40 * MB } } }, 'I22'],
  ['a batch loses a result', { report: { batch: { ...report.batch, missing: 1 } } }, 'I22'],
];

test('a good run breaks no invariant', () => {
  expect(brokenBy({})).toEqual([]);
});

test.each(BAD)('is noticed: %s', (_, run, ...broken) => {
  expect(brokenBy(run)).toEqual(broken);
});

test('each invariant can fail', () => {
  const ids = judge({ report, ledger, lingered: 0 }).map(({ id }) => id);

  expect(new Set(BAD.flatMap(([, , ...broken]) => broken))).toEqual(new Set(ids));
});
