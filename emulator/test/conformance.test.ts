import { describe, expect, test } from 'vitest';
import { PROJECT_TALK, sender, testEmulator } from './support.js';

/**
 * Runs against the emulator or against a real service. For a real one, set CONFORMANCE_BASE_URL, _API_KEY,
 * _SESSION_TOKEN, _CONVERSATION_ID and _MESSAGE_ID, and optionally _PUBLISHABLE_KEY, _SESSION_HEADER and _MODEL.
 * The suite compacts that conversation and leaves one small file behind, and nothing else.
 */
const REAL = process.env.CONFORMANCE_BASE_URL;

function required(name: string): string {
  const value = process.env[`CONFORMANCE_${name}`];
  if (value === undefined || value === '') throw new Error(`CONFORMANCE_${name} is not set`);
  return value;
}

/** How the service is reached. The tests pin, unpin, exclude and include the message of the conversation. */
function access() {
  if (REAL !== undefined) {
    return {
      baseURL: REAL.replace(/\/+$/, ''),
      fetch,
      apiKey: required('API_KEY'),
      publishableKey: process.env.CONFORMANCE_PUBLISHABLE_KEY,
      sessionToken: required('SESSION_TOKEN'),
      sessionHeader: process.env.CONFORMANCE_SESSION_HEADER ?? 'authorization',
      model: process.env.CONFORMANCE_MODEL ?? 'atlas-small',
      conversationId: required('CONVERSATION_ID'),
      messageId: required('MESSAGE_ID'),
    };
  }
  const emulator = testEmulator();
  emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });
  return {
    baseURL: 'http://emulator.test',
    fetch: emulator.fetch,
    apiKey: emulator.apiKeys.secret,
    publishableKey: emulator.apiKeys.publishable,
    sessionToken: emulator.sessionToken,
    sessionHeader: 'authorization',
    model: 'atlas-small',
    conversationId: 'talk',
    messageId: 'talk3',
  };
}

function service() {
  const { baseURL, fetch, apiKey, sessionToken, sessionHeader, model, ...ids } = access();
  const send = sender(fetch, baseURL);
  const withKey = (key = apiKey) => ({ authorization: `Bearer ${key}` });
  const isStandard = sessionHeader.toLowerCase() === 'authorization';
  const session = { [sessionHeader]: isStandard ? `Bearer ${sessionToken}` : sessionToken };
  const prompt = (content: string, more: object) => ({ model, messages: [{ role: 'user', content }], ...more });
  const completions = '/v1/chat/completions';
  return {
    ...ids,
    model,
    gateway: (method: string, path: string, body?: unknown, key?: string) => send(method, path, body, withKey(key)),
    context: (method: string, path: string, body?: unknown) => send(method, path, body, session),
    /** A call with these headers only. */
    bare: (path: string, headers: Record<string, string> = {}) => send('GET', path, undefined, headers),
    ask: (more: object, key?: string) => send('POST', completions, prompt('Say one word.', more), withKey(key)),
    stream: async () => {
      const body = JSON.stringify(prompt('Say one word.', { stream: true, max_tokens: 40 }));
      const headers = { 'content-type': 'application/json', ...withKey() };
      return (await fetch(baseURL + completions, { method: 'POST', headers, body })).text();
    },
    upload: () => {
      const form = new FormData();
      form.set('purpose', 'conformance');
      form.set('file', new File(['conformance'], 'conformance.txt'));
      return send('POST', '/v1/files', form, withKey());
    },
  };
}
type Service = ReturnType<typeof service>;

/** What the documentation states. A service that differs here does not conform. */
const documented = (title: string, holds: (service: Service) => Promise<void>) => test(title, () => holds(service()));

/** What the documentation leaves open, as far as a client can observe it. */
const assumed = (title: string, ours: unknown, observe: (service: Service) => Promise<unknown>) =>
  test(title, async () => {
    const seen = await observe(service());

    // A real service may differ. We report the difference, since a switch may cover it, and do not fail.
    if (REAL === undefined) expect(seen).toEqual(ours);
    else if (seen !== ours)
      console.warn(`DIFFERENT ${title}: ${JSON.stringify(seen)}, assumed ${JSON.stringify(ours)}`);
  });

