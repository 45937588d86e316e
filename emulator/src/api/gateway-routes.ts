import { AreaRoutes } from '../http/area-routes.js';
import { completionMethods } from './completions.js';
import { fileMethods } from './files.js';
import { integrationExecutionMethods, integrationMethods } from './integrations.js';
import { presetExecutionMethods, presetMethods } from './presets.js';
import type { GatewayApiState } from './state.js';
import { usageMethods } from './usage.js';

/** The Gateway API: everything under `/v1`. */
export function gatewayRoutes(state: GatewayApiState): AreaRoutes {
  const area = new AreaRoutes();
  area.route('/v1/chat/completions', completionMethods(state));
  area.route('/v1/presets', presetMethods(state));
  area.route('/v1/presets/:presetId/execute', presetExecutionMethods(state));
  area.route('/v1/files', fileMethods(state));
  area.route('/v1/integrations', integrationMethods(state));
  area.route('/v1/integrations/:integration/execute', integrationExecutionMethods(state));
  area.route('/v1/usage', usageMethods(state));
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
