import * as z from 'zod/mini';
import { badRequest } from '../base/errors.js';
import { id } from '../base/fields.js';
import { type AreaRoutes, pathParam } from '../http/area-routes.js';
import { json } from '../http/plain-response.js';
import { integrationRecord, integrationResult } from '../store/integrations.js';
import { list, listSchema } from './lists.js';
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
    body: z.looseObject({ action: id }),
    responses: { 200: integrationResult },
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
