import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { faultInJson } from '../faults/faults.js';
import { activeFault, type FaultRule, ruleInJson } from '../faults/rule.js';
import { resend } from '../http/log/resent.js';
import { clockBody, overviewQuery, requestsQuery, resendBody } from './bodies.js';
import { bodyOf, type ControlRoutes, checkedBody, deletion, found, idOf } from './control-routes.js';
import { limitOf, overviewOf } from './page/overview.js';
import type { EmulatorParts } from './parts.js';
import {
  answersResponse,
  environmentResponse,
  idResponse,
  limitsResponse,
  overviewResponse,
  requestRecord,
  snapshotInfo,
  stateForm,
  timeResponse,
} from './responses.js';
import { currentState, restoreState } from './state/state.js';
import { checkedState } from './state/state-schema.js';

/** State, faults, received requests, and the clock. */
export function systemRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  stateRoutes(routes, parts);
  emulatorRoutes(routes, parts);
  requestRoutes(routes, parts);
  faultRoutes(routes, parts);
}

/** The stored data. */
function stateRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  const { snapshots, clock, changes } = parts;
  routes.add('GET /overview', {
    id: 'getOverview',
    summary: 'Get the overview of the inspector',
    query: overviewQuery,
    responses: { 200: overviewResponse },
    handle: (c) => overviewOf(parts, c.req.query('search')),
  });
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
    handle: async (c) => restoreState(parts, checkedState(await bodyOf(c))),
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
    handle: (c) => {
      const time = new Date(clock.now()).toISOString();
      const kept = snapshots.keep(idOf(c, 'name'), currentState(parts), time);
      changes.notify('snapshots');
      return kept;
    },
  });
  routes.add('DELETE /snapshots/:name', {
    ...deletion('deleteSnapshot', 'snapshot', (c) => {
      changes.notify('snapshots');
      return snapshots.delete(idOf(c, 'name'));
    }),
    summary: 'Delete a kept snapshot',
  });
  routes.add('POST /snapshots/:name/restore', {
    id: 'restoreSnapshot',
    summary: 'Restore a kept snapshot, with its clock',
    handle: (c) => restoreState(parts, found(snapshots.get(idOf(c, 'name')), 'snapshot')),
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
    responses: { 200: environmentResponse },
    handle: (c) =>
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
    ...deletion('endScope', 'scope', (c) => endScope(idOf(c, 'name'))),
    summary: 'End a scope that requests created with the header X-Emulator-Scope',
  });
  routes.add('GET /limits', {
    id: 'listLimits',
    summary: 'List the rate limits that have requests in their window',
    responses: { 200: limitsResponse },
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
    handle: async (c) => {
      const { to, advance = 0 } = await checkedBody(c, clockBody);
      clock.advance(to === undefined ? advance : Math.max(0, Date.parse(to) - clock.now()));
      changes.notify('clock');
      return { time: new Date(clock.now()).toISOString() };
    },
  });
}

/** The log of requests. */
function requestRoutes(routes: ControlRoutes, { log, fetch }: EmulatorParts): void {
  routes.add('GET /requests', {
    id: 'listRequests',
    summary: 'List the newest requests, or the first ones after a given request; oldest first',
    query: requestsQuery,
    responses: { 200: z.array(requestRecord) },
    handle: (c) => {
      const { after, limit } = checked(requestsQuery, c.req.query());
      return log.recent(Number(limit ?? 100), after);
    },
  });
  routes.add('GET /requests/:id', {
    id: 'getRequest',
    summary: 'Get a request and its response',
    responses: { 200: requestRecord },
    handle: (c) => found(log.find(idOf(c)), 'request'),
  });
  routes.add('POST /requests/:id/resend', {
    id: 'resendRequest',
    summary: 'Send a request once more, with changes and with its own key',
    body: resendBody,
    responses: { 202: idResponse },
    handle: async (c) => {
      const changes = await checkedBody(c, resendBody);
      return { id: found(resend(log, fetch, idOf(c), changes), 'request') };
    },
  });
}

/** Fault rules. */
function faultRoutes(routes: ControlRoutes, { faults }: EmulatorParts): void {
  routes.add('GET /faults', {
    id: 'listFaults',
    summary: 'List fault rules',
    responses: { 200: z.array(activeFault) },
    handle: () => faults.list().map(faultInJson),
  });
  routes.add('POST /faults', {
    id: 'addFault',
    summary: 'Add a fault rule for the next matching requests',
    body: ruleInJson,
    responses: { 201: idResponse },
    // `add` checks the rule.
    handle: async (c) => ({ id: faults.add((await bodyOf(c)) as FaultRule) }),
  });
  routes.add('DELETE /faults', {
    id: 'clearFaults',
    summary: 'Delete all fault rules',
    handle: () => faults.clear(),
  });
  routes.add(
    'DELETE /faults/:id',
    deletion('removeFault', 'fault rule', (c) => faults.remove(idOf(c))),
  );
}
