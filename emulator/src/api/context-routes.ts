import { AreaRoutes } from '../http/area-routes.js';
import { conversationRoutes } from './context.js';
import { memoryRoutes } from './memory.js';
import type { ContextApiState } from './state.js';

/** The Context API: everything under `/api`. */
export function contextRoutes(state: ContextApiState): AreaRoutes {
  const area = new AreaRoutes();
  conversationRoutes(area, state);
  memoryRoutes(area, state);
  return area;
}
