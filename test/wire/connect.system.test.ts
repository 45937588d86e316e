import Agent from 'undici/lib/dispatcher/agent.js';
import { describe, expect, test, vi } from 'vitest';
import { GatewayClient } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { json } from './behaviours.js';
import { selfSigned } from './certificate.js';
import { FaultServer } from './fault-server.js';
import { eager, failureOf, GET, KEY, POST, serve, until } from './world.js';

describe.each(engines)('$engine', ({ engine, options }) => {
  describe.each([
    { certificate: 'is self-signed', tls: selfSigned() },
    { certificate: 'has expired', tls: selfSigned({ days: -2 }) },
    { certificate: 'is for another host', tls: selfSigned({ host: 'other.test' }) },
  ])('a certificate that $certificate', ({ tls }) => {
    const world = serve(tls);

    test('fails the call before anything is sent, without a retry', async () => {
      const error = await failureOf(world.gateway(options).request(GET));

      expect(error).toMatchObject({ name: 'APIConnectionError', phase: 'connect', sent: 'no', retryable: false });
      expect(error.message).toMatch(/certificate is not trusted/);
      expect(error.attempts).toHaveLength(1);
      expect(world.server.requests).toBe(0);
    });
  });

  const world = serve();
  const secureURL = () => `https://localhost:${world.server.port}`;

  test('a connection that breaks in the TLS handshake is a connection error, retried if that is safe', async () => {
    world.server.onConnection = (socket) => {
      socket.once('data', () => socket.resetAndDestroy());
      return true;
    };
    const client = world.gateway({ ...options, baseURL: secureURL() });

    const safe = await failureOf(client.request(GET));
    const effect = await failureOf(client.request(POST));

    expect(safe.attempts).toHaveLength(3);
    // fetch cannot distinguish it from a response that broke off.
    if (engine === 'fetch') expect(effect).toMatchObject({ sent: 'maybe', attempts: [expect.anything()] });
    else expect(effect).toMatchObject({ phase: 'connect', sent: 'no', attempts: { length: 3 } });
    expect(world.server.requests).toBe(0);
  });

  test('an unknown host is looked up at most twice', async () => {
    const client = world.gateway({ ...options, baseURL: 'https://no-such-host.invalid', maxRetries: 5 });

    const error = await failureOf(client.request(POST));

    expect(error).toMatchObject({ name: 'APIConnectionError', phase: 'connect', sent: 'no' });
    expect(error.attempts.length).toBeLessThanOrEqual(error.message.includes('ENOTFOUND') ? 2 : 6);
    expect(error.message).toContain('from https://no-such-host.invalid:');
  });

  test('a service that accepts a connection and ignores the handshake ends the attempt with a timeout', async () => {
    world.server.onConnection = (socket) => {
      socket.resume();
      return true;
    };
    const client = world.gateway({ ...options, baseURL: secureURL(), maxRetries: 0 });

    const error = await failureOf(client.request(POST, { timeout: 200 }));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt' });
    if (engine === 'undici') {
      expect(error).toMatchObject({ phase: 'connect', sent: 'no' });
      await client.close();
      await until(() => world.server.open.size === 0);
    }
  });
});

describe('by error code', () => {
  test.each([
    { code: 'ENOTFOUND', attempts: 2, sent: 'no' },
    { code: 'EAI_AGAIN', attempts: 4, sent: 'no' },
    { code: 'ECONNREFUSED', attempts: 4, sent: 'no' },
    { code: 'UND_ERR_CONNECT_TIMEOUT', attempts: 4, sent: 'no' },
    { code: 'CERT_HAS_EXPIRED', attempts: 1, sent: 'no' },
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', attempts: 1, sent: 'no' },
    { code: 'ECONNRESET', attempts: 1, sent: 'maybe' },
  ])('$code: a POST is tried $attempts times, sent: $sent', async ({ code, attempts, sent }) => {
    const cause = Object.assign(new Error(`${code} ${KEY}`), { code });
    const fail = () => Promise.reject(new TypeError('fetch failed', { cause }));
    const options = { baseURL: 'https://service.test', apiKey: KEY, maxRetries: 3 };
    // Its source text is that of the platform's own fetch.
    const fetch = Object.assign(fail, { toString: () => 'function fetch() { [native code] }' });
    vi.stubGlobal('fetch', fetch);
    const native = new GatewayClient({ ...options, fetch }, undefined, eager);
    vi.unstubAllGlobals();

    const error = await failureOf(native.request(POST));

    expect(error).toMatchObject({ name: 'APIConnectionError', sent });
    expect(error.attempts).toHaveLength(attempts);
    expect(error.message).toContain(code);

    // Any other fetch may have retried by itself: its last error says nothing about the first try.
    const wrapped = await failureOf(
      new GatewayClient({ ...options, fetch: () => fail() }, undefined, eager).request(POST),
    );
    expect(wrapped).toMatchObject({ sent: 'maybe', attempts: [{ error: 'APIConnectionError' }] });
  });
});

describe("the user's dispatcher", () => {
  const tls = selfSigned();
  const world = serve(tls);

  test('trusts its own CA, is used for every call, and stays open after close()', async () => {
    const dispatcher = new Agent({ connect: { ca: tls.cert } });
    world.server.answers(json({ a: 1 }));
    const client = world.gateway({ dispatcher });

    expect(await client.request(GET)).toEqual({ a: 1 });
    await client.close();
    expect(await world.gateway({ dispatcher }).request(GET)).toEqual({ a: 1 });
    await dispatcher.close();
  });

  test('still rejects a trusted certificate for another host', async () => {
    const other = selfSigned({ host: 'other.test' });
    const server = await FaultServer.start(other);
    const dispatcher = new Agent({ connect: { ca: other.cert } });

    const error = await failureOf(world.gateway({ dispatcher, baseURL: server.url }).request(GET));

    expect(error).toMatchObject({ phase: 'connect', sent: 'no', retryable: false, attempts: [expect.anything()] });
    expect(error.message).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
    await dispatcher.close();
    await server.close();
  });
});
