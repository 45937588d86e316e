import type { Hono } from 'hono';
import * as z from 'zod/mini';
import { areaRoutes, json, pathParam, type RouteContext, type RouteEnv, route } from './answers.js';
import { checked, parseMultipart } from './body.js';
import { type Completion, type Completions, completionRequest, usageOf } from './completions.js';
import { badRequest, notFound, Refusal } from './errors.js';
import type { Settings } from './options.js';
import type { IdSource } from './random.js';
import type { Files } from './store/files.js';
import type { Integrations } from './store/integrations.js';
import { fillTemplate, type Presets } from './store/presets.js';
import type { Usage } from './store/usage.js';
import { completionEvents, eventBody } from './stream.js';
import { usageReport } from './usage-report.js';

/** The state the Gateway API works on. */
export interface GatewayApiState {
  settings: Settings;
  ids: IdSource;
  completions: Completions;
  presets: Presets;
  files: Files;
  integrations: Integrations;
  usage: Usage;
}

/** The Gateway API: everything under `/v1`. */
export function gatewayRoutes(state: GatewayApiState): Hono<RouteEnv> {
  const { settings, ids, completions, presets, files, integrations, usage } = state;
  const now = (): number => settings.clock.now();
  const app = areaRoutes();

  // A3: a list comes wrapped as the setting says.
  const list = (name: 'presets' | 'integrations', records: unknown[]): Response => {
    if (settings.listForm === 'bare') return json(records);
    if (settings.listForm === 'named') return json({ [name]: records });
    return settings.listForm === 'items' ? json({ items: records }) : json({ object: 'list', data: records });
  };
  /** The text of a whole answer, billed. */
  const written = (completion: Completion): { content: string; usage: ReturnType<typeof usageOf> } => {
    const counted = usageOf(completion.promptTokens, completion.tokens.count);
    usage.add(completion.model, counted.total_tokens);
    return { content: completion.tokens.pieces.join(''), usage: counted };
  };
  const streamed = (completion: Completion, id: string, created: number): Response => {
    const stop = new AbortController();
    const { clock, pace } = settings;
    const bill = (tokens: number): void => usage.add(completion.model, completion.promptTokens + tokens);
    const events = completionEvents(completion, { id, created, clock, pace, signal: stop.signal, bill });
    return new Response(eventBody(events, stop), {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    });
  };

  route(app, '/v1/chat/completions', {
    POST: async (c) => {
      const request = completionRequest(await c.env.exchange.json());
      const completion = await completions.complete(request);
      const id = ids.next('chatcmpl');
      const created = Math.floor(now() / 1000);
      if (request.stream) return streamed(completion, id, created);
      const { content, usage } = written(completion);
      const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: completion.finishReason };
      return json({ id, object: 'chat.completion', created, model: request.model, choices: [choice], usage });
    },
  });

  route(app, '/v1/presets', {
    GET: (c) => {
      const limit = limitOf(c, settings.presetsLimit);
      return list('presets', presets.list(c.req.query('category')).slice(0, limit));
    },
  });

  route(app, '/v1/presets/:presetId/execute', {
    POST: async (c) => {
      const presetId = pathParam(c, 'presetId');
      const preset = presets.get(presetId);
      if (preset === undefined) throw notFound('presetId', `There is no preset ${presetId}`, 'preset_not_found');
      const { input, model } = checked(presetBody, await c.env.exchange.json());
      const content = fillTemplate(preset.template, input);
      const completion = await completions.complete({ model, messages: [{ role: 'user', content }] });
      const answer = written(completion);
      return json({
        id: ids.next('presetrun'),
        object: 'preset.execution',
        preset_id: preset.id,
        model,
        created: Math.floor(now() / 1000),
        output: answer.content,
        finish_reason: completion.finishReason,
        usage: answer.usage,
      });
    },
  });

  route(app, '/v1/files', {
    POST: async (c) => {
      const { exchange } = c.env;
      const form = await parseMultipart(await exchange.bytes(), exchange.request.headers.get('content-type'));
      const file = form.get('file');
      if (!(file instanceof Blob))
        throw badRequest('file', 'file is required and must be a file part', 'missing_parameter');
      const purpose = form.get('purpose');
      if (typeof purpose !== 'string' || purpose === '')
        throw badRequest('purpose', 'purpose is required', 'missing_parameter');
      if (file.size > settings.maxFileSize) {
        throw new Refusal(413, `The file is larger than ${settings.maxFileSize} bytes`, {
          param: 'file',
          code: 'file_too_large',
        });
      }
      const content = new Uint8Array(await file.arrayBuffer());
      return json(files.add({ filename: file.name, purpose, content, contentType: file.type }));
    },
  });

  route(app, '/v1/integrations', { GET: () => list('integrations', integrations.list()) });

  route(app, '/v1/integrations/:integration/execute', {
    POST: async (c) => {
      const body = await c.env.exchange.json();
      if (typeof body !== 'object' || body === null || Array.isArray(body))
        throw badRequest('body', 'The body must be a JSON object');
      return json(integrations.execute(pathParam(c, 'integration'), new Map(Object.entries(body))));
    },
  });

  route(app, '/v1/usage', {
    GET: (c) => {
      const { start_date, end_date } = c.req.query();
      return json(usageReport(usage, { start_date, end_date }, now(), settings));
    },
  });

  return app;
}

function limitOf(c: RouteContext, bounds: { default: number; max: number }): number {
  const value = c.req.query('limit');
  if (value === undefined) return bounds.default;
  const limit = Number(value);
  if (/^\d+$/.test(value) && limit >= 1 && limit <= bounds.max) return limit;
  throw badRequest('limit', `limit must be a whole number from 1 to ${bounds.max}`);
}

const presetBody = z.object({ input: z.string(), model: z.string().check(z.minLength(1)) });
