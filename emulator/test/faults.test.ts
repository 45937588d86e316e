import { describe, expect, test } from 'vitest';
import { ruleName } from '../inspector/faults/rules.js';
import { parseFault } from '../src/faults/syntax.js';
import type { Emulator, FaultResponse, FaultRule } from '../src/index.js';
import { callsTo, eventsOf, openStream, testEmulator } from './support.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** An emulator whose next response has this fault. */
const faulty = (respond: FaultResponse) => {
  const emulator = testEmulator();
  emulator.faults.add({ respond });
  const stream = async (init: RequestInit = {}) =>
    eventsOf(await (await openStream(emulator, 'How tall is the tower?', {}, init)).text());
  return { emulator, ...callsTo(emulator), stream };
};

const statusOf = async (emulator: Emulator) => (await callsTo(emulator).gateway('GET', '/v1/presets')).status;
const statusesOf = async (emulator: Emulator, calls: number) => {
  const seen: number[] = [];
  for (let i = 0; i < calls; i += 1) seen.push(await statusOf(emulator));
  return seen;
};

describe('a rule', () => {
  test('fires from the n-th match on, as often as set or once, and leaves other requests to the next rule', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ match: { path: '/v1/presets', nth: 3 }, times: 2, respond: { status: 503 } });
    emulator.faults.add({ respond: { status: 500 } });

    expect(await statusesOf(emulator, 6)).toEqual([500, 200, 503, 503, 200, 200]);
    expect(emulator.faults.list()).toEqual([]);
  });

  test('fires with its probability, and the same way for the same seed', async () => {
    const run = async (seed: string) => {
      const emulator = testEmulator({ seed });
      emulator.faults.add({ match: { probability: 0.3 }, times: 1e6, respond: { status: 500 } });
      return statusesOf(emulator, 200);
    };

    const one = await run('one');

    expect(await run('one')).toEqual(one);
    expect(await run('two')).not.toEqual(one);
    const failed = one.filter((status) => status === 500).length;
    expect(failed).toBeGreaterThan(40);
    expect(failed).toBeLessThan(80);
  });

  test('applies to the requests it matches', async () => {
    const emulator = testEmulator();
    const { ask, gateway, context } = callsTo(emulator);
    const respond = { status: 500 };
    emulator.faults.add({ match: { method: 'POST', path: '/v1/chat/*', header: { 'x-try': '2' } }, times: 9, respond });
    emulator.faults.add({ match: { path: /memory$/ }, times: 9, respond });

    expect((await ask('x')).status).toBe(200);
    expect((await ask('x', {}, { 'x-try': '2' })).status).toBe(500);
    expect((await gateway('GET', '/v1/presets', undefined, { 'x-try': '2' })).status).toBe(200);
    expect((await context('GET', '/api/memory')).status).toBe(500);
  });

  test('is listed with its regular expression, and as unlimited if times is infinite', async () => {
    const emulator = testEmulator();
    const times = Number.POSITIVE_INFINITY;
    emulator.faults.add({ match: { path: /^\/v1/ }, times, respond: { status: 418 } });
    emulator.faults.add({ match: { path: '/v1/*' }, times, respond: { status: 503 } });

    const { body } = await callsTo(emulator).control('GET', '/faults');

    expect(body).toMatchObject([
      { match: { path: '/^\\/v1/' }, remaining: null },
      { match: { path: '/v1/*' }, remaining: null },
    ]);
    expect(body.map(ruleName)).toEqual(['status 418 on /^\\/v1/', 'Gateway down']);
  });

  const respond = { status: 503 };
  test.each<{ rule: object; says: string }>([
    { rule: { match: { nth: 0 }, respond }, says: 'match.nth is not valid: at least 1' },
    { rule: { match: { probability: 1.5 }, respond }, says: 'match.probability is not valid: at most 1' },
    { rule: { match: { probability: -1 }, respond }, says: 'match.probability is not valid: at least 0' },
    { rule: { match: { paths: '/v1/usage' }, respond }, says: 'is not a documented field' },
    { rule: { respond: { status: 503, bodyy: 'x' } }, says: 'is not a documented field' },
    { rule: { response: respond }, says: 'did you mean respond?' },
    { rule: { times: 0, respond }, says: 'times is not valid: at least 1' },
    { rule: { respond: { type: 'stal' } }, says: 'respond.type is not valid: expected one of status, reset, stall, ' },
    { rule: { respond: { status: 204, body: 'x' } }, says: 'a response with this status has no body' },
    { rule: { respond: { status: 99 } }, says: 'respond.status is not valid: at least 200' },
    { rule: { respond: { status: 200, headers: { 'a b': 'c' } } }, says: 'not a valid header name' },
  ])('is rejected when it is added: $rule', async ({ rule, says }) => {
    const emulator = testEmulator();
    const add = () => emulator.faults.add(rule as FaultRule);

    expect(add).toThrow(RangeError);
    expect(add).toThrow(says);
    expect(await callsTo(emulator).control('POST', '/faults', rule)).toMatchObject({ status: 400 });
    expect(emulator.faults.list()).toEqual([]);
  });
});

