import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { APIAbortError, type ClientEvent, type GatewayClient, type RequestOptions } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { giveTime } from '../helpers/give-time.js';
import { settled } from '../helpers/manual-runtime.js';
import { answer, eventOf, headOf, openStream, raw } from './behaviours.js';
import { stall } from './fault-server.js';
import { failureOf, GET, KEY, STREAM, serve, until, watched } from './world.js';

const CALLS = 20;

interface Phase {
  readonly phase: string;
  /** Keeps the call in this phase. */
  readonly behaviour?: ReturnType<typeof stall>;
  readonly call?: (client: GatewayClient, options: RequestOptions) => PromiseLike<unknown>;
}

const LENGTH = headOf(200, { 'content-type': 'application/json', 'content-length': 100 });

const phases: Phase[] = [
  { phase: 'while the request body is uploaded', behaviour: stall(), call: upload },
  { phase: 'before the headers', behaviour: stall() },
  { phase: 'in the headers', behaviour: raw('HTTP/1.1 200 OK\r\ncontent-') },
  { phase: 'in a JSON body', behaviour: raw(LENGTH, '{"a":') },
  { phase: 'in the body of an error', behaviour: raw(headOf(400, { 'content-length': 100 }), '{"error":') },
  { phase: 'before the first event of a stream', behaviour: openStream(), call: readStream },
  { phase: 'in a stream', behaviour: openStream(eventOf('a'), eventOf('b')), call: readStream },
];

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

  /** Aborts `CALLS` calls once all of them are in the same phase. */
  async function abortAll(client: GatewayClient, ready: () => boolean, call: NonNullable<Phase['call']> = get) {
    const controller = new AbortController();
    const reason = new Error('the user has left');
    const calls = Array.from({ length: CALLS }, () => failureOf(call(client, { signal: controller.signal })));
    await until(ready);
    await giveTime(20);
    controller.abort(reason);
    const errors = await Promise.all(calls);
    return { errors, reason, signal: controller.signal };
  }

  test.each(phases)(
    'an abort $phase rejects the call, closes its connection, and removes its timers and listener',
    async (row) => {
      const { behaviour = stall(), call } = row;
      world.server.answers(behaviour);
      const runtime = watched();
      const client = world.gateway(options, runtime);

      const all = await abortAll(client, () => world.server.requests === CALLS, call);

      for (const error of all.errors) {
        expect(error).toBeInstanceOf(APIAbortError);
        expect(error).toMatchObject({ name: 'AbortError', cause: all.reason, attempts: [expect.anything()] });
      }
      expect(runtime.timers.size).toBe(0);
      expect(getEventListeners(all.signal, 'abort')).toEqual([]);
      await until(() => world.server.used === 0);
    },
  );

  test('an abort while the key function is pending sends nothing', async () => {
    let asked = 0;
    const apiKey = () => {
      asked += 1;
      return new Promise<string>(() => {});
    };
    const client = world.gateway({ ...options, apiKey });

    const { errors } = await abortAll(client, () => asked === CALLS);

    for (const error of errors) expect(error.name).toBe('AbortError');
    expect(world.server.connections).toBe(0);
  });

  test('an abort at the moment the key function returns sends nothing', async () => {
    world.server.answers(answer(200));
    const controller = new AbortController();
    let leave = () => {};
    const apiKey = async () => {
      leave();
      return KEY;
    };
    const client = world.gateway({ ...options, apiKey });
    await get(client); // opens a connection that the second call could use at once
    await settled();
    leave = () => controller.abort();

    const error = await failureOf(get(client, { signal: controller.signal }));

    await settled();
    expect(error.name).toBe('AbortError');
    expect(world.server.requests).toBe(1);
  });

  test('an abort of calls queued behind an exhausted rate limit sends nothing and leaves no timer', async () => {
    const used = { 'x-ratelimit-limit': 500, 'x-ratelimit-remaining': 0, 'x-ratelimit-reset': 60 };
    world.server.answers(answer(200, '{}', used));
    const runtime = watched();
    const client = world.gateway(options, runtime);
    await get(client);

    const { errors } = await abortAll(client, () => true);

    for (const error of errors) expect(error).toMatchObject({ name: 'AbortError', attempts: [] });
    expect(world.server.requests).toBe(1);
    expect(runtime.timers.size).toBe(0);
  });

  test('a call aborted while it waits for a connection sends nothing once the connection is open', async () => {
    const controller = new AbortController();

    const call = failureOf(get(world.gateway(options), { signal: controller.signal }));
    controller.abort();

    expect((await call).name).toBe('AbortError');
    await giveTime(50);
    expect(world.server.requests).toBe(0);
  });

  test('an abort during the TLS handshake rejects the call at once, and nothing is sent', async () => {
    world.server.onConnection = () => true; // accepts, and never responds to the TLS handshake
    const client = world.gateway({ ...options, baseURL: `https://localhost:${world.server.port}` });

    const { errors } = await abortAll(client, () => world.server.connections > 0);

    for (const error of errors) expect(error.name).toBe('AbortError');
    expect(world.server.requests).toBe(0);
  });

  test('an abort between two attempts ends the retry delay', async () => {
    world.server.answers(answer(503, '{}', { 'retry-after': '50' }));
    const runtime = watched();
    let waiting = 0;
    const onEvent = ({ type }: ClientEvent) => void (type === 'retry' && waiting++);
    const client = world.gateway({ ...options, onEvent }, runtime);

    const all = await abortAll(client, () => waiting === CALLS);

    for (const { name, attempts } of all.errors) {
      expect(name).toBe('AbortError');
      expect(attempts).toMatchObject([{ status: 503 }]);
    }
    expect(runtime.timers.size).toBe(0);
  });

  test('close() ends calls in every phase, and leaves no connection or timer', async () => {
    const waits = phases.map(({ behaviour = stall() }) => behaviour);
    world.server.decides(({ number }) => waits[number % waits.length] ?? stall());
    const runtime = watched();
    const client = world.gateway(options, runtime);
    const pending = world.gateway({ ...options, apiKey: () => new Promise<string>(() => {}) }, runtime);
    const calls = [
      ...Array.from({ length: 20 }, () => failureOf(get(client))),
      ...Array.from({ length: 20 }, () => failureOf(readStream(client))),
      failureOf(upload(client)),
      failureOf(get(pending)),
    ];
    await until(() => world.server.requests === 41);

    await Promise.all([client.close(), pending.close()]);

    const names = new Set((await Promise.all(calls)).map(({ name }) => name));
    expect([...names]).toEqual(['ClientClosedError']);
    expect(runtime.timers.size).toBe(0);
    await until(() => world.server.used === 0);
    expect((await failureOf(get(client))).name).toBe('ClientClosedError');
  });
});

function get(client: GatewayClient, options?: RequestOptions): PromiseLike<unknown> {
  return client.request(GET, options);
}

async function readStream(client: GatewayClient, options?: RequestOptions): Promise<void> {
  for await (const _ of await client.chat.completions.create(STREAM, options));
}

/** A file that never ends. */
function upload(client: GatewayClient, options?: RequestOptions): PromiseLike<unknown> {
  async function* file() {
    for (;;) {
      yield new Uint8Array(1024).fill(97);
      await giveTime(5);
    }
  }
  return client.files.upload({ file: file(), purpose: 'test' }, options);
}
