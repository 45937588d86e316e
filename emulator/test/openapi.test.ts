import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020 from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../src/index.js';
import type { ServiceOptions } from '../src/options.js';
import { openStream, PROJECT_TALK, testEmulator } from './support.js';

const BASE = 'http://127.0.0.1';

interface Operation {
  requestBody?: { required: boolean };
  operationId: string;
  security: Record<string, []>[];
  responses: Record<string, { headers?: object; content: Record<string, { schema: object }> }>;
}
interface Description extends Record<string, unknown> {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

const descriptionOf = async (emulator: Emulator, headers = {}): Promise<Description> =>
  (await emulator.fetch(`${BASE}/_emulator/openapi.json`, { headers })).json();

const operationsOf = (description: Description) =>
  Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );

/**
 * Requests of the operations that take arguments or need others before them, in an order in which each finds what it
 * needs. The others are called first, without arguments. `json` is the body.
 */
const REQUESTS: Record<string, { query?: string; json?: unknown; form?: FormData; path?: Record<string, string> }> = {
  createConversation: { json: { id: 'talk', messages: PROJECT_TALK } },
  appendMessages: { path: { id: 'talk' }, json: [{ role: 'user', content: 'We decided to keep it.' }] },
  listConversations: {},
  getConversation: { path: { id: 'talk' } },
  pin: { path: { id: 'talk', messageId: 'goal' }, json: { category: 'decision' } },
  unpin: { path: { id: 'talk', messageId: 'goal' } },
  changeMessage: { path: { id: 'talk', messageId: 'open' }, json: { excluded: true } },
  pinMessage: { path: { conversationId: 'talk' }, json: { messageId: 'dec', category: 'decision' } },
  excludeMessage: { path: { conversationId: 'talk', messageId: 'link' }, json: { exclude: true } },
  compactContext: { json: { conversationId: 'talk', level: 'deep' } },
  compactConversation: { path: { id: 'talk' }, json: { level: 'aggressive' } },
  getContext: { query: '?conversationId=talk' },
  getSummary: { query: '?conversationId=talk' },
  inspectConversation: { path: { id: 'talk' } },
  listReceipts: { path: { id: 'talk' } },
  searchConversations: { query: '?q=parquet&limit=2' },
  unpinMessage: { path: { conversationId: 'talk' }, query: '?messageId=dec' },
  createMemory: { json: { type: 'fact', key: 'city', content: 'Oslo' } },
  listMemory: { query: '?type=fact' },
  updateMemory: { path: { memoryId: 'MEMORY' }, json: { content: 'Bergen', isActive: false } },
  createModel: { json: { id: 'cedar', contextWindow: 1000 } },
  listModels: {},
  addReply: { json: { match: { pattern: '^ping', flags: 'i' }, reply: { content: 'pong', finish_reason: 'stop' } } },
  listReplies: {},
  createChatCompletion: { json: { model: 'cedar', messages: [{ role: 'user', content: 'Ping' }] } },
  createPreset: { json: { id: 'shout', name: 'Shout', template: 'In capitals: {{input}}' } },
  listAllPresets: {},
  listPresets: { query: '?category=general&limit=2' },
  executePreset: { path: { presetId: 'shout' }, json: { model: 'cedar', input: 'ping' } },
  uploadFile: { form: upload() },
  listFiles: {},
  getFile: { path: { id: 'FILE' } },
  getFileContent: { path: { id: 'FILE' }, query: '?bytes=2' },
  deleteFile: { path: { id: 'FILE' } },
  createIntegration: { json: { id: 'pager', actions: [{ name: 'page', fields: [{ name: 'who' }] }] } },
  listIntegrations: {},
  listAllIntegrations: {},
  executeIntegration: { path: { integration: 'pager' }, json: { action: 'page', who: 'me' } },
  listExecutions: {},
  getUsage: { query: '?start_date=2026-01-01&end_date=2026-01-31' },
  addFault: { json: { match: { path: '/none' }, times: 3, respond: { type: 'slow', delay: 1 } } },
  listFaults: {},
  listAllMemory: {},
  addMemory: { json: { type: 'fact', key: 'town', content: 'Molde' } },
  changeMemory: { path: { id: 'MEMORY' }, json: { isActive: true } },
  removeMemory: { path: { id: 'OWN_MEMORY' } },
  watch: {},
  removeFault: { path: { id: 'fault_1' } },
  clearFaults: {},
  createKey: { json: { kind: 'publishable', name: 'spare' } },
  listKeys: {},
  deleteKey: { path: { id: 'KEY' } },
  createSession: { json: { userId: 'user_b' } },
  createWorkspace: { json: { id: 'team', members: [] } },
  addMember: { path: { id: 'team', userId: 'user_b' } },
  removeMember: { path: { id: 'team', userId: 'user_b' } },
  listWorkspaces: {},
  setPlan: { json: { plan: 'enterprise' } },
  advanceClock: { json: { advance: 1000 } },
  listRequests: { query: '?limit=100' },
  getRequest: { path: { id: 'REQUEST' } },
  followRequest: { path: { id: 'REQUEST' } },
  searchRequests: { query: '?q=ping&status=ok' },
  getCost: { query: '?by=day' },
  exportHar: { query: '?mask=prompts' },
  exportCase: { query: '?mask=keys,prompts' },
  resendRequest: { path: { id: 'REQUEST' }, json: { method: 'GET' } },
  getState: {},
  putState: { json: 'STATE' },
  keepSnapshot: { path: { name: 'kept' } },
  listSnapshots: {},
  restoreSnapshot: { path: { name: 'kept' } },
  deleteSnapshot: { path: { name: 'kept' } },
  endScope: { path: { name: 'test' } },
  getAnswers: {},
  removeReply: { path: { id: 'reply_1' } },
  clearReplies: {},
  deletePreset: { path: { id: 'shout' } },
  deleteIntegration: { path: { id: 'pager' } },
  deleteModel: { path: { id: 'cedar' } },
  deleteConversation: { path: { id: 'talk' } },
  deleteMemory: { path: { memoryId: 'MEMORY' } },
  getInspectorFile: { path: { file: 'app.css' } },
  openCase: { json: 'CASE' },
  reset: {},
};

