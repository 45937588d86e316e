import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { HttpError } from '../base/errors.js';
import { faultInJson } from '../faults/faults.js';
import { activeFault, type FaultRule, ruleInJson } from '../faults/rule.js';
import { clockBody, overviewQuery, requestsQuery, resendBody } from './bodies.js';
import { bodyOf, type ControlledEmulator, type ControlRoutes, checkedBody, found, idOf } from './control-routes.js';
import {
  answersResponse,
  environmentResponse,
  idResponse,
  ok,
  overviewResponse,
  requestRecord,
  snapshotInfo,
  stateForm,
  timeResponse,
} from './responses.js';
import { checkedState } from './state-schema.js';

/** State, faults, received requests, and the clock. */
export function systemRoutes(routes: ControlRoutes, emulator: ControlledEmulator): void {
  const { faults, clock } = emulator;

  routes.route('/overview', {
    GET: {
      id: 'getOverview',
      summary: 'Get the overview of the inspector',
      query: overviewQuery,
      responses: { 200: overviewResponse },
      handle: (c) => c.json(emulator.overview(c.req.query('search'))),
    },
  });
  routes.route('/state', {
    GET: {
      id: 'getState',
      summary: 'Get a snapshot of all stored data',
      responses: { 200: stateForm },
      handle: (c) => c.json(emulator.state()),
    },
    PUT: {
      id: 'putState',
      summary: 'Restore a snapshot',
      body: stateForm,
      responses: { 200: ok },
      handle: async (c) => {
        emulator.restore(checkedState(await bodyOf(c)));
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/snapshots', {
    GET: {
      id: 'listSnapshots',
      summary: 'List the kept snapshots, newest first',
      responses: { 200: z.array(snapshotInfo) },
      handle: (c) => c.json(emulator.snapshots.list()),
    },
  });
  routes.route('/snapshots/:name', {
    PUT: {
      id: 'keepSnapshot',
      summary: 'Keep a snapshot of all stored data under a name, until the emulator stops',
      responses: { 200: snapshotInfo },
      handle: (c) => {
        const time = new Date(clock.now()).toISOString();
        return c.json(emulator.snapshots.keep(idOf(c, 'name'), emulator.state(), time));
      },
    },
    DELETE: {
      id: 'deleteSnapshot',
      summary: 'Delete a kept snapshot',
      responses: { 200: ok },
      handle: (c) => {
        if (!emulator.snapshots.delete(idOf(c, 'name'))) throw new HttpError(404, 'there is no such snapshot');
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/snapshots/:name/restore', {
    POST: {
      id: 'restoreSnapshot',
      summary: 'Restore a kept snapshot, with its clock',
      responses: { 200: ok },
      handle: (c) => {
        emulator.restore(found(emulator.snapshots.get(idOf(c, 'name')), 'snapshot'));
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/answers', {
    GET: {
      id: 'getAnswers',
      summary: 'Get where completions come from, and all recordings',
      responses: { 200: answersResponse },
      handle: (c) => c.json(emulator.answers()),
    },
  });
  routes.route('/environment', {
    GET: {
      id: 'getEnvironment',
      summary: 'Get the variables that point a program to this emulator, with its first key and token',
      responses: { 200: environmentResponse },
      handle: (c) =>
        c.json({
          CONTEXT_GATEWAY_BASE_URL: new URL(c.req.url).origin,
          CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret,
          CONTEXT_GATEWAY_SESSION_TOKEN: emulator.sessionToken,
        }),
    },
  });
  routes.route('/reset', {
    POST: {
      id: 'reset',
      summary: 'Restore the initial state, with the same keys',
      responses: { 200: ok },
      handle: (c) => {
        emulator.reset();
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/scopes/:name', {
    DELETE: {
      id: 'endScope',
      summary: 'End a scope that requests created with the header X-Emulator-Scope',
      responses: { 200: ok },
      handle: async (c) => {
        if (!(await emulator.endScope(idOf(c, 'name')))) throw new HttpError(404, 'there is no such scope');
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/clock', {
    POST: {
      id: 'advanceClock',
      summary: 'Advance the clock, by some time or to a time',
      body: clockBody,
      responses: { 200: timeResponse },
      handle: async (c) => {
        const { to, advance = 0 } = await checkedBody(c, clockBody);
        emulator.advanceClock(to === undefined ? advance : Math.max(0, Date.parse(to) - clock.now()));
        return c.json({ time: new Date(clock.now()).toISOString() });
      },
    },
  });
  routes.route('/requests', {
    GET: {
      id: 'listRequests',
      summary: 'List the newest requests, or the first ones after a given request; oldest first',
      query: requestsQuery,
      responses: { 200: z.array(requestRecord) },
      handle: (c) => {
        const { after, limit } = checked(requestsQuery, c.req.query());
        return c.json(emulator.recentRequests(Number(limit ?? 100), after));
      },
    },
  });

  routes.route('/requests/:id', {
    GET: {
      id: 'getRequest',
      summary: 'Get a request and its response',
      responses: { 200: requestRecord },
      handle: (c) => c.json(found(emulator.request(idOf(c)), 'request')),
    },
  });

  routes.route('/requests/:id/resend', {
    POST: {
      id: 'resendRequest',
      summary: 'Send a request once more, with changes and with its own key',
      body: resendBody,
      responses: { 202: idResponse },
      handle: async (c) => {
        const changes = await checkedBody(c, resendBody);
        return c.json({ id: found(emulator.resend(idOf(c), changes), 'request') }, 202);
      },
    },
  });

  routes.route('/faults', {
    GET: {
      id: 'listFaults',
      summary: 'List fault rules',
      responses: { 200: z.array(activeFault) },
      handle: (c) => c.json(faults.list().map(faultInJson)),
    },
    POST: {
      id: 'addFault',
      summary: 'Add a fault rule for the next matching requests',
      body: ruleInJson,
      responses: { 201: idResponse },
      // `add` checks the rule.
      handle: async (c) => c.json({ id: faults.add((await bodyOf(c)) as FaultRule) }, 201),
    },
    DELETE: {
      id: 'clearFaults',
      summary: 'Delete all fault rules',
      responses: { 200: ok },
      handle: (c) => {
        faults.clear();
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/faults/:id', {
    DELETE: {
      id: 'removeFault',
      summary: 'Delete a fault rule',
      responses: { 200: ok },
      handle: (c) => {
        if (!faults.remove(idOf(c))) throw new HttpError(404, 'there is no such fault rule');
        return c.json({ ok: true });
      },
    },
  });
}
