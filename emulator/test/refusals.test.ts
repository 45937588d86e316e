import { describe, expect, test } from 'vitest';
import { type Answer, callsTo, PROJECT_TALK, testEmulator } from './support.js';

/** Calls an endpoint that is given as `GET /path`. */
type Send = (method: string, path: string, body?: unknown) => Promise<Answer>;
const calling = (send: Send, call: string, body?: unknown) => send(...(call.split(' ') as [string, string]), body);

describe('the Context API', () => {
  test.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic abc' }],
    ['an unknown token', { authorization: 'Bearer nobody' }],
  ])('responds with 401 to %s', async (_, headers) => {
    const answer = await callsTo(testEmulator()).bare('GET', '/api/memory', undefined, headers);

    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ success: false, error: expect.stringMatching(/session token/) });
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('responds with 401 to an expired token', async () => {
    const emulator = testEmulator();
    const { token } = emulator.sessions.create();
    const { context } = callsTo(emulator);
    expect((await context('GET', '/api/memory', undefined, token)).status).toBe(200);

    emulator.sessions.expire(token);

    expect((await context('GET', '/api/memory', undefined, token)).status).toBe(401);
  });

  test('responds with 403 to every request for a foreign workspace', async () => {
    const emulator = testEmulator();
    const { context } = callsTo(emulator);
    const workspaceId = emulator.workspaces.create({ members: ['somebody'] }).id;
    const { id } = emulator.conversations.create({ workspaceId, messages: PROJECT_TALK });

    const answers = [
      await context('GET', `/api/context?conversationId=${id}`),
      await context('GET', `/api/context/summary?conversationId=${id}`),
      await context('POST', '/api/context/compact', { conversationId: id }),
      await context('POST', `/api/context/pin/${id}`, { messageId: 'dec' }),
      await context('DELETE', `/api/context/pin/${id}?messageId=dec`),
      await context('PATCH', `/api/context/exclude/${id}/dec`, { exclude: true }),
      await context('GET', `/api/memory?workspaceId=${workspaceId}`),
      await context('POST', '/api/memory', { type: 'fact', key: 'a', content: 'b', workspaceId }),
      await context('GET', '/api/memory?workspaceId=unknown'),
    ];

    for (const answer of answers) {
      expect(answer.status).toBe(403);
      expect(answer.body).toEqual({ success: false, error: 'You are not a member of this workspace' });
    }
    emulator.workspaces.addMember(workspaceId, emulator.userId);
    expect((await context('GET', `/api/context?conversationId=${id}`)).status).toBe(200);
  });

  test.each([
    { call: 'GET /api/context', status: 400, says: 'conversationId' },
    { call: 'GET /api/context?conversationId=', status: 400, says: 'conversationId' },
    { call: 'GET /api/context?conversationId=none', status: 404, says: 'conversation' },
    { call: 'POST /api/context/compact', body: { conversationId: 'talk', level: 'max' }, status: 400, says: 'level' },
    { call: 'POST /api/context/pin/talk', body: { messageId: 'none' }, status: 404, says: 'message' },
    { call: 'POST /api/context/pin/talk', body: { messageId: 'dec', category: 'x' }, status: 400, says: 'category' },
    { call: 'POST /api/context/pin/none', body: { messageId: 'dec' }, status: 404, says: 'conversation' },
    { call: 'DELETE /api/context/pin/talk', status: 400, says: 'messageId' },
    { call: 'PATCH /api/context/exclude/talk/dec', body: { exclude: 'yes' }, status: 400, says: 'exclude' },
    { call: 'PATCH /api/context/exclude/talk/none', body: { exclude: true }, status: 404, says: 'message' },
    { call: 'GET /api/memory?type=dream', status: 400, says: 'type' },
    { call: 'POST /api/memory', body: { type: 'dream', key: 'a', content: 'b' }, status: 400, says: 'type' },
    { call: 'PATCH /api/memory/none', body: { content: 'b' }, status: 404, says: 'memory' },
    { call: 'PATCH /api/memory/none', body: { isActive: true }, status: 400, says: 'content' },
    { call: 'DELETE /api/memory/none', status: 404, says: 'memory' },
    { call: 'DELETE /api/memory/%E0%A4%A', status: 404, says: 'memory' },
    { call: 'POST /api/context', body: {}, status: 405, says: 'POST' },
    { call: 'GET /api/elsewhere', status: 404, says: 'endpoint' },
  ])('responds with $status to $call $body', async ({ call, body, status, says }) => {
    const emulator = testEmulator();
    emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });

    const answer = await calling(callsTo(emulator).context, call, body);

    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ success: false, error: expect.stringContaining(says) });
  });

  test.each(['{', ''])('responds with 400 to the body %j', async (body) => {
    const emulator = testEmulator();

    const response = await emulator.fetch('http://emulator.test/api/memory', {
      method: 'POST',
      headers: { authorization: `Bearer ${emulator.sessionToken}`, 'content-type': 'application/json' },
      body,
    });

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      success: false,
      error: expect.stringMatching(/^The request body is not valid JSON: line 1, column [123]$/),
    });
  });
});