function upload(): FormData {
  const form = new FormData();
  form.set('file', new File(['a,b'], 'a.csv'));
  form.set('purpose', 'import');
  return form;
}

/** The first chunk of a stream that does not end by itself. */
async function firstEvents(response: Response): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

describe('the OpenAPI description', () => {
  test.each<{ options: ServiceOptions }>([
    { options: {} },
    { options: { listForm: 'named', sessionHeader: { name: 'X-Session' } } },
  ])('is valid OpenAPI 3.1, with $options', async ({ options }) => {
    const description = await descriptionOf(testEmulator(options));

    const { valid, errors } = await new Validator().validate(structuredClone(description));

    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(description.openapi).toMatch(/^3\.1\./);
    const ids = operationsOf(description).map(({ operationId }) => operationId);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  test('has every route, and every response matches its schema', async () => {
    const emulator = testEmulator();
    const description = await descriptionOf(emulator);
    const operations = operationsOf(description);
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    const { components } = closed({ components: description.components });
    const known: Record<string, string> = {};

    emulator.scope('test');
    const ids = operations.map(({ operationId }) => operationId);
    const plain = Object.fromEntries(ids.filter((id) => !(id in REQUESTS)).map((id) => [id, {}]));
    const requests: typeof REQUESTS = { ...plain, ...REQUESTS };
    for (const [operationId, { query = '', json, form, path = {} }] of Object.entries(requests)) {
      const operation = operations.find((one) => one.operationId === operationId);
      if (operation === undefined) throw new Error(`no operation ${operationId}`);
      const { method, path: template, responses } = operation;
      const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => known[path[name] ?? ''] ?? path[name] ?? '?');
      const credential = template.startsWith('/v1') ? emulator.apiKeys.secret : emulator.sessionToken;
      known.STATE = JSON.stringify(emulator.state());
      const response = await emulator.fetch(BASE + filled + query, {
        method,
        headers: { authorization: `Bearer ${credential}`, ...(json ? { 'content-type': 'application/json' } : {}) },
        body: form ?? known[String(json)] ?? JSON.stringify(json) ?? null,
      });

      const type = response.headers.get('content-type')?.split(';')[0] ?? '';
      const expected = responses[response.status]?.content[type];
      const text = operationId === 'watch' ? await firstEvents(response) : await response.text();
      // biome-ignore lint/suspicious/noExplicitAny: the schema says what it is
      const body: any = type === 'application/json' ? JSON.parse(text) : text;
      const got = `${operationId}: ${response.status} ${type} ${text.slice(0, 200)}`;
      expect(expected, `${got}; does it need an entry in REQUESTS?`).toBeDefined();
      for (const name of Object.keys(responses[response.status]?.headers ?? {})) {
        expect(response.headers.get(name), `${operationId}: ${name}`).toMatch(/^\d+$/);
      }
      const validate = ajv.compile({ ...closed(expected?.schema ?? {}), components });
      expect(validate(body) || ajv.errorsText(validate.errors), operationId).toBe(true);
      if (operationId === 'createMemory') known.MEMORY = body.memory.id;
      if (operationId === 'addMemory') known.OWN_MEMORY = body.id;
      if (operationId === 'listRequests') known.REQUEST = body.at(-1).requestId;
      if (operationId === 'uploadFile') known.FILE = body.id;
      if (operationId === 'createKey') known.KEY = body.id;
      if (operationId === 'exportCase') known.CASE = text;
    }
    const { routes } = (await (await emulator.fetch(`${BASE}/_emulator`)).json()) as { routes: string[] };
    const described = operations.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`);
    expect(described).toEqual(expect.arrayContaining(routes));
  });

  test('marks which bodies are optional', async () => {
    const { paths } = await descriptionOf(testEmulator());
    const isRequired = (path: string) => paths[path]?.post?.requestBody?.required;

    expect(isRequired('/_emulator/conversations/{id}/compact')).toBe(false);
    for (const path of ['/_emulator/faults', '/v1/chat/completions', '/api/context/compact'])
      expect(isRequired(path), path).toBe(true);
  });

  test('describes errors and the chunks of a stream', async () => {
    const emulator = testEmulator();
    const { components } = closed({ components: (await descriptionOf(emulator)).components });
    const ajv = new Ajv2020({ strict: false });
    const isA = (name: string, value: unknown) =>
      ajv.validate({ $ref: `#/components/schemas/${name}`, components }, value);
    const refused = async (path: string) => (await emulator.fetch(BASE + path)).json();

    expect(isA('ContextError', await refused('/api/memory'))).toBe(true);
    expect(isA('GatewayError', await refused('/v1/presets'))).toBe(true);
    expect(isA('ControlError', await refused('/_emulator/nowhere'))).toBe(true);
    const stream = await openStream(emulator, 'Hello?');
    const chunks = [...(await stream.text()).matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.filter((chunk) => !isA('ChatCompletionChunk', chunk))).toEqual([]);
  });

  test('names the credentials of each area, and the control token if there is one', async () => {
    const open = await descriptionOf(testEmulator({ sessionHeader: { name: 'X-Session' } }));
    const guarded = testEmulator({ controlToken: 'a-long-token' });
    const description = await descriptionOf(guarded, { authorization: 'Bearer a-long-token' });

    expect(Object.keys(open.paths['/v1/usage']?.get?.responses.default?.headers ?? {})).toContain('X-RateLimit-Limit');
    expect(open.paths['/api/memory']?.get?.security).toEqual([{ sessionToken: [] }]);
    expect(open.components.securitySchemes.sessionToken).toEqual({ type: 'apiKey', in: 'header', name: 'x-session' });
    expect(open.paths['/_emulator/reset']?.post?.security).toEqual([]);
    expect(description.paths['/_emulator/reset']?.post?.security).toEqual([{ controlToken: [] }]);
    expect(description.paths['/_emulator/health']?.get?.security).toEqual([]);
  });
});

/** Forbids additional fields in all schemas, so that a field without a description is found. */
function closed<T extends object>(schema: T): T {
  const text = JSON.stringify(schema, (_, value) =>
    value?.properties === undefined ? value : { additionalProperties: false, ...value },
  );
  return JSON.parse(text);
}
