import { describe, expect, test } from 'vitest';
import { callsTo, PROJECT_TALK, testEmulator } from './support.js';

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

  const known = '/api/context/exclude/talk/dec';
  test.each([
    { method: 'GET', path: '/api/context', status: 400, says: 'conversationId' },
    { method: 'GET', path: '/api/context?conversationId=', status: 400, says: 'conversationId' },
    { method: 'GET', path: '/api/context?conversationId=none', status: 404, says: 'conversation' },
    {
      method: 'POST',
      path: '/api/context/compact',
      body: { conversationId: 'talk', level: 'max' },
      status: 400,
      says: 'level',
    },
    { method: 'POST', path: '/api/context/pin/talk', body: { messageId: 'none' }, status: 404, says: 'message' },
    {
      method: 'POST',
      path: '/api/context/pin/talk',
      body: { messageId: 'dec', category: 'x' },
      status: 400,
      says: 'category',
    },
    { method: 'POST', path: '/api/context/pin/none', body: { messageId: 'dec' }, status: 404, says: 'conversation' },
    { method: 'DELETE', path: '/api/context/pin/talk', status: 400, says: 'messageId' },
    { method: 'PATCH', path: known, body: { exclude: 'yes' }, status: 400, says: 'exclude' },
    { method: 'PATCH', path: '/api/context/exclude/talk/none', body: { exclude: true }, status: 404, says: 'message' },
    { method: 'GET', path: '/api/memory?type=dream', status: 400, says: 'type' },
    { method: 'POST', path: '/api/memory', body: { type: 'dream', key: 'a', content: 'b' }, status: 400, says: 'type' },
    { method: 'PATCH', path: '/api/memory/none', body: { content: 'b' }, status: 404, says: 'memory' },
    { method: 'PATCH', path: '/api/memory/none', body: { isActive: true }, status: 400, says: 'content' },
    { method: 'DELETE', path: '/api/memory/none', status: 404, says: 'memory' },
    { method: 'POST', path: '/api/context', body: {}, status: 405, says: 'POST' },
    { method: 'GET', path: '/api/elsewhere', status: 404, says: 'endpoint' },
  ])('responds with $status to $method $path $body', async ({ method, path, body, status, says }) => {
    const emulator = testEmulator();
    emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });

    const answer = await callsTo(emulator).context(method, path, body);

    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(['success', 'error']);
    expect(answer.body.success).toBe(false);
    expect(answer.body.error).toContain(says);
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

    const withToken = await gateway('GET', '/v1/presets', undefined, {
      authorization: `Bearer ${emulator.sessionToken}`,
    });
    const withKey = await context('GET', '/api/memory', undefined, emulator.apiKeys.secret);

    expect(withToken.status).toBe(403);
    expect(withToken.body.error).toMatchObject({
      code: 'invalid_api_key',
      message: expect.stringMatching(/session token.*\/v1 needs/),
    });
    expect(withKey.status).toBe(401);
    expect(withKey.body.error).toMatch(/API key.*\/api needs/);
  });

  test('lets a publishable key read and complete, and nothing else', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);
    const authorization = `Bearer ${emulator.apiKeys.publishable}`;
    const status = async (method: string, path: string, body?: unknown) =>
      (await gateway(method, path, body, { authorization })).status;
    const messages = [{ role: 'user', content: 'x' }];

    expect(await status('GET', '/v1/presets')).toBe(200);
    expect(await status('GET', '/v1/integrations')).toBe(200);
    expect(await status('POST', '/v1/chat/completions', { model: 'atlas-large', messages })).toBe(200);
    expect(await status('GET', '/v1/usage')).toBe(403);
    expect(await status('POST', '/v1/files')).toBe(403);
    expect(await status('POST', '/v1/presets/summarize/execute', { input: 'x', model: 'atlas-large' })).toBe(403);
    expect(await status('POST', '/v1/integrations/team-chat/execute', {})).toBe(403);
  });

  const messages = [{ role: 'user', content: 'x' }];
  const model = 'atlas-large';
  test.each([
    { path: '/v1/chat/completions', body: { model: 7, messages }, param: 'model' },
    { path: '/v1/chat/completions', body: { model, messages: [] }, param: 'messages' },
    {
      path: '/v1/chat/completions',
      body: { model, messages: [{ role: 'wizard', content: 'x' }] },
      param: 'messages.0.role',
    },
    { path: '/v1/chat/completions', body: { model, messages: [{ role: 'user' }] }, param: 'messages.0.content' },
    { path: '/v1/chat/completions', body: { model, messages, temperature: 2.1 }, param: 'temperature' },
    { path: '/v1/chat/completions', body: { model, messages, temperature: -0.1 }, param: 'temperature' },
    { path: '/v1/chat/completions', body: { model, messages, max_tokens: 0 }, param: 'max_tokens' },
    { path: '/v1/chat/completions', body: { model, messages, max_tokens: 1.5 }, param: 'max_tokens' },
    { path: '/v1/chat/completions', body: { model, messages, stream: 'yes' }, param: 'stream' },
    { path: '/v1/chat/completions', body: [1], param: 'body' },
    { path: '/v1/presets/summarize/execute', body: { model }, param: 'input' },
    { path: '/v1/presets/summarize/execute', body: { input: 'x' }, param: 'model' },
    { path: '/v1/presets?limit=0', param: 'limit' },
    { path: '/v1/presets?limit=101', param: 'limit' },
    { path: '/v1/integrations/team-chat/execute', body: 'text', param: 'body' },
  ])('responds with 400 to $path $body and names $param', async ({ path, body, param }) => {
    const answer = await callsTo(testEmulator()).gateway(body === undefined ? 'GET' : 'POST', path, body);

    expect(answer.status).toBe(400);
    expect(answer.body.error).toEqual({
      message: expect.stringContaining(param === 'body' ? '' : param),
      type: 'invalid_request_error',
      param,
      code: expect.any(String),
    });
  });

  test.each([
    {
      method: 'POST',
      path: '/v1/chat/completions',
      body: { model: 'x', messages },
      status: 404,
      param: 'model',
      code: 'model_not_found',
    },
    {
      method: 'POST',
      path: '/v1/presets/summarize/execute',
      body: { model: 'x', input: 'y' },
      status: 404,
      param: 'model',
      code: 'model_not_found',
    },
    {
      method: 'POST',
      path: '/v1/presets/x/execute',
      body: {},
      status: 404,
      param: 'presetId',
      code: 'preset_not_found',
    },
    { method: 'GET', path: '/v1/elsewhere', status: 404, param: 'path', code: 'not_found' },
    { method: 'DELETE', path: '/v1/usage', status: 405, param: 'method', code: 'method_not_allowed' },
  ])('responds with $status to $method $path', async ({ method, path, body, status, param, code }) => {
    const answer = await callsTo(testEmulator()).gateway(method, path, body);

    expect(answer.status).toBe(status);
    expect(answer.body.error).toEqual({ message: expect.any(String), type: 'invalid_request_error', param, code });
    // It shows a wrong baseURL.
    if (code === 'not_found') expect(answer.body.error.message).toContain(`There is no endpoint GET ${path}`);
  });

  test.each(['/v1/chat/completions', '/v1/presets/summarize/execute'])(
    'lists the known models in the 404 of POST %s for an unknown one',
    async (path) => {
      const emulator = testEmulator();
      const answer = await callsTo(emulator).gateway('POST', path, { model: 'x', messages, input: 'y' });

      const names = emulator.models
        .list()
        .map(({ id }) => id)
        .join(', ');
      expect(answer.body.error.message).toBe(`The model x does not exist. Use one of ${names}`);
    },
  );

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
    const { gateway } = callsTo(testEmulator({ maxBodySize: 1000 }));

    const { status, body } = await gateway('POST', '/v1/chat/completions', {
      model,
      messages,
      padding: 'x'.repeat(1000),
    });

    expect(status).toBe(413);
    expect(body.error).toMatchObject({ param: 'body', code: 'body_too_large' });
  });
});
