import { AreaRoutes } from '../http/area-routes.js';
import { compactionMethods, contextMethods, exclusionMethods, pinMethods, summaryMethods } from './context.js';
import { memoryItemMethods, memoryMethods } from './memory.js';
import type { ContextApiState } from './state.js';

/** The Context API: everything under `/api`. */
export function contextRoutes(state: ContextApiState): AreaRoutes {
  const area = new AreaRoutes();
  area.route('/api/context', contextMethods(state));
  area.route('/api/context/summary', summaryMethods(state));
  area.route('/api/context/compact', compactionMethods(state));
  area.route('/api/context/pin/:conversationId', pinMethods(state));
  area.route('/api/context/exclude/:conversationId/:messageId', exclusionMethods(state));
  area.route('/api/memory', memoryMethods(state));
  area.route('/api/memory/:memoryId', memoryItemMethods(state));
  return area;
}
