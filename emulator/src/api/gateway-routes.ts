import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import type { Clock } from '../base/clock.js';
import { badRequest, HttpError, notFound } from '../base/errors.js';
import { type Completion, type Completions, usageOf } from '../completions/completions.js';
import { completionEvents, liveEvents, type Pace } from '../completions/stream.js';
import { AreaRoutes, pathParam, queryOf, type RouteContext } from '../http/area-routes.js';
import { parseMultipart } from '../http/body.js';
import { EventBody } from '../http/event-body.js';
import type { LogEntry } from '../http/log-entry.js';
import { json, type PlainResponse } from '../http/plain-response.js';
import { fillTemplate } from '../store/presets.js';
import type { Stores } from '../store/stores.js';
import type { CompletionRequest } from '../upstream/model-source.js';
import {
  completionBody,
  completionChunk,
  completionResponse,
  fileRecord,
  integrationBody,
  integrationRecord,
  integrationResponse,
  openCompletionBody,
  presetBody,
  presetRecord,
  presetResponse,
  uploadBody,
  usageQuery,
  usageResponse,
} from './schemas.js';
import { usageReport } from './usage-report.js';

/** How lists are wrapped (A3). */
export type ListForm = (typeof LIST_FORMS)[number];
/** All ways to wrap lists. */
export const LIST_FORMS = ['data', 'bare', 'named', 'items'] as const;

/** The settings of the Gateway API. */
export interface GatewaySettings {
  clock: Clock;
  maxFileSize: number;
  publishableEndpoints: readonly string[];
  pace: Pace;
  strict: boolean;
  listForm: ListForm;
  presetsLimit: { default: number; max: number };
}

/** The dependencies of the Gateway API. */
export interface GatewayApiState {
  settings: GatewaySettings;
  stores: Stores;
  completions: Completions;
}

