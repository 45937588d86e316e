import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { faultInJson } from '../faults/faults.js';
import { activeFault, type FaultRule, ruleInJson } from '../faults/rule.js';
import { resend } from '../http/log/resent.js';
import { clockBody, overviewQuery, requestsQuery, resendBody } from './bodies.js';
import {
  bodyOf,
  type ControlMethods,
  type ControlRoutes,
  checkedBody,
  deletion,
  found,
  idOf,
} from './control-routes.js';
import { overviewOf } from './page/overview.js';
import type { EmulatorParts } from './parts.js';
import {
  answersResponse,
  environmentResponse,
  idResponse,
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
  routes.route('/overview', overviewMethods(parts));
  routes.route('/state', stateMethods(parts));
  routes.route('/snapshots', snapshotListMethods(parts));
  routes.route('/snapshots/:name', snapshotMethods(parts));
  routes.route('/snapshots/:name/restore', restorationMethods(parts));
  routes.route('/answers', answerMethods(parts));
  routes.route('/environment', environmentMethods(parts));
  routes.route('/reset', resetMethods(parts));
  routes.route('/scopes/:name', scopeMethods(parts));
  routes.route('/clock', clockMethods(parts));
  routes.route('/requests', requestListMethods(parts));
  routes.route('/requests/:id', requestMethods(parts));
  routes.route('/requests/:id/resend', resendMethods(parts));
  routes.route('/faults', faultListMethods(parts));
  routes.route('/faults/:id', faultMethods(parts));
}

/** `/overview` */
function overviewMethods(parts: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'getOverview',
      summary: 'Get the overview of the inspector',
      query: overviewQuery,
      responses: { 200: overviewResponse },
      handle: (c) => overviewOf(parts, c.req.query('search')),
    },
  };
}

/** `/state` */
function stateMethods(parts: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'getState',
      summary: 'Get a snapshot of all stored data',
      responses: { 200: stateForm },
      handle: () => currentState(parts),
    },
    PUT: {
      id: 'putState',
      summary: 'Restore a snapshot',
      body: stateForm,
      handle: async (c) => {
        restoreState(parts, checkedState(await bodyOf(c)));
      },
    },
  };
}

/** `/snapshots` */
function snapshotListMethods({ snapshots }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listSnapshots',
      summary: 'List the kept snapshots, newest first',
      responses: { 200: z.array(snapshotInfo) },
      handle: () => snapshots.list(),
    },
  };
}

/** `/snapshots/:name` */
function snapshotMethods(parts: EmulatorParts): ControlMethods {
  const { clock, snapshots } = parts;
  return {
    PUT: {
      id: 'keepSnapshot',
      summary: 'Keep a snapshot of all stored data under a name, until the emulator stops',
      responses: { 200: snapshotInfo },
      handle: (c) => {
        const time = new Date(clock.now()).toISOString();
        return snapshots.keep(idOf(c, 'name'), currentState(parts), time);
      },
    },
    DELETE: {
      ...deletion('deleteSnapshot', 'snapshot', (c) => snapshots.delete(idOf(c, 'name'))),
      summary: 'Delete a kept snapshot',
    },
  };
}

/** `/snapshots/:name/restore` */
function restorationMethods(parts: EmulatorParts): ControlMethods {
  return {
    POST: {
      id: 'restoreSnapshot',
      summary: 'Restore a kept snapshot, with its clock',
      handle: (c) => {
        restoreState(parts, found(parts.snapshots.get(idOf(c, 'name')), 'snapshot'));
      },
    },
  };
}

/** `/answers` */
function answerMethods({ answers }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'getAnswers',
      summary: 'Get where completions come from, and all recordings',
      responses: { 200: answersResponse },
      handle: answers,
    },
  };
}

/** `/environment` */
function environmentMethods({ stores: { apiKeys, sessions } }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'getEnvironment',
      summary: 'Get the variables that point a program to this emulator, with its first key and token',
      responses: { 200: environmentResponse },
      handle: (c) =>
        c.json({
          CONTEXT_GATEWAY_BASE_URL: new URL(c.req.url).origin,
          CONTEXT_GATEWAY_API_KEY: apiKeys.secret,
          CONTEXT_GATEWAY_SESSION_TOKEN: sessions.first.token,
        }),
    },
  };
}

/** `/reset` */
function resetMethods({ reset }: EmulatorParts): ControlMethods {
  return {
    POST: {
      id: 'reset',
      summary: 'Restore the initial state, with the same keys',
      handle: () => {
        reset();
      },
    },
  };
}

/** `/scopes/:name` */
function scopeMethods({ endScope }: EmulatorParts): ControlMethods {
  return {
    DELETE: {
      ...deletion('endScope', 'scope', (c) => endScope(idOf(c, 'name'))),
      summary: 'End a scope that requests created with the header X-Emulator-Scope',
    },
  };
}

/** `/clock` */
function clockMethods({ clock, changes }: EmulatorParts): ControlMethods {
  return {
    POST: {
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
    },
  };
}

/** `/requests` */
function requestListMethods({ log }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listRequests',
      summary: 'List the newest requests, or the first ones after a given request; oldest first',
      query: requestsQuery,
      responses: { 200: z.array(requestRecord) },
      handle: (c) => {
        const { after, limit } = checked(requestsQuery, c.req.query());
        return log.recent(Number(limit ?? 100), after);
      },
    },
  };
}

/** `/requests/:id` */
function requestMethods({ log }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'getRequest',
      summary: 'Get a request and its response',
      responses: { 200: requestRecord },
      handle: (c) => found(log.find(idOf(c)), 'request'),
    },
  };
}

/** `/requests/:id/resend` */
function resendMethods({ log, fetch }: EmulatorParts): ControlMethods {
  return {
    POST: {
      id: 'resendRequest',
      summary: 'Send a request once more, with changes and with its own key',
      body: resendBody,
      responses: { 202: idResponse },
      handle: async (c) => {
        const changes = await checkedBody(c, resendBody);
        return { id: found(resend(log, fetch, idOf(c), changes), 'request') };
      },
    },
  };
}

/** `/faults` */
function faultListMethods({ faults }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listFaults',
      summary: 'List fault rules',
      responses: { 200: z.array(activeFault) },
      handle: () => faults.list().map(faultInJson),
    },
    POST: {
      id: 'addFault',
      summary: 'Add a fault rule for the next matching requests',
      body: ruleInJson,
      responses: { 201: idResponse },
      // `add` checks the rule.
      handle: async (c) => ({ id: faults.add((await bodyOf(c)) as FaultRule) }),
    },
    DELETE: {
      id: 'clearFaults',
      summary: 'Delete all fault rules',
      handle: () => {
        faults.clear();
      },
    },
  };
}

/** `/faults/:id` */
function faultMethods({ faults }: EmulatorParts): ControlMethods {
  return {
    DELETE: deletion('removeFault', 'fault rule', (c) => faults.remove(idOf(c))),
  };
}
