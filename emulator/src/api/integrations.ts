import { badRequest } from '../base/errors.js';
import { type AreaRoutes, pathParam } from '../http/area-routes.js';
import { json } from '../http/plain-response.js';
import { list, listSchema } from './lists.js';
import { integrationBody, integrationRecord, integrationResponse } from './schemas.js';
import type { GatewayApiState } from './state.js';

/** `/v1/integrations` */
export function integrationRoutes(area: AreaRoutes, { settings, stores }: GatewayApiState): void {
  area.add('GET /v1/integrations', {
    id: 'listIntegrations',
    summary: 'List the connected integrations and their actions',
    responses: { 200: listSchema(settings.listForm, 'integrations', integrationRecord) },
    handle: () => list(settings.listForm, 'integrations', stores.integrations.list()),
  });
  area.add('POST /v1/integrations/:integration/execute', {
    id: 'executeIntegration',
    summary: 'Execute an action of an integration',
    body: integrationBody,
    responses: { 200: integrationResponse },
    handle: async (c) => {
      const body = await c.exchange.json();
      if (typeof body !== 'object' || body === null || Array.isArray(body))
        throw badRequest('body', 'The body must be a JSON object');
      return json(
        stores.integrations.execute(pathParam(c, 'integration'), new Map(Object.entries(body)), settings.strict),
      );
    },
  });
}
