import * as z from 'zod/mini';
import { described, time } from '../base/fields.js';
import type { Account, RateLimit } from '../store/account.js';
import { answersResponse } from '../upstream/sources.js';
import { type ControlRoutes, deletion, found } from './control-routes.js';
import type { EmulatorParts } from './parts.js';
import { snapshotInfo } from './state/snapshots.js';
import { currentState, restoreState } from './state/state.js';
import { checkedState } from './state/state-schema.js';

const stateForm = described(
  'A snapshot. PUT restores what GET returned.',
  z.looseObject({ seed: z.string(), conversations: z.array(z.unknown()) }),
);
const timeResponse = z.object({ time });
const clockBody = z
  .object({
    advance: z.optional(described('Milliseconds.', z.number().check(z.gte(0)))),
    to: z.optional(
      described(
        'ISO 8601. A time that has passed changes nothing.',
        z
          .string()
          .check(z.refine((given) => !Number.isNaN(Date.parse(given)), 'not a time such as 2026-01-15T10:00:00Z')),
      ),
    ),
  })
  .check(
    z.refine(({ advance, to }) => (advance === undefined) !== (to === undefined), {
      path: ['advance'],
      error: 'give either advance or to',
    }),
  );

/** State, the environment and the clock. */
export function systemRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  stateRoutes(routes, parts);
  emulatorRoutes(routes, parts);
}

/** The stored data. */
function stateRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  const { snapshots, clock, changes } = parts;
  routes.add('GET /state', {
    id: 'getState',
    summary: 'Get a snapshot of all stored data',
    responses: { 200: stateForm },
    handle: () => currentState(parts),
  });
  routes.add('PUT /state', {
    id: 'putState',
    summary: 'Restore a snapshot',
    body: stateForm,
    handle: async ({ json }) => restoreState(parts, checkedState(await json())),
  });
  routes.add('GET /snapshots', {
    id: 'listSnapshots',
    summary: 'List the kept snapshots, newest first',
    responses: { 200: z.array(snapshotInfo) },
    handle: () => snapshots.list(),
  });
  routes.add('PUT /snapshots/:name', {
    id: 'keepSnapshot',
    summary: 'Keep a snapshot of all stored data under a name, until the emulator stops',
    responses: { 200: snapshotInfo },
    handle: ({ param }) => {
      const time = new Date(clock.now()).toISOString();
      const kept = snapshots.keep(param('name'), currentState(parts), time);
      changes.notify('snapshots');
      return kept;
    },
  });
  routes.add('DELETE /snapshots/:name', {
    ...deletion('deleteSnapshot', 'snapshot', ({ param }) => {
      changes.notify('snapshots');
      return snapshots.delete(param('name'));
    }),
    summary: 'Delete a kept snapshot',
  });
  routes.add('POST /snapshots/:name/restore', {
    id: 'restoreSnapshot',
    summary: 'Restore a kept snapshot, with its clock',
    handle: ({ param }) => restoreState(parts, found(snapshots.get(param('name')), 'snapshot')),
  });
}

/** What belongs to no record: the source of completions, the environment, scopes and the clock. */
function emulatorRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  const { answers, clock, changes, endScope, limiter, reset, stores } = parts;
  routes.add('GET /answers', {
    id: 'getAnswers',
    summary: 'Get where completions come from, and all recordings',
    responses: { 200: answersResponse },
    handle: answers,
  });
  routes.add('GET /environment', {
    id: 'getEnvironment',
    summary: 'Get the variables that point a program to this emulator, with its first key and token',
    responses: { 200: z.record(z.string(), z.string()) },
    handle: (_, c) =>
      c.json({
        CONTEXT_GATEWAY_BASE_URL: new URL(c.req.url).origin,
        CONTEXT_GATEWAY_API_KEY: stores.apiKeys.secret,
        CONTEXT_GATEWAY_SESSION_TOKEN: stores.sessions.first.token,
      }),
  });
  routes.add('POST /reset', {
    id: 'reset',
    summary: 'Restore the initial state, with the same keys',
    handle: reset,
  });
  routes.add('DELETE /scopes/:name', {
    ...deletion('endScope', 'scope', ({ param }) => endScope(param('name'))),
    summary: 'End a scope that requests created with the header X-Emulator-Scope',
  });
  routes.add('GET /limits', {
    id: 'listLimits',
    summary: 'List the rate limits that have requests in their window',
    responses: {
      200: z.array(z.object({ name: z.string(), limit: z.number(), remaining: z.number(), resetAt: time })),
    },
    handle: () =>
      limiter
        .buckets((bucket) => limitOf(bucket, stores.account))
        .map(({ resetAt, ...bucket }) => ({ ...bucket, resetAt: new Date(resetAt).toISOString() })),
  });
  routes.add('GET /clock', {
    id: 'getTime',
    summary: 'Get the time of the emulator',
    responses: { 200: timeResponse },
    handle: () => ({ time: new Date(clock.now()).toISOString() }),
  });
  routes.add('POST /clock', {
    id: 'advanceClock',
    summary: 'Advance the clock, by some time or to a time',
    body: clockBody,
    responses: { 200: timeResponse },
    handle: async ({ body }) => {
      const { to, advance = 0 } = await body();
      clock.advance(to === undefined ? advance : Math.max(0, Date.parse(to) - clock.now()));
      changes.notify('clock');
      return { time: new Date(clock.now()).toISOString() };
    },
  });
}

/** The limit of a bucket of the limiter. */
function limitOf(bucket: string, account: Account): RateLimit {
  const [kind] = bucket.split(' ', 1);
  if (kind === 'tokens' && account.tokenLimit !== undefined) return account.tokenLimit;
  return account.limit(kind === 'compact' || kind === 'context' ? kind : 'gateway');
}
