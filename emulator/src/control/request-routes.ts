import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { described, text } from '../base/fields.js';
import { Slices } from '../base/slices.js';
import { faultInJson } from '../faults/faults.js';
import { activeFault, type FaultRule, ruleInJson } from '../faults/rule.js';
import { requestRecord } from '../http/log/request-record.js';
import { foundRequests, searchRequests } from '../http/log/request-search.js';
import { resend } from '../http/log/resent.js';
import {
  bodyOf,
  type ControlRoutes,
  checkedBody,
  checkedQuery,
  deletion,
  found,
  idOf,
  idResponse,
  pageSize,
} from './control-routes.js';
import { requestEvent, requestEvents } from './page/request-events.js';
import type { EmulatorParts } from './parts.js';

const listQuery = z.object({
  after: z.optional(z.string()),
  limit: z.optional(z.string().check(z.regex(/^[1-9]\d*$/, 'a whole number from 1'))),
});
const timeText = z.string().check(z.refine((given) => given === '' || !Number.isNaN(Date.parse(given)), 'not a time'));
/** Which requests of the log. */
export const requestFilter = z.object({
  q: z.optional(
    described('Words, each in the path, the headers, the bodies, or a fact such as 429, failed or a key.', z.string()),
  ),
  code: z.optional(z.string()),
  status: z.optional(
    z.string().check(z.regex(/^(?:[1-5]\d\d|[1-5]xx|ok|failed|)$/, 'a status such as 429, or 4xx, 5xx, ok, failed')),
  ),
  conversation: z.optional(z.string()),
  key: z.optional(described('The name of the API key, or the user of the session.', z.string())),
  model: z.optional(z.string()),
  from: z.optional(timeText),
  to: z.optional(timeText),
  fault: z.optional(described('Only those to which a fault was applied.', z.enum(['true', 'false']))),
});
const searchQuery = z.object({
  ...requestFilter.shape,
  before: z.optional(described('Only those before this request.', z.string())),
  limit: z.optional(pageSize),
});
/** What to change in a request that is sent once more. */
const resendBody = z.object({
  method: z.optional(text),
  path: z.optional(text),
  headers: z.optional(
    described('All headers. A value that the log hides stays what it was.', z.record(z.string(), z.string())),
  ),
  body: z.optional(z.string()),
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
    handle: (c) => {
      const { after, limit } = checked(listQuery, c.req.query());
      return log.recent(Number(limit ?? 100), after);
    },
  });
  routes.add('GET /requests/:id', {
    id: 'getRequest',
    summary: 'Get a request and its response',
    responses: { 200: requestRecord },
    handle: (c) => found(log.find(idOf(c)), 'request'),
  });
  routes.add('GET /requests/:id/events', {
    id: 'followRequest',
    summary: 'Stream the events of a response while they are sent, as server-sent events',
    responses: { 200: { 'text/event-stream': requestEvent } },
    handle: (c) => {
      const events = found(requestEvents(log, idOf(c), [closed, c.req.raw.signal]), 'request');
      return new Response(events, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } });
    },
  });
  routes.add('GET /search/requests', {
    id: 'searchRequests',
    summary: 'Find requests of the log, newest first',
    query: searchQuery,
    responses: { 200: foundRequests },
    handle: (c) => {
      const { limit = '100', fault, ...query } = checkedQuery(c, searchQuery);
      return slices.run(searchRequests(log, { ...query, limit: Number(limit), fault: fault === 'true' }));
    },
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