test('a rule whose body is not JSON is rejected when it is added', () => {
  const body: Record<string, unknown> = {};
  body.self = body;

  expect(() => testEmulator().faults.add({ respond: { status: 200, body } })).toThrow(RangeError);
});

describe('a fault', () => {
  test('responds in the format of the area it hits', async () => {
    const emulator = testEmulator();
    const { context, gateway } = callsTo(emulator);
    emulator.faults.add({ times: 2, respond: { status: 429, retryAfter: 7 } });
    emulator.faults.add({ respond: { status: 503 } });

    const api = await context('GET', '/api/memory');
    const v1 = await gateway('GET', '/v1/presets');

    expect(api.body).toEqual({ success: false, error: 'Rate limit exceeded' });
    expect(api.headers.get('retry-after')).toBe('7');
    expect(v1.body).toEqual({ error: { message: 'Rate limit exceeded', type: 'rate_limit_error', retry_after: 7 } });
    expect((await gateway('GET', '/v1/presets')).body.error).toEqual({
      message: 'The service is temporarily unavailable',
      ...{ type: 'service_unavailable', param: '', code: 'service_unavailable' },
    });
  });

  test.each([
    { when: 'before' as const, items: 0 },
    { when: 'after' as const, items: 1 },
  ])('can break the connection $when the work is done', async ({ when, items }) => {
    const { emulator, context } = faulty({ type: 'reset', when });
    const attempt = context('POST', '/api/memory', { type: 'fact', key: 'a', content: 'b' });

    await expect(attempt).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNRESET' } });

    expect(emulator.state().memory).toHaveLength(items);
    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'reset', fault: 'reset', status: undefined });
  });

  test.each(['malformed', 'garbage'] as const)('can return what is not JSON: %s', async (type) => {
    const { context } = faulty({ type });

    await expect(context('GET', '/api/memory')).rejects.toThrow(SyntaxError);
    expect((await context('GET', '/api/memory')).body).toEqual({ success: true, memories: [] });
  });

  test.each([{ type: 'malformed' } as const, { type: 'garbleStream', afterEvents: 1 } as const])(
    'can garble an event of a stream: $type',
    async (respond) => {
      const { stream } = faulty(respond);

      const events = await stream();

      expect(events).toHaveLength((await stream()).length);
      expect(() => JSON.parse(events[1] ?? '')).toThrow(SyntaxError);
      expect(() => JSON.parse(events[2] ?? '')).not.toThrow();
      expect(events.at(-1)).toBe('[DONE]');
    },
  );

  test('can send a body slowly, by the clock', async () => {
    const { emulator } = faulty({ type: 'drip', bytes: 10, every: 50 });
    const headers = { authorization: `Bearer ${emulator.sessionToken}` };
    const { body } = await emulator.fetch('http://emulator.test/api/memory', { headers });
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    for (let piece = 0; piece < 3; piece += 1) {
      const reading = reader.read();
      await settle();
      emulator.clock.advance(50);
      expect((await reading).value).toHaveLength(10);
    }

    expect(JSON.stringify({ success: true, memories: [] })).toHaveLength(30);
    expect((await reader.read()).done).toBe(true);
  });

  test('can delay a response, by the clock', async () => {
    const { emulator, gateway } = faulty({ type: 'slow', delay: 5000 });
    const attempt = gateway('GET', '/v1/presets');

    emulator.clock.advance(4999);
    await settle();
    emulator.clock.advance(1);
    await attempt;
    expect(emulator.requests.at(-1)).toMatchObject({ duration: 5000, fault: 'slow' });
  });

  test('can stall until the caller leaves, before the response or in a stream', async () => {
    for (const respond of [{ type: 'stall' }, { type: 'cutStream', afterEvents: 2, how: 'stall' }] as const) {
      const { emulator, stream } = faulty(respond);
      const aborter = new AbortController();
      const events = stream({ signal: aborter.signal });
      const sent = respond.type === 'stall' ? undefined : 2;
      await expect.poll(() => emulator.requests.map((request) => request.events)).toEqual([sent]);

      aborter.abort(new Error('waited long enough'));

      await expect(events).rejects.toThrow('waited long enough');
    }
  });

  test('can cut off a body', async () => {
    const { emulator } = faulty({ type: 'cutBody', afterBytes: 10 });
    const headers = { authorization: `Bearer ${emulator.apiKeys.secret}` };
    const { body } = await emulator.fetch('http://emulator.test/v1/presets', { headers });
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value).toHaveLength(10);
    await expect(reader.read()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(emulator.requests[0]?.response?.body).toHaveLength(10);
  });

  test.each(['end', 'reset'] as const)('can cut a stream after some events by %s', async (how) => {
    const { emulator, gateway, stream } = faulty({ type: 'cutStream', afterEvents: 3, how });

    if (how === 'reset') await expect(stream()).rejects.toThrow();
    else expect(await stream()).toHaveLength(3);

    const cut = { outcome: 'cut', stoppedBy: 'fault', code: undefined, events: 3, fault: 'cutStream' };
    expect(emulator.requests.at(-1)).toMatchObject(cut);
    expect((await gateway('GET', '/v1/usage')).body.tokens_used).toBe(10 + 2);
  });

  test('can cut a stream before [DONE], the default', async () => {
    const { stream } = faulty({ type: 'cutStream' });
    const cut = await stream();

    expect(cut).toHaveLength((await stream()).length - 1);
    expect(cut).not.toContain('[DONE]');
  });

  test('can send an error event in a stream', async () => {
    const { emulator, stream } = faulty({ type: 'streamError', afterEvents: 2, error: { message: 'overloaded' } });
    const events = await stream();
    emulator.faults.add({ respond: { type: 'streamError', afterEvents: 1 } });
    await stream();

    expect(events).toHaveLength(3);
    expect(JSON.parse(events[2] ?? '')).toEqual({ error: { message: 'overloaded' } });
    expect(emulator.requests.at(-1)).toMatchObject({ stoppedBy: 'fault', code: 'service_unavailable' });
  });
});

