import type { ServiceUnderTest } from './service.js';

/** What the documentation leaves open, as far as a client can observe it. */
export const ASSUMED: readonly {
  id: string;
  title: string;
  ours: unknown;
  observe: (service: ServiceUnderTest) => Promise<unknown>;
}[] = [
  {
    id: 'A3',
    title: 'the shape of a list',
    ours: 'data, object',
    observe: async ({ gateway }) => {
      const { body } = await gateway('GET', '/v1/presets');
      return Array.isArray(body) ? 'bare' : Object.keys(body).sort().join(', ');
    },
  },
  {
    id: 'A4',
    title: 'the status of a compaction without a level',
    ours: 200,
    observe: async ({ context, conversationId }) =>
      (await context('POST', '/api/context/compact', { conversationId })).status,
  },
  {
    id: 'A6',
    title: 'the default category of a pin',
    ours: 'other',
    observe: async ({ context, conversationId, messageId }) => {
      const { body } = await context('POST', `/api/context/pin/${conversationId}`, { messageId });
      await context('DELETE', `/api/context/pin/${conversationId}?messageId=${messageId}`);
      return body.pinnedItem?.category;
    },
  },
  {
    id: 'A7',
    title: 'the last event of a stream',
    ours: '[DONE]',
    observe: async ({ stream }) =>
      (await stream('Say one word.'))
        .trim()
        .split('\n')
        .at(-1)
        ?.replace(/^data: ?/, ''),
  },
  {
    id: 'A9',
    title: 'the status of a completion with a publishable key',
    ours: 200,
    observe: async ({ gateway, publishableKey, model }) => {
      if (publishableKey === undefined) return 'not looked at: no publishable key';
      const body = { model, max_tokens: 5, messages: [{ role: 'user', content: 'Hi.' }] };
      return (await gateway('POST', '/v1/chat/completions', body, publishableKey)).status;
    },
  },
  {
    id: 'A11',
    title: 'the status of an unknown preset',
    ours: 404,
    observe: async ({ gateway, model }) =>
      (await gateway('POST', '/v1/presets/no-such-preset/execute', { input: 'x', model })).status,
  },
  {
    id: 'A13',
    title: 'the unit of X-RateLimit-Reset',
    ours: 'epoch-seconds',
    observe: async ({ gateway }) => {
      const reset = Number((await gateway('GET', '/v1/presets')).headers.get('x-ratelimit-reset'));
      if (reset < 1e6) return 'delta-seconds';
      return reset < 1e11 ? 'epoch-seconds' : 'epoch-milliseconds';
    },
  },
  {
    id: 'A20',
    title: 'the header with the request id',
    ours: 'x-request-id',
    observe: async ({ gateway }) => {
      const { headers } = await gateway('GET', '/v1/presets');
      return ['x-request-id', 'request-id'].find((name) => headers.has(name)) ?? 'none';
    },
  },
  {
    id: 'A22',
    title: 'the shape of a Gateway error',
    ours: 'wrapped',
    observe: async ({ bare }) => ('error' in (await bare('GET', '/v1/presets')).body ? 'wrapped' : 'bare'),
  },
  {
    id: 'A24',
    title: 'the fields of a listed memory item',
    ours: 'content, id, key, type',
    observe: async ({ context }) => {
      const { memory } = (await context('POST', '/api/memory', { type: 'fact', key: 'conformance', content: 'x' }))
        .body;
      const { memories } = (await context('GET', '/api/memory')).body;
      await context('DELETE', `/api/memory/${memory.id}`);
      return Object.keys(memories[0] ?? {})
        .sort()
        .join(', ');
    },
  },
  {
    id: 'A27',
    title: 'the status of unpinning a message that is not pinned',
    ours: 404,
    observe: async ({ context, conversationId, messageId }) =>
      (await context('DELETE', `/api/context/pin/${conversationId}?messageId=${messageId}`)).status,
  },
  {
    id: 'A30',
    title: 'the status of a wrong session token',
    ours: 401,
    observe: async ({ bare }) => (await bare('GET', '/api/memory', { authorization: 'Bearer nobody' })).status,
  },
];
