import { AreaRoutes } from '../http/area-routes.js';
import { completionRoutes } from './completions.js';
import { fileRoutes } from './files.js';
import { integrationRoutes } from './integrations.js';
import { presetRoutes } from './presets.js';
import type { GatewayApiState } from './state.js';
import { usageRoutes } from './usage.js';

/** The Gateway API: everything under `/v1`. */
export function gatewayRoutes(state: GatewayApiState): AreaRoutes {
  const area = new AreaRoutes();
  completionRoutes(area, state);
  presetRoutes(area, state);
  fileRoutes(area, state);
  integrationRoutes(area, state);
  usageRoutes(area, state);
  const known = area.endpoints.map(({ method, path }) => `${method} ${path}`);
  for (const endpoint of state.settings.publishableEndpoints) requireEndpoint(known, endpoint);
  return area;
}

/** Throws a RangeError for an unknown endpoint, so that a typo in the option does not go unnoticed. */
function requireEndpoint(known: readonly string[], endpoint: string): void {
  const plain = (text: string): string => text.replace(/:[^/]+/g, ':');
  if (known.some((one) => plain(one) === plain(endpoint))) return;
  throw new RangeError(`publishableEndpoints: unknown endpoint ${endpoint}; use ${known.join(', ')}`);
}