describe('the header x-emulator-fault', () => {
  const asked = (fault: string, emulator = testEmulator()) =>
    callsTo(emulator).gateway('GET', '/v1/presets', undefined, { 'x-emulator-fault': fault });

  test('applies to its own request only', async () => {
    const emulator = testEmulator();

    expect((await asked('503', emulator)).status).toBe(503);
    expect(await statusOf(emulator)).toBe(200);
    expect(emulator.requests[0]).toMatchObject({ fault: 'status 503', headers: { 'x-emulator-fault': '503' } });
  });

  test.each<{ header: string; means: FaultResponse }>([
    { header: '429=7', means: { status: 429, retryAfter: 7 } },
    { header: '{"type":"drip","bytes":1,"every":2}', means: { type: 'drip', bytes: 1, every: 2 } },
    { header: 'reset', means: { type: 'reset' } },
    { header: 'reset-after', means: { type: 'reset', when: 'after' } },
    { header: 'stall', means: { type: 'stall' } },
    { header: 'delay=10', means: { type: 'slow', delay: 10 } },
    { header: 'garbage', means: { type: 'garbage' } },
    { header: 'malformed', means: { type: 'malformed' } },
    { header: 'content-type=text/plain', means: { type: 'contentType', contentType: 'text/plain' } },
    { header: 'drip=10:100', means: { type: 'drip', bytes: 10, every: 100 } },
    { header: 'cut-body=5', means: { type: 'cutBody', afterBytes: 5 } },
    { header: 'cut', means: { type: 'cutStream' } },
    { header: 'cut=3:reset', means: { type: 'cutStream', afterEvents: 3, how: 'reset' } },
    { header: 'garble=1', means: { type: 'garbleStream', afterEvents: 1 } },
    { header: 'error=1', means: { type: 'streamError', afterEvents: 1 } },
  ])('with the value $header means $means', ({ header, means }) => {
    expect(parseFault(header)).toEqual(means);
  });

  test('can give a body, headers and a content type', async () => {
    const own = await asked('{"status":502,"body":{"oops":1},"headers":{"retry-after":"3"}}');

    expect(own).toMatchObject({ status: 502, body: { oops: 1 } });
    expect(own.headers.get('retry-after')).toBe('3');
    expect((await asked('content-type=text/plain')).headers.get('content-type')).toBe('text/plain');
  });

  test.each(['nonsense', 'delay=soon', '{', '999'])('with the value %s is rejected with 400', async (header) => {
    expect(await asked(header)).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error' } } });
  });
});
