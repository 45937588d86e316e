import { GatewayClient } from 'context-gateway';
import { createConversation, memoryStore } from 'context-gateway/conversation';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isBrowser } from '../../src/platform/environment.js';
import { gate } from '../conversation/world.js';
import { chatParams, completion } from '../helpers/samples.js';
import { contextAt, gatewayAt } from '../helpers/service.js';

afterEach(() => void vi.unstubAllGlobals());

describe('a program that users can read', () => {
  const importScripts = () => {};
  const shim = { env: {}, versions: {} };
  test.each([
    { is: 'a page', scope: { window: {}, document: {}, process: shim }, expected: true },
    { is: 'a worker of a page', scope: { importScripts, process: undefined }, expected: true },
    { is: 'a worker of a page with a process shim', scope: { importScripts, process: shim }, expected: true },
    { is: 'no Node with importScripts', scope: { importScripts }, expected: false },
    { is: 'no old workerd', scope: { importScripts, process: undefined, WebSocketPair: class {} }, expected: false },
    { is: 'no Deno', scope: { importScripts, process: undefined, Deno: {} }, expected: false },
    { is: 'no Bun', scope: { importScripts, process: undefined, Bun: {} }, expected: false },
  ])('is $is', ({ scope, expected }) => {
    for (const [name, value] of Object.entries(scope)) vi.stubGlobal(name, value);

    expect(isBrowser()).toBe(expected);
  });
});

const forbidden = (): never => {
  throw new Error('Disallowed operation called within global scope.');
};

test('a fetch that forbids reading headers is read without them', async () => {
  const body = JSON.stringify(completion());
  const guarded = async () => ({ status: 200, headers: { get: forbidden }, text: async () => body });
  const gateway = gatewayAt({ fetch: guarded as never });

  expect(await gateway.chat.completions.create(chatParams)).toEqual(completion());
});

test('nothing that Vue would wrap in a proxy: a client, a conversation, a stream, a reply', async () => {
  const fetch = async () => new Response('data: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } });
  const gateway = gatewayAt({ fetch });
  const conversation = createConversation({ gateway, conversationId: 'c', model: 'm' });
  const stream = await gateway.chat.completions.create({ ...chatParams, stream: true });

  // Vue wraps what is an Object, an Array or a collection by this name.
  const names = [gateway, contextAt(), conversation, stream, conversation.stream('x')].map((value) =>
    Object.prototype.toString.call(value),
  );
  expect(names).not.toContain('[object Object]');
  await gateway.close();
});

test('a conversation may be created where a platform forbids timers, abort signals and random numbers', () => {
  const gateway = gatewayAt();
  vi.stubGlobal('AbortController', forbidden);
  vi.stubGlobal('setTimeout', forbidden);
  vi.stubGlobal('crypto', { randomUUID: forbidden, getRandomValues: forbidden });

  expect(() => createConversation({ gateway, conversationId: 'c', model: 'm' })).not.toThrow();
});

test('in workerd, no turn waits for one of another request, and both are stored', async () => {
  vi.stubGlobal('WebSocketPair', class {});
  const first = gate();
  let calls = 0;
  const fetch = async () => {
    calls += 1;
    if (calls === 1) await first.passed;
    return Response.json(completion());
  };
  const store = memoryStore();
  const gateway = gatewayAt({ fetch });
  const conversation = createConversation({ gateway, conversationId: 'c', model: 'm', store });

  const slow = conversation.send('One?');
  await vi.waitFor(() => expect(calls).toBe(1), { timeout: 30_000 });
  await conversation.send('Two?');
  first.open();
  await slow;

  const { messages } = (await store.load('c')) ?? {};
  expect(messages?.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'assistant']);
});

test('in Deno, a missing setting also names the permission to read the environment', async () => {
  vi.stubGlobal('Deno', {});
  vi.stubEnv('CONTEXT_GATEWAY_BASE_URL', '');

  const call = new GatewayClient({ apiKey: 'svc_sk_deno_12345' }).presets.list();

  await expect(call).rejects.toThrow(/or set CONTEXT_GATEWAY_BASE_URL, and run with --allow-env/);
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