describe(`conformance of ${REAL ?? 'the emulator'}`, () => {
  documented('GET /api/context returns summary, pins and metadata', async ({ context, conversationId }) => {
    const { status, body } = await context('GET', `/api/context?conversationId=${conversationId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      context: { rollingSummary: SUMMARY, pinnedMemory: expect.any(Array), metadata: METADATA },
    });
  });

  documented('GET /api/context/summary returns only the summary', async ({ context, conversationId }) => {
    const { body } = await context('GET', `/api/context/summary?conversationId=${conversationId}`);
    expect(Object.keys(body).sort()).toEqual(['success', 'summary']);
    expect(body.summary).toMatchObject(SUMMARY);
  });

  documented('POST /api/context/compact reports the tokens it removed', async ({ context, conversationId }) => {
    const { status, body } = await context('POST', '/api/context/compact', { conversationId, level: 'light' });
    expect(status).toBe(200);
    const { previousTokenCount, newTokenCount, tokensRemoved, summaryUpdated } = body.result;
    expect(tokensRemoved).toBe(previousTokenCount - newTokenCount);
    expect(typeof summaryUpdated).toBe('boolean');
  });

  documented('a message is pinned and unpinned', async ({ context, conversationId, messageId }) => {
    const pin = { messageId, category: 'reference' };
    const { status, body } = await context('POST', `/api/context/pin/${conversationId}`, pin);
    expect(status).toBe(200);
    const item = { id: expect.any(String), content: expect.any(String), pinnedAt: TIMESTAMP, ...pin };
    expect(body.pinnedItem).toMatchObject(item);
    const { context: found } = (await context('GET', `/api/context?conversationId=${conversationId}`)).body;
    expect(found.pinnedMemory).toContainEqual(expect.objectContaining({ messageId }));
    expect((await context('DELETE', `/api/context/pin/${conversationId}?messageId=${messageId}`)).status).toBe(200);
  });

  documented('a message is excluded and included again', async ({ context, conversationId, messageId }) => {
    for (const exclude of [true, false]) {
      const path = `/api/context/exclude/${conversationId}/${messageId}`;
      expect(await context('PATCH', path, { exclude })).toMatchObject({ status: 200, body: { success: true } });
    }
  });

  documented('memory is created, listed by type, changed and deleted', async ({ context }) => {
    const item = { type: 'constraint', key: 'conformance', content: 'one' };
    const { memory } = (await context('POST', '/api/memory', item)).body;
    expect(memory).toMatchObject({ id: expect.any(String), ...item });
    const list = async (type: string) =>
      (await context('GET', `/api/memory?type=${type}`)).body.memories as { id: string; type: string }[];
    expect((await list('constraint')).map(({ id }) => id)).toContain(memory.id);
    expect((await list('fact')).every(({ type }) => type === 'fact')).toBe(true);
    const changed = await context('PATCH', `/api/memory/${memory.id}`, { content: 'two', isActive: false });
    expect(changed.body.memory).toMatchObject({ content: 'two' });
    expect((await context('DELETE', `/api/memory/${memory.id}`)).status).toBe(200);
    expect((await context('DELETE', `/api/memory/${memory.id}`)).status).toBe(404);
  });

  documented('the Context API returns 400, 401 and 404 in its error format', async (service) => {
    const { context, bare, conversationId } = service;
    const body = { success: false, error: expect.any(String) };
    const wrong = await context('POST', '/api/context/compact', { conversationId, level: 'max' });
    expect(wrong).toMatchObject({ status: 400, body });
    expect(await bare('/api/memory')).toMatchObject({ status: 401, body });
    const unknown = await context('GET', '/api/context?conversationId=no-such-conversation');
    expect(unknown).toMatchObject({ status: 404, body });
  });

  documented('POST /v1/chat/completions returns a choice and the usage', async ({ ask }) => {
    const { status, body } = await ask({ max_tokens: 20 });
    const text = expect.any(String);
    const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: text };
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: text, object: text, created: expect.any(Number), model: text });
    expect(body.choices[0]).toMatchObject(choice);
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
  });

  documented('every Gateway response has the three rate limit headers, also an error', async ({ gateway, bare }) => {
    for (const { headers } of [await gateway('GET', '/v1/presets'), await bare('/v1/presets')]) {
      for (const name of ['limit', 'remaining', 'reset']) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
    }
  });

  documented('the Gateway returns 401, 403 and model_not_found in its error format', async ({ gateway, bare, ask }) => {
    const error = { message: expect.any(String), type: expect.any(String) };
    expect(await bare('/v1/presets')).toMatchObject({ status: 401, body: { error } });
    const wrongKey = await gateway('GET', '/v1/presets', undefined, 'svc_sk_no_such_key');
    expect(wrongKey).toMatchObject({ status: 403, body: { error } });
    const notFound = { type: 'invalid_request_error', code: 'model_not_found', param: 'model' };
    expect((await ask({ model: 'no-such-model' })).body.error).toMatchObject(notFound);
  });

  documented('a temperature above 2 is rejected with param temperature', async ({ ask }) => {
    expect(await ask({ temperature: 2.1 })).toMatchObject({ status: 400, body: { error: { param: 'temperature' } } });
  });

  documented('a publishable key may not read usage or run an integration', async ({ gateway, publishableKey }) => {
    if (publishableKey === undefined) return;
    expect((await gateway('GET', '/v1/usage', undefined, publishableKey)).status).toBe(403);
    expect((await gateway('POST', '/v1/integrations/any/execute', { action: 'x' }, publishableKey)).status).toBe(403);
  });

  documented('a stream consists of server-sent events', async ({ stream }) => {
    expect(await stream()).toMatch(/^data:/m);
  });

  documented('GET /v1/usage adds up', async ({ gateway }) => {
    const { status, body } = await gateway('GET', '/v1/usage');
    expect(status).toBe(200);
    expect(body.period).toEqual({ start: expect.any(String), end: expect.any(String) });
    expect(body.overage_tokens).toBe(Math.max(0, body.tokens_used - body.tokens_included));
    const total = Object.values<number>(body.breakdown_by_model).reduce((sum, tokens) => sum + tokens, 0);
    expect(total).toBe(body.tokens_used);
  });

  documented('files can be uploaded, presets and integrations listed', async ({ upload, gateway }) => {
    expect((await upload()).status).toBeLessThan(300);
    expect((await gateway('GET', '/v1/presets?limit=1')).status).toBe(200);
    expect((await gateway('GET', '/v1/integrations')).status).toBe(200);
  });

  assumed('A3 the shape of a list', 'data, object', async ({ gateway }) => {
    const { body } = await gateway('GET', '/v1/presets');
    return Array.isArray(body) ? 'bare' : Object.keys(body).sort().join(', ');
  });

  assumed('A4 the status of a compaction without a level', 200, async ({ context, conversationId }) => {
    return (await context('POST', '/api/context/compact', { conversationId })).status;
  });

  assumed('A6 the default category of a pin', 'other', async ({ context, conversationId, messageId }) => {
    const { body } = await context('POST', `/api/context/pin/${conversationId}`, { messageId });
    await context('DELETE', `/api/context/pin/${conversationId}?messageId=${messageId}`);
    return body.pinnedItem?.category;
  });

  assumed('A7 the last event of a stream', '[DONE]', async ({ stream }) => {
    const lines = (await stream()).trim().split('\n');
    return lines.at(-1)?.replace(/^data: ?/, '');
  });

  assumed('A9 the status of a completion with a publishable key', 200, async ({ ask, publishableKey }) => {
    if (publishableKey === undefined) return 'not looked at: no publishable key';
    return (await ask({ max_tokens: 5 }, publishableKey)).status;
  });

  assumed('A11 the status of an unknown preset', 404, async ({ gateway, model }) => {
    return (await gateway('POST', '/v1/presets/no-such-preset/execute', { input: 'x', model })).status;
  });

  assumed('A13 the unit of X-RateLimit-Reset', 'epoch-seconds', async ({ gateway }) => {
    const reset = Number((await gateway('GET', '/v1/presets')).headers.get('x-ratelimit-reset'));
    if (reset < 1e6) return 'delta-seconds';
    return reset < 1e11 ? 'epoch-seconds' : 'epoch-milliseconds';
  });

  assumed('A20 the header with the request id', 'x-request-id', async ({ gateway }) => {
    const { headers } = await gateway('GET', '/v1/presets');
    return ['x-request-id', 'request-id'].find((name) => headers.has(name)) ?? 'none';
  });

  assumed('A22 the shape of a Gateway error', 'wrapped', async ({ bare }) => {
    return 'error' in (await bare('/v1/presets')).body ? 'wrapped' : 'bare';
  });

  assumed('A24 the fields of a listed memory item', 'content, id, key, type', async ({ context }) => {
    const item = { type: 'fact', key: 'conformance', content: 'x' };
    const { memory } = (await context('POST', '/api/memory', item)).body;
    const { memories } = (await context('GET', '/api/memory')).body;
    await context('DELETE', `/api/memory/${memory.id}`);
    return Object.keys(memories[0] ?? {})
      .sort()
      .join(', ');
  });

  const notPinned = 'A27 the status of unpinning a message that is not pinned';
  assumed(notPinned, 404, async ({ context, conversationId, messageId }) => {
    return (await context('DELETE', `/api/context/pin/${conversationId}?messageId=${messageId}`)).status;
  });

  assumed('A30 the status of a wrong session token', 401, async ({ bare }) => {
    return (await bare('/api/memory', { authorization: 'Bearer nobody' })).status;
  });
});

const TIMESTAMP = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/);
const SUMMARY = {
  goals: expect.any(Array),
  decisions: expect.any(Array),
  requirements: expect.any(Array),
  currentPlan: expect.any(Array),
  openQuestions: expect.any(Array),
  definitions: expect.any(Object),
  importantReferences: expect.any(Array),
  stylePreferences: expect.any(Object),
  lastUpdated: TIMESTAMP,
  version: expect.any(Number),
};
const METADATA = {
  totalTokens: expect.any(Number),
  compressedTokens: expect.any(Number),
  preservationRatio: expect.any(Number),
  recentMessageCount: expect.any(Number),
};
