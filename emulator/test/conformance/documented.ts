import { expect } from 'vitest';
import type { ServiceUnderTest } from './service.js';

/** What the documentation states. A service that differs here does not conform. */
export const DOCUMENTED: readonly { title: string; holds: (service: ServiceUnderTest) => Promise<void> }[] = [
  {
    title: 'GET /api/context returns summary, pins and metadata',
    holds: async ({ context, conversationId }) => {
      const { status, body } = await context('GET', `/api/context?conversationId=${conversationId}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        success: true,
        context: { rollingSummary: SUMMARY, pinnedMemory: expect.any(Array), metadata: METADATA },
      });
    },
  },
  {
    title: 'GET /api/context/summary returns only the summary',
    holds: async ({ context, conversationId }) => {
      const { body } = await context('GET', `/api/context/summary?conversationId=${conversationId}`);
      expect(Object.keys(body).sort()).toEqual(['success', 'summary']);
      expect(body.summary).toMatchObject(SUMMARY);
    },
  },
  {
    title: 'POST /api/context/compact reports the tokens it removed',
    holds: async ({ context, conversationId }) => {
      const { status, body } = await context('POST', '/api/context/compact', { conversationId, level: 'light' });
      expect(status).toBe(200);
      const { previousTokenCount, newTokenCount, tokensRemoved, summaryUpdated } = body.result;
      expect(tokensRemoved).toBe(previousTokenCount - newTokenCount);
      expect(typeof summaryUpdated).toBe('boolean');
    },
  },
  {
    title: 'a message is pinned and unpinned',
    holds: async ({ context, conversationId, messageId }) => {
      const { status, body } = await context('POST', `/api/context/pin/${conversationId}`, {
        messageId,
        category: 'reference',
      });
      expect(status).toBe(200);
      expect(body.pinnedItem).toMatchObject({
        id: expect.any(String),
        messageId,
        content: expect.any(String),
        category: 'reference',
        pinnedAt: TIMESTAMP,
      });
      const { context: found } = (await context('GET', `/api/context?conversationId=${conversationId}`)).body;
      expect(found.pinnedMemory.map((pin: { messageId: string }) => pin.messageId)).toContain(messageId);
      expect((await context('DELETE', `/api/context/pin/${conversationId}?messageId=${messageId}`)).status).toBe(200);
    },
  },
  {
    title: 'a message is excluded and included again',
    holds: async ({ context, conversationId, messageId }) => {
      for (const exclude of [true, false]) {
        const { status, body } = await context('PATCH', `/api/context/exclude/${conversationId}/${messageId}`, {
          exclude,
        });
        expect([status, body.success]).toEqual([200, true]);
      }
    },
  },
  {
    title: 'memory is created, listed by type, changed and deleted',
    holds: async ({ context }) => {
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
    },
  },
  {
    title: 'the Context API returns 400, 401 and 404 in its error format',
    holds: async ({ context, bare, conversationId }) => {
      const refused = { success: false, error: expect.any(String) };
      expect(await context('POST', '/api/context/compact', { conversationId, level: 'max' })).toMatchObject({
        status: 400,
        body: refused,
      });
      expect(await bare('GET', '/api/memory')).toMatchObject({ status: 401, body: refused });
      expect(await context('GET', '/api/context?conversationId=no-such-conversation')).toMatchObject({
        status: 404,
        body: refused,
      });
    },
  },
  {
    title: 'POST /v1/chat/completions returns a choice and the usage',
    holds: async ({ gateway, model }) => {
      const { status, body } = await gateway('POST', '/v1/chat/completions', {
        model,
        max_tokens: 20,
        messages: [{ role: 'user', content: 'Say one word.' }],
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        id: expect.any(String),
        object: expect.any(String),
        created: expect.any(Number),
        model: expect.any(String),
      });
      expect(body.choices[0]).toMatchObject({
        index: 0,
        message: { role: 'assistant', content: expect.any(String) },
        finish_reason: expect.any(String),
      });
      expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    },
  },
  {
    title: 'every Gateway response has the three rate limit headers, also an error',
    holds: async ({ gateway, bare }) => {
      for (const { headers } of [await gateway('GET', '/v1/presets'), await bare('GET', '/v1/presets')]) {
        for (const name of ['limit', 'remaining', 'reset']) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
      }
    },
  },
  {
    title: 'the Gateway returns 401 without a key, 403 for a wrong key and model_not_found in its error format',
    holds: async ({ gateway, bare }) => {
      const error = { message: expect.any(String), type: expect.any(String) };
      expect(await bare('GET', '/v1/presets')).toMatchObject({ status: 401, body: { error } });
      expect(await gateway('GET', '/v1/presets', undefined, 'svc_sk_no_such_key')).toMatchObject({
        status: 403,
        body: { error },
      });
      const unknown = await gateway('POST', '/v1/chat/completions', {
        model: 'no-such-model',
        messages: [{ role: 'user', content: 'x' }],
      });
      expect(unknown.body.error).toMatchObject({
        type: 'invalid_request_error',
        code: 'model_not_found',
        param: 'model',
      });
    },
  },
  {
    title: 'a temperature above 2 is rejected with param temperature',
    holds: async ({ gateway, model }) => {
      const { status, body } = await gateway('POST', '/v1/chat/completions', {
        model,
        temperature: 2.1,
        messages: [{ role: 'user', content: 'x' }],
      });
      expect(status).toBe(400);
      expect(body.error.param).toBe('temperature');
    },
  },
  {
    title: 'a publishable key may not read usage or run an integration',
    holds: async ({ gateway, publishableKey }) => {
      if (publishableKey === undefined) return;
      expect((await gateway('GET', '/v1/usage', undefined, publishableKey)).status).toBe(403);
      expect((await gateway('POST', '/v1/integrations/any/execute', { action: 'x' }, publishableKey)).status).toBe(403);
    },
  },
  {
    title: 'a stream consists of server-sent events',
    holds: async ({ stream }) => {
      expect(await stream('Say one word.')).toMatch(/^data:/m);
    },
  },
  {
    title: 'GET /v1/usage adds up',
    holds: async ({ gateway }) => {
      const { status, body } = await gateway('GET', '/v1/usage');
      expect(status).toBe(200);
      expect(body.period).toEqual({ start: expect.any(String), end: expect.any(String) });
      expect(body.overage_tokens).toBe(Math.max(0, body.tokens_used - body.tokens_included));
      const total = Object.values<number>(body.breakdown_by_model).reduce((sum, tokens) => sum + tokens, 0);
      expect(total).toBe(body.tokens_used);
    },
  },
  {
    title: 'files can be uploaded, presets and integrations listed',
    holds: async ({ upload, gateway }) => {
      expect((await upload()).status).toBeLessThan(300);
      expect((await gateway('GET', '/v1/presets?limit=1')).status).toBe(200);
      expect((await gateway('GET', '/v1/integrations')).status).toBe(200);
    },
  },
];

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