describe('the Gateway API', () => {
  const messages = [{ role: 'user', content: 'x' }];
  const model = 'atlas-large';

  test.each([
    { header: undefined, status: 401, type: 'authentication_error', code: 'missing_authorization' },
    { header: 'svc_sk_x', status: 401, type: 'authentication_error', code: 'invalid_authorization' },
    { header: 'Basic x', status: 401, type: 'authentication_error', code: 'invalid_authorization' },
    { header: 'Bearer svc_sk_unknown', status: 403, type: 'permission_error', code: 'invalid_api_key' },
  ])('responds with $status to Authorization: $header', async ({ header, status, type, code }) => {
    const headers: Record<string, string> = header === undefined ? {} : { authorization: header };
    const answer = await callsTo(testEmulator()).bare('GET', '/v1/presets', undefined, headers);

    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: { message: expect.any(String), type, param: 'Authorization', code } });
  });

  test('names the wrong kind of credential, here and at the Context API', async () => {
    const emulator = testEmulator();
    const { gateway, context } = callsTo(emulator);

    const authorization = `Bearer ${emulator.sessionToken}`;
    const withToken = await gateway('GET', '/v1/presets', undefined, { authorization });
    const withKey = await context('GET', '/api/memory', undefined, emulator.apiKeys.secret);

    expect(withToken.status).toBe(403);
    expect(withToken.body.error.message).toMatch(/session token.*\/v1 needs/);
    expect(withKey.status).toBe(401);
    expect(withKey.body.error).toMatch(/API key.*\/api needs/);
  });

  test('lets a publishable key read and complete, and nothing else', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);
    const authorization = `Bearer ${emulator.apiKeys.publishable}`;
    const status = async (method: string, path: string, body?: unknown) =>
      (await gateway(method, path, body, { authorization })).status;

    expect(await status('GET', '/v1/presets')).toBe(200);
    expect(await status('GET', '/v1/integrations')).toBe(200);
    expect(await status('POST', '/v1/chat/completions', { model, messages })).toBe(200);
    expect(await status('GET', '/v1/usage')).toBe(403);
    expect(await status('POST', '/v1/files')).toBe(403);
    expect(await status('POST', '/v1/presets/summarize/execute', { input: 'x', model })).toBe(403);
    expect(await status('POST', '/v1/integrations/team-chat/execute', {})).toBe(403);
  });

  const completion = 'POST /v1/chat/completions';
  const preset = 'POST /v1/presets/summarize/execute';
  test.each<{ call: string; body?: unknown; param: string; status?: number; code?: string }>([
    { call: completion, body: { model: 7, messages }, param: 'model' },
    { call: completion, body: { model, messages: [] }, param: 'messages' },
    { call: completion, body: { model, messages: [{ role: 'wizard', content: 'x' }] }, param: 'messages.0.role' },
    { call: completion, body: { model, messages: [{ role: 'user' }] }, param: 'messages.0.content' },
    { call: completion, body: { model, messages, temperature: 2.1 }, param: 'temperature' },
    { call: completion, body: { model, messages, temperature: -0.1 }, param: 'temperature' },
    { call: completion, body: { model, messages, max_tokens: 0 }, param: 'max_tokens' },
    { call: completion, body: { model, messages, max_tokens: 1.5 }, param: 'max_tokens' },
    { call: completion, body: { model, messages, stream: 'yes' }, param: 'stream' },
    { call: completion, body: [1], param: 'body' },
    { call: preset, body: { model }, param: 'input' },
    { call: preset, body: { input: 'x' }, param: 'model' },
    { call: 'GET /v1/presets?limit=0', param: 'limit' },
    { call: 'GET /v1/presets?limit=101', param: 'limit' },
    { call: 'POST /v1/integrations/team-chat/execute', body: 'text', param: 'body' },
    { call: 'POST /v1/presets/x/execute', body: {}, param: 'presetId', status: 404, code: 'preset_not_found' },
    { call: 'GET /v1/elsewhere', param: 'path', status: 404, code: 'not_found' },
    { call: 'DELETE /v1/usage', param: 'method', status: 405, code: 'method_not_allowed' },
  ])('names $param in the error of $call $body', async ({ call, body, param, status = 400, code }) => {
    const answer = await calling(callsTo(testEmulator()).gateway, call, body);

    expect(answer.status).toBe(status);
    const message = expect.stringContaining(status === 400 && param !== 'body' ? param : '');
    expect(answer.body.error).toEqual({
      ...{ message, type: 'invalid_request_error', param },
      code: code ?? expect.any(String),
    });
    // It shows a wrong baseURL.
    if (code === 'not_found') expect(answer.body.error.message).toContain(`There is no endpoint ${call}`);
  });

  test.each([completion, preset])('lists the known models in the 404 of %s for an unknown one', async (call) => {
    const emulator = testEmulator();
    const answer = await calling(callsTo(emulator).gateway, call, { model: 'x', messages, input: 'y' });

    const names = emulator.models.list().map(({ id }) => id);
    expect(answer.status).toBe(404);
    expect(answer.body.error).toEqual({
      ...{ type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
      message: `The model x does not exist. Use one of ${names.join(', ')}`,
    });
  });

  test('treats __proto__ in a body as an ordinary name', async () => {
    const emulator = testEmulator();

    const response = await emulator.fetch('http://emulator.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${emulator.apiKeys.secret}` },
      body: '{"__proto__":{"model":"atlas-large","polluted":true},"constructor":{"prototype":{"polluted":true}},"messages":[]}',
    });

    expect((await response.json()).error.param).toBe('model');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('responds with 413 to a body above the limit', async () => {
    const { ask } = callsTo(testEmulator({ maxBodySize: 1000 }));

    const answer = await ask('x'.repeat(1000));

    expect(answer).toMatchObject({ status: 413, body: { error: { param: 'body', code: 'body_too_large' } } });
  });
});
