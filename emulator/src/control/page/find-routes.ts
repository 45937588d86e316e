import { Slices } from '../../base/slices.js';
import { searchRequests } from '../../http/log/request-search.js';
import { findConversationsQuery, findRequestsQuery } from '../bodies.js';
import { type ControlMethods, checkedQuery } from '../control-routes.js';
import type { EmulatorParts } from '../parts.js';
import { foundConversations, foundRequests } from '../responses.js';
import { searchConversations } from './conversation-search.js';

/** `/search/requests` */
export function requestSearchMethods({ log }: EmulatorParts): ControlMethods {
  const slices = new Slices();
  return {
    GET: {
      id: 'searchRequests',
      summary: 'Find requests of the log, newest first',
      query: findRequestsQuery,
      responses: { 200: foundRequests },
      handle: async (c) => {
        const { limit = '100', fault, ...query } = checkedQuery(c, findRequestsQuery);
        const wanted = { ...query, limit: Number(limit), fault: fault === 'true' };
        return await slices.run(searchRequests(log, wanted));
      },
    },
  };
}

/** `/search/conversations` */
export function conversationSearchMethods({ stores }: EmulatorParts): ControlMethods {
  const slices = new Slices();
  return {
    GET: {
      id: 'searchConversations',
      summary: 'Find conversations by any words of a message, newest first',
      query: findConversationsQuery,
      responses: { 200: foundConversations },
      handle: async (c) => {
        const { q, offset = '0', limit = '50' } = checkedQuery(c, findConversationsQuery);
        const wanted = { q, offset: Number(offset), limit: Number(limit) };
        return await slices.run(searchConversations(stores, wanted));
      },
    },
  };
}
