import { describe, expect, test } from 'vitest';
import { remainingText, ruleName, type ShownFault } from '../inspector/faults/rules.js';
import type { FaultResponse, FaultRule } from '../src/index.js';
import { callsTo, eventsOf, openStream, testEmulator } from './support.js';

describe('a fault', () => {
  test('responds in the format of the area it hits, as many times as set', async () => {
    const emulator = testEmulator();
    const { context, gateway } = callsTo(emulator);
    emulator.faults.add({ times: 2, respond: { status: 429, retryAfter: 7 } });

    const api = await context('GET', '/api/memory');
    const v1 = await gateway('GET', '/v1/presets');

    expect(api.body).toEqual({ success: false, error: 'Rate limit exceeded' });
    expect(api.headers.get('retry-after')).toBe('7');
    expect(v1.body).toEqual({ error: { message: 'Rate limit exceeded', type: 'rate_limit_error', retry_after: 7 } });
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
    expect(emulator.faults.list()).toEqual([]);
  });

  test('fires once by default', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);
    emulator.faults.add({ respond: { status: 503 } });

    const first = await gateway('GET', '/v1/presets');

    expect(first.body.error).toEqual({
      message: 'The service is temporarily unavailable',
      type: 'service_unavailable',
      param: '',
      code: 'service_unavailable',
    });
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
  });

  test('applies to the requests it matches', async () => {
    const emulator = testEmulator();
    const { gateway, context } = callsTo(emulator);
    const respond = { status: 500 };
    emulator.faults.add({ match: { method: 'POST', path: '/v1/chat/*', header: { 'x-try': '2' } }, times: 9, respond });
    emulator.faults.add({ match: { path: /memory$/ }, times: 9, respond });
    const messages = [{ role: 'user', content: 'x' }];
    const chat = (headers: Record<string, string>) =>
      gateway('POST', '/v1/chat/completions', { model: 'atlas-small', messages }, headers);

    expect((await chat({})).status).toBe(200);
    expect((await chat({ 'x-try': '2' })).status).toBe(500);
    expect((await gateway('GET', '/v1/presets', undefined, { 'x-try': '2' })).status).toBe(200);
    expect((await context('GET', '/api/memory')).status).toBe(500);
  });

  test('is listed with its regular expression, and as unlimited if times is infinite', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ match: { path: /^\/v1/ }, times: Number.POSITIVE_INFINITY, respond: { status: 418 } });
    emulator.faults.add({ match: { path: '/v1/*' }, times: Number.POSITIVE_INFINITY, respond: { status: 503 } });

    const { body } = await callsTo(emulator, emulator.fetch, 'http://127.0.0.1').bare('GET', '/_emulator/faults');

    expect(body.map(({ match, remaining }: ShownFault) => [match.path, remaining])).toEqual([
      ['/^\\/v1/', null],
      ['/v1/*', null],
    ]);
    expect(body.map(ruleName)).toEqual(['status 418 on /^\\/v1/', 'Gateway down']);
    expect(body.map(remainingText)).toEqual(['until switched off', 'until switched off']);
  });

  test.each([
    { match: { paths: '/v1/usage' }, respond: { status: 503 } },
    { time: 3, respond: { status: 503 } },
    { respond: { status: 503, bodyy: 'x' } },
    { match: { path: '/v1/usage' }, response: { status: 503 } },
  ])('with an undocumented field is rejected: %j', async (rule) => {
    const emulator = testEmulator();
    const { bare } = callsTo(emulator, emulator.fetch, 'http://127.0.0.1');

    expect(() => emulator.faults.add(rule as FaultRule)).toThrow('is not a documented field');
    expect(await bare('POST', '/_emulator/faults', rule)).toMatchObject({ status: 400 });
    expect(emulator.faults.list()).toEqual([]);
  });

  test('without respond suggests it', () => {
    const misspelt = { response: { status: 503 } } as never;

    expect(() => testEmulator().faults.add(misspelt)).toThrow('did you mean respond?');
  });

  test('may have its own body and headers', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { status: 502, body: { oops: 1 }, headers: { 'retry-after': '3' } } });

    const answer = await callsTo(emulator).gateway('GET', '/v1/presets');

    expect(answer).toMatchObject({ status: 502, body: { oops: 1 } });
    expect(answer.headers.get('retry-after')).toBe('3');
  });

  test('can respond with garbage', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'garbage' } });

    await expect(callsTo(emulator).gateway('GET', '/v1/presets')).rejects.toThrow(SyntaxError);
  });

  test('can break the connection: in process, fetch rejects', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'reset' } });

    const attempt = callsTo(emulator).gateway('GET', '/v1/presets');

    await expect(attempt).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ECONNRESET' } });
    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'reset', fault: 'reset', status: undefined });
  });

  test('can stall until the caller leaves', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'stall' } });
    const aborter = new AbortController();
    const attempt = openStream(emulator, 'x', {}, { signal: aborter.signal });

    aborter.abort(new Error('waited long enough'));

    await expect(attempt).rejects.toThrow('waited long enough');
  });

  test('can delay a response, by the clock', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'slow', delay: 5000 } });
    let answered = false;
    const attempt = callsTo(emulator)
      .gateway('GET', '/v1/presets')
      .then(() => {
        answered = true;
      });
    const settle = () => new Promise((resolve) => setImmediate(resolve));

    emulator.clock.advance(4999);
    await settle();
    expect(answered).toBe(false);
    emulator.clock.advance(1);
    await attempt;
    expect(emulator.requests.at(-1)).toMatchObject({ duration: 5000, fault: 'slow' });
  });

  test('can cut off a body', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'cutBody', afterBytes: 10 } });

    const response = await emulator.fetch('http://emulator.test/v1/presets', {
      headers: { authorization: `Bearer ${emulator.apiKeys.secret}` },
    });

    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value).toHaveLength(10);
    await expect(reader.read()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  });

  test.each([
    { how: 'end' as const, ends: 'resolves' },
    { how: 'reset' as const, ends: 'rejects' },
  ])('can cut a stream after some events: reading $ends if how is $how', async ({ how, ends }) => {
    const emulator = testEmulator();
    emulator.faults.add({
      match: { path: '/v1/chat/completions' },
      respond: { type: 'cutStream', afterEvents: 3, how },
    });

    const response = await openStream(emulator, 'How tall is the tower?');
    const text = response.text();

    if (ends === 'rejects') await expect(text).rejects.toThrow();
    else expect(eventsOf(await text)).toHaveLength(3);
    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'cut', events: 3, fault: 'cutStream' });
    const usage = await callsTo(emulator).gateway('GET', '/v1/usage');
    expect(usage.body.tokens_used).toBe(10 + 2);
  });

  test('can stall a stream until the reader leaves', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'cutStream', afterEvents: 2, how: 'stall' } });
    const aborter = new AbortController();
    const text = (await openStream(emulator, 'x', {}, { signal: aborter.signal })).text();

    aborter.abort(new Error('idle for too long'));

    await expect(text).rejects.toThrow('idle for too long');
  });

  test('can send an error event in a stream', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'streamError', afterEvents: 2, error: { message: 'overloaded' } } });

    const events = eventsOf(await (await openStream(emulator, 'How tall is it?')).text());

    expect(events).toHaveLength(3);
    expect(JSON.parse(events[2] ?? '')).toEqual({ error: { message: 'overloaded' } });
  });

  test('can be removed', async () => {
    const emulator = testEmulator();
    const id = emulator.faults.add({ times: Number.POSITIVE_INFINITY, respond: { status: 500 } });

    expect((await callsTo(emulator).gateway('GET', '/v1/presets')).status).toBe(500);
    expect(emulator.faults.remove(id)).toBe(true);
    expect((await callsTo(emulator).gateway('GET', '/v1/presets')).status).toBe(200);
  });

  test('is rejected when it is added if it is invalid', () => {
    const { faults } = testEmulator();

    expect(() => faults.add({ times: 0, respond: { status: 500 } })).toThrow(RangeError);
    expect(() => faults.add({ respond: undefined as unknown as FaultResponse })).toThrow(RangeError);
    expect(() => faults.add({ respond: { type: 'stal' } as unknown as FaultResponse })).toThrow(
      'respond.type is not valid: expected one of status, stall, malformed, reset',
    );
  });
});