/** The Gateway API: everything under `/v1`. */
export function gatewayRoutes(state: GatewayApiState): AreaRoutes {
  const { settings, stores, completions } = state;
  const { ids, presets, files, integrations, usage } = stores;
  const { strict } = settings;
  const now = (): number => settings.clock.now();
  const area = new AreaRoutes();

  // A3: the option `listForm` decides how lists are wrapped.
  const list = (name: 'presets' | 'integrations', records: unknown[]): PlainResponse => {
    if (settings.listForm === 'bare') return json(records);
    if (settings.listForm === 'named') return json({ [name]: records });
    return settings.listForm === 'items' ? json({ items: records }) : json({ object: 'list', data: records });
  };
  const listForm = (name: 'presets' | 'integrations', record: z.ZodMiniType): z.ZodMiniType => {
    const records = z.array(record);
    if (settings.listForm === 'bare') return records;
    if (settings.listForm === 'named') return z.object({ [name]: records });
    if (settings.listForm === 'items') return z.object({ items: records });
    return z.object({ object: z.literal('list'), data: records });
  };
  /** Bills a whole completion. Returns its text and usage. */
  const billed = (completion: Completion, entry: LogEntry): { content: string; usage: ReturnType<typeof usageOf> } => {
    const counted = usageOf(completion.promptTokens, completion.tokenCount);
    usage.add(completion.model, counted.total_tokens);
    entry.answeredBy = completion.answeredBy;
    entry.tokens = { prompt: counted.prompt_tokens, completion: counted.completion_tokens };
    return { content: completion.tokens.pieces.join(''), usage: counted };
  };
  const streamed = async (
    request: CompletionRequest,
    { entry, signal: left }: { entry: LogEntry; signal: () => AbortSignal },
    created: number,
  ): Promise<PlainResponse> => {
    const stop = new AbortController();
    let both: AbortSignal | undefined;
    // Created only where something waits, because it is slow.
    const signal = (): AbortSignal => {
      both ??= AbortSignal.any([left(), stop.signal]);
      return both;
    };
    const completion = await completions.begin(request, signal);
    entry.answeredBy = completion.answeredBy;
    const id = ids.next('chatcmpl');
    const { clock, pace } = settings;
    const bill = (tokens: number): void => {
      usage.add(completion.model, completion.promptTokens + tokens);
      entry.tokens = { prompt: completion.promptTokens, completion: tokens };
    };
    const context = { id, created, clock, pace, signal, bill };
    const events = 'response' in completion ? liveEvents(completion, context) : completionEvents(completion, context);
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
    return { status: 200, headers, body: new EventBody(events, stop) };
  };

  area.route('/v1/chat/completions', {
    POST: {
      id: 'createChatCompletion',
      summary: 'Create a completion, optionally streamed',
      body: completionBody,
      responses: { 200: { 'application/json': completionResponse, 'text/event-stream': completionChunk } },
      handle: async (c) => {
        const { exchange } = c;
        const request = completionRequest(await exchange.json(), strict);
        const created = Math.floor(now() / 1000);
        if (request.stream)
          return streamed(request, { entry: exchange.entry, signal: () => exchange.request.signal }, created);
        const completion = await completions.complete(request, () => exchange.request.signal);
        const id = ids.next('chatcmpl');
        const { content, usage } = billed(completion, exchange.entry);
        const { toolCalls, finishReason } = completion;
        const text = { role: 'assistant', content };
        const message =
          toolCalls.length === 0 ? text : { ...text, content: content === '' ? null : content, tool_calls: toolCalls };
        const choice = { index: 0, message, finish_reason: finishReason };
        return json({ id, object: 'chat.completion', created, model: request.model, choices: [choice], usage });
      },
    },
  });

  area.route('/v1/presets', {
    GET: {
      id: 'listPresets',
      summary: 'List presets',
      query: z.object({
        category: z.optional(z.string()),
        limit: z.optional(z.int().check(z.gte(1), z.lte(settings.presetsLimit.max))),
      }),
      responses: { 200: listForm('presets', presetRecord) },
      handle: (c) => {
        const limit = limitOf(c, settings.presetsLimit);
        return list('presets', presets.list(queryOf(c).category).slice(0, limit));
      },
    },
  });

  area.route('/v1/presets/:presetId/execute', {
    POST: {
      id: 'executePreset',
      summary: 'Execute a preset',
      body: presetBody,
      responses: { 200: presetResponse },
      handle: async (c) => {
        const { exchange } = c;
        const presetId = pathParam(c, 'presetId');
        const preset = presets.get(presetId);
        if (preset === undefined) throw notFound('presetId', `There is no preset ${presetId}`, 'preset_not_found');
        const { input, model } = checked(presetBody, await exchange.json(), strict);
        const content = fillTemplate(preset.template, input);
        const completion = await completions.complete(
          { model, messages: [{ role: 'user', content }] },
          () => exchange.request.signal,
        );
        const completed = billed(completion, exchange.entry);
        return json({
          id: ids.next('presetrun'),
          object: 'preset.execution',
          preset_id: preset.id,
          model,
          created: Math.floor(now() / 1000),
          output: completed.content,
          finish_reason: completion.finishReason,
          usage: completed.usage,
        });
      },
    },
  });

  area.route('/v1/files', {
    POST: {
      id: 'uploadFile',
      summary: 'Upload a file',
      body: { 'multipart/form-data': uploadBody },
      responses: { 200: fileRecord },
      handle: async (c) => {
        const { exchange } = c;
        const form = await parseMultipart(await exchange.bytes(), exchange.request.headers.get('content-type'));
        const file = form.get('file');
        if (!(file instanceof Blob))
          throw badRequest('file', 'file is required and must be a file part', 'missing_parameter');
        const purpose = form.get('purpose');
        if (typeof purpose !== 'string' || purpose === '')
          throw badRequest('purpose', 'purpose is required', 'missing_parameter');
        if (file.size > settings.maxFileSize) {
          throw new HttpError(413, `The file is larger than ${settings.maxFileSize} bytes`, {
            param: 'file',
            code: 'file_too_large',
          });
        }
        const content = new Uint8Array(await file.arrayBuffer());
        return json(files.add({ filename: file.name, purpose, content, contentType: file.type }));
      },
    },
  });

  area.route('/v1/integrations', {
    GET: {
      id: 'listIntegrations',
      summary: 'List the connected integrations and their actions',
      responses: { 200: listForm('integrations', integrationRecord) },
      handle: () => list('integrations', integrations.list()),
    },
  });

  area.route('/v1/integrations/:integration/execute', {
    POST: {
      id: 'executeIntegration',
      summary: 'Execute an action of an integration',
      body: integrationBody,
      responses: { 200: integrationResponse },
      handle: async (c) => {
        const body = await c.exchange.json();
        if (typeof body !== 'object' || body === null || Array.isArray(body))
          throw badRequest('body', 'The body must be a JSON object');
        return json(integrations.execute(pathParam(c, 'integration'), new Map(Object.entries(body)), strict));
      },
    },
  });

  area.route('/v1/usage', {
    GET: {
      id: 'getUsage',
      summary: 'Get the tokens used in a period',
      query: usageQuery,
      responses: { 200: usageResponse },
      handle: (c) => {
        const { start_date, end_date } = queryOf(c);
        return json(usageReport(usage, { start_date, end_date }, now(), stores.account.tokens));
      },
    },
  });

  for (const endpoint of settings.publishableEndpoints)
    requireEndpoint(
      area.endpoints.map(({ method, path }) => `${method} ${path}`),
      endpoint,
    );
  return area;
}

/** Checks a request. Unless `strict`, it may have what the API does not document: other content than text, tools. */
function completionRequest(body: unknown, strict: boolean): CompletionRequest {
  if (strict) return checked(completionBody, body, strict);
  const request = checked(openCompletionBody, body);
  return {
    ...request,
    messages: request.messages.map(({ role, content }) => ({ role, content: textOf(content) })),
    sent: body as Record<string, unknown>, // just checked
  };
}

type Content = z.infer<typeof openCompletionBody>['messages'][number]['content'];

/** The text of a message's content. */
function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ text }) => (typeof text === 'string' ? text : [])).join('\n');
}

/** Throws a RangeError for an unknown endpoint, so that a typo in the option does not go unnoticed. */
function requireEndpoint(known: readonly string[], endpoint: string): void {
  const plain = (text: string): string => text.replace(/:[^/]+/g, ':');
  if (known.some((one) => plain(one) === plain(endpoint))) return;
  throw new RangeError(`publishableEndpoints: unknown endpoint ${endpoint}; use ${known.join(', ')}`);
}

function limitOf(c: RouteContext, bounds: { default: number; max: number }): number {
  const value = queryOf(c).limit;
  if (value === undefined) return bounds.default;
  const limit = Number(value);
  if (/^\d+$/.test(value) && limit >= 1 && limit <= bounds.max) return limit;
  throw badRequest('limit', `limit must be a whole number from 1 to ${bounds.max}`);
}
