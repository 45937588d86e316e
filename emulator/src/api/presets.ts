import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { badRequest, notFound } from '../base/errors.js';
import { id, label, namedObject } from '../base/fields.js';
import { mention } from '../base/mention.js';
import { type AreaRoutes, pathParam, queryOf, type RouteContext } from '../http/area-routes.js';
import { json } from '../http/plain-response.js';
import { fillTemplate, presetRecord } from '../store/presets.js';
import { bill, completionUsage, counting } from './completions.js';
import { list, listSchema } from './lists.js';
import type { GatewayApiState } from './state.js';

const presetBody = z.object({ input: z.string(), model: id });
const presetResponse = namedObject('PresetExecution', {
  id,
  object: z.literal('preset.execution'),
  preset_id: label,
  model: label,
  created: z.int(),
  output: z.string(),
  finish_reason: label,
  usage: completionUsage,
});

/** `/v1/presets` */
export function presetRoutes(area: AreaRoutes, { settings, stores, completions }: GatewayApiState): void {
  area.add('GET /v1/presets', {
    id: 'listPresets',
    summary: 'List presets',
    query: z.object({
      category: z.optional(z.string()),
      limit: z.optional(z.int().check(z.gte(1), z.lte(settings.presetsLimit.max))),
    }),
    responses: { 200: listSchema(settings.listForm, 'presets', presetRecord) },
    handle: (c) => {
      const limit = limitOf(c, settings.presetsLimit);
      return list(settings.listForm, 'presets', stores.presets.list(queryOf(c).category).slice(0, limit));
    },
  });
  area.add('POST /v1/presets/:presetId/execute', {
    id: 'executePreset',
    summary: 'Execute a preset',
    body: presetBody,
    responses: { 200: presetResponse },
    handle: async (c) => {
      const { exchange } = c;
      const presetId = pathParam(c, 'presetId');
      const preset = stores.presets.get(presetId);
      if (preset === undefined)
        throw notFound('presetId', `There is no preset ${mention(presetId)}`, 'preset_not_found');
      const { input, model } = checked(presetBody, await exchange.json(), settings.strict);
      const content = fillTemplate(preset.template, input);
      const messages = [{ role: 'user' as const, content }];
      const completion = await completions.complete(
        { model, messages },
        () => exchange.request.signal,
        counting(messages, exchange, stores),
      );
      const completed = bill(completion, stores, exchange);
      return json({
        id: stores.ids.next('presetrun'),
        object: 'preset.execution',
        preset_id: preset.id,
        model,
        created: Math.floor(settings.clock.now() / 1000),
        output: completed.content,
        finish_reason: completion.finishReason,
        usage: completed.usage,
      });
    },
  });
}

function limitOf(c: RouteContext, bounds: { default: number; max: number }): number {
  const value = queryOf(c).limit;
  if (value === undefined) return bounds.default;
  const limit = Number(value);
  if (/^\d+$/.test(value) && limit >= 1 && limit <= bounds.max) return limit;
  throw badRequest('limit', `limit must be a whole number from 1 to ${bounds.max}`);
}
