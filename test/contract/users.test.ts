import { ConfigurationError, ContextClient } from 'context-gateway';
import { expect, test, vi } from 'vitest';
import { contextAt, failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';

const service = emulatedService({});

test('a client for a user sends the token of the user', async () => {
  const ada = service.emulator.sessions.create({ userId: 'ada' });
  const context = new ContextClient({ baseURL: service.baseURL, maxRetries: 0 });

  await context.forUser(ada.token).memory.create({ type: 'fact', key: 'home', content: 'Oslo' });

  expect(await context.forUser(ada.token).memory.list()).toMatchObject([{ content: 'Oslo' }]);
  expect(await service.context().memory.list()).toEqual([]);
  expect(await failureOf(context.memory.list())).toBeInstanceOf(ConfigurationError);
  await context.close();
});

test('users have limits of their own, which the next client for the same user knows', async () => {
  const fetch = vi.fn(async (_: unknown, init?: RequestInit) => {
    const isAda = new Headers(init?.headers).get('authorization') === 'Bearer token-of-ada';
    const headers = { 'x-ratelimit-remaining': isAda ? '0' : '9', 'x-ratelimit-reset': '60' };
    return Response.json({ success: true, memories: [] }, { headers });
  });
  const context = contextAt({ fetch: fetch as typeof globalThis.fetch, maxRetryAfter: 0 });

  await context.forUser('token-of-ada').memory.list();
  await context.forUser('token-of-bob').memory.list();
  await context.forUser('token-of-bob').memory.list();
  const error = await failureOf(context.forUser('token-of-ada').memory.list());

  expect(error).toMatchObject({ name: 'RateLimitError', sent: 'no' });
  expect(fetch).toHaveBeenCalledTimes(3);
  expect(context.forUser('token-of-ada').rateLimit).toMatchObject({ context: { remaining: 0 } });
  expect(context.rateLimit).toEqual({});
});

test('closing a client closes those of its users', async () => {
  const context = new ContextClient({ baseURL: service.baseURL });
  const user = context.forUser(service.emulator.sessionToken);

  await context.close();

  expect(await failureOf(user.memory.list())).toMatchObject({ name: 'ClientClosedError' });
});

test.each([undefined, null, ''])('a missing token of a user (%s) never means the token of the server', (token) => {
  const context = service.context();

  expect(() => context.forUser(token as never)).toThrow('forUser needs the session token of the user.');
  expect(() => context.forUser('two words')).toThrow(ConfigurationError);
});

test('calls of all users have different numbers in events', async () => {
  const calls = new Set<number>();
  const context = service.context({ onEvent: (event) => event.type === 'start' && calls.add(event.call) });

  await Promise.all([context.memory.list(), context.forUser(service.emulator.sessionToken).memory.list()]);

  expect(calls.size).toBe(2);
});
