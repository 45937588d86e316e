import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { described } from '../base/fields.js';
import { Slices } from '../base/slices.js';
import { faultInJson } from '../faults/faults.js';
import { activeFault, type FaultRule, ruleInJson } from '../faults/rule.js';
import { requestRecord } from '../http/log/request-record.js';
import { foundRequests, requestFilter, searchRequests } from '../http/log/request-search.js';
import { requestChanges, resend } from '../http/log/resent.js';
import { type ControlRoutes, deletion, found, idResponse, pageSize } from './control-routes.js';
import { requestEvent, requestEvents } from './page/request-events.js';
import type { EmulatorParts } from './parts.js';

const listQuery = z.object({
  after: z.optional(z.string()),
  limit: z.optional(z.string().check(z.regex(/^[1-9]\d*$/, 'a whole number from 1'))),
});
/** The log of requests, and the faults for the next ones. */
export function requestRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  logRoutes(routes, parts);
  faultRoutes(routes, parts);
}

/** The log of requests. */
function logRoutes(routes: ControlRoutes, { log, fetch, closed }: EmulatorParts): void {
  const slices = new Slices();
  routes.add('GET /requests', {
    id: 'listRequests',
    summary: 'List the newest requests, or the first ones after a given request; oldest first',
    query: listQuery,
    responses: { 200: z.array(requestRecord) },
    handle: (_, c) => {
      const { after, limit } = checked(listQuery, c.req.query());
      return log.recent(Number(limit ?? 100), after);
    },
  });
  routes.add('GET /requests/:id', {
    id: 'getRequest',
    summary: 'Get a request and its response',
    responses: { 200: requestRecord },
    handle: ({ id }) => found(log.find(id), 'request'),
  });
  routes.add('GET /requests/:id/events', {
    id: 'followRequest',
    summary: 'Stream the events of a response while they are sent, as server-sent events',
    responses: { 200: { 'text/event-stream': requestEvent } },
    handle: ({ id }, c) => {
      const events = found(requestEvents(log, id, [closed, c.req.raw.signal]), 'request');
      return new Response(events, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } });
    },
  });
  routes.add('GET /search/requests', {
    id: 'searchRequests',
    summary: 'Find requests of the log, newest first',
    query: z.object({
      ...requestFilter.shape,
      before: z.optional(described('Only those before this request.', z.string())),
      limit: z.optional(pageSize),
    }),
    responses: { 200: foundRequests },
    handle: ({ query }) => {
      const { limit = '100', ...which } = query();
      return slices.run(searchRequests(log, { ...which, limit: Number(limit) }));
    },
  });
  routes.add('POST /requests/:id/resend', {
    id: 'resendRequest',
    summary: 'Send a request once more, with changes and with its own key',
    body: requestChanges,
    responses: { 202: idResponse },
    handle: async ({ id, body }) => {
      const changes = await body();
      return { id: found(resend(log, fetch, id, changes), 'request') };
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
    handle: async ({ json }) => ({ id: faults.add((await json()) as FaultRule) }),
  });
  routes.add('DELETE /faults', {
    id: 'clearFaults',
    summary: 'Delete all fault rules',
    handle: () => faults.clear(),
  });
  routes.add(
    'DELETE /faults/:id',
    deletion('removeFault', 'fault rule', ({ id }) => faults.remove(id)),
  );
}
