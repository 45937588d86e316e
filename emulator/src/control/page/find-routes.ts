import { Slices } from '../../base/slices.js';
import { searchRequests } from '../../http/log/request-search.js';
import { findConversationsQuery, findRequestsQuery } from '../bodies.js';
import { type ControlRoutes, checkedQuery } from '../control-routes.js';
import type { EmulatorParts } from '../parts.js';
import { foundConversations, foundRequests } from '../responses.js';
import { searchConversations } from './conversation-search.js';

/** Searches of the inspector. */
export function findRoutes(routes: ControlRoutes, { log, stores }: EmulatorParts): void {
  const slices = new Slices();
  routes.add('GET /search/requests', {
    id: 'searchRequests',
    summary: 'Find requests of the log, newest first',
    query: findRequestsQuery,
    responses: { 200: foundRequests },
    handle: (c) => {
      const { limit = '100', fault, ...query } = checkedQuery(c, findRequestsQuery);
      return slices.run(searchRequests(log, { ...query, limit: Number(limit), fault: fault === 'true' }));
    },
  });
  routes.add('GET /search/conversations', {
    id: 'searchConversations',
    summary: 'Find conversations by any words of a message, newest first',
    query: findConversationsQuery,
    responses: { 200: foundConversations },
    handle: (c) => {
      const { q, offset = '0', limit = '50' } = checkedQuery(c, findConversationsQuery);
      return slices.run(searchConversations(stores, { q, offset: Number(offset), limit: Number(limit) }));
    },
  });
}
