import { GatewayClient, readChatCompletionStream } from 'context-gateway';
import { describe, expect, test, vi } from 'vitest';
import { continued, joined } from '../../src/stream/pieces.js';
import { atLength, isTried } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { Firehose } from './firehose.js';
import { MEGABYTE, megabytes, memory, PARAMS, watchProcess } from './measure.js';
import { bytesOf } from './memory-source.js';
import { chunk, DONE, event, finish, text } from './script.js';

watchProcess();
// The large counts take long on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

const EVENT = event(chunk([{ index: 0, delta: { content: 'word ' } }], { padding: 'x'.repeat(1_860) }));

describe.each(engines.filter(isTried))('$engine', ({ engine, options }) => {
  test('applies backpressure while the reader is slow', async () => {
    const EVENTS = atLength(25_000, 100_000);
    const BATCH = 20;
    const firehose = new Firehose(EVENT.repeat(BATCH), EVENTS / BATCH, finish() + DONE);
    const client = new GatewayClient({ baseURL: await firehose.start(), apiKey: 'svc_sk_test', ...options });
    expect(EVENT.length * EVENTS).toBeGreaterThan(atLength(50, 200) * MEGABYTE * 0.95);
    const before = memory();
    let read = 0;
    let ahead = 0;
    let held = 0;

    for await (const _ of await client.chat.completions.create(PARAMS)) {
      read += 1;
      // The reader pauses here until the sender is blocked.
      if (read % 4_000 !== 1) continue;
      ahead = Math.max(ahead, (await firehose.standstill()) - read * EVENT.length);
      held = Math.max(held, memory() - before);
    }

    console.info(`${engine}: ${megabytes(ahead)} ahead at most, memory +${megabytes(held)}`);
    expect(read).toBe(EVENTS + 1);
    expect(ahead).toBeLessThan(8 * MEGABYTE);
    expect(held).toBeLessThan(64 * MEGABYTE);
    await client.close();
    await firehose.close();
  });

  test('applies backpressure while the reader waits after each event, with one event per HTTP chunk', async () => {
    const firehose = new Firehose(
      `${EVENT.length.toString(16)}\r\n${EVENT}\r\n`,
      100_000,
      '',
      'transfer-encoding: chunked',
    );
    const client = new GatewayClient({ baseURL: await firehose.start(), apiKey: 'svc_sk_test', ...options });
    let read = 0;
    let ahead = 0;

    for await (const _ of await client.chat.completions.create(PARAMS)) {
      read += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
      ahead = Math.max(ahead, firehose.accepted - read * EVENT.length);
      if (read === 500) break;
    }

    console.info(`${engine}: ${megabytes(ahead)} ahead at most, event by event`);
    expect(ahead).toBeLessThan(8 * MEGABYTE);
    await client.close();
    await firehose.close();
  });

  test('reads any number of events in constant memory', async () => {
    const EVENTS = engine === 'undici' ? atLength(20_000, 1_000_000) : 300_000;
    const firehose = new Firehose(text('tok ').repeat(1_000), EVENTS / 1_000, finish() + DONE);
    const client = new GatewayClient({ baseURL: await firehose.start(), apiKey: 'svc_sk_test', ...options });
    let read = 0;
    let early = 0;
    let most = 0;
    const started = performance.now();

    const stream = await client.chat.completions.create(PARAMS);
    for await (const _ of stream) {
      read += 1;
      if (read % (EVENTS / 10) !== 0) continue;
      const now = memory();
      early ||= now;
      most = Math.max(most, now);
    }

    const rate = Math.round(EVENTS / ((performance.now() - started) / 1_000));
    console.info(`${engine}: ${rate} events a second, heap +${megabytes(most - early)}`);
    expect(read).toBe(EVENTS + 1);
    expect(most - early).toBeLessThan(10 * MEGABYTE);
    expect((await stream.finalCompletion()).choices[0]?.message.content?.length).toBe(4 * EVENTS);
    await client.close();
    await firehose.close();
  });
});

test('contents kept by the reader do not keep their large events in memory', async () => {
  const EVENTS = 100;
  const padding = 'x'.repeat(MEGABYTE);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += 1;
      const content = `words of event ${1_000 + sent}`;
      controller.enqueue(bytesOf(event(chunk([{ index: 0, delta: { content } }], { padding }))));
    },
  });
  const before = memory();
  const kept: string[] = [];

  for await (const piece of (await readChatCompletionStream(body)).textStream) {
    kept.push(piece);
    if (kept.length === EVENTS) break;
  }

  // 100 MB have been read. Only the repeated event that the reader remembers may stay in memory.
  expect(memory() - before).toBeLessThan(32 * MEGABYTE);
  expect(new Set(kept).size).toBe(EVENTS);
});

test('a final completion takes linear time for an object that gets a new field with each chunk', () => {
  const [once = 0, eightTimes = 0] = [2_000, 16_000].map((count) => {
    const startedAt = process.cpuUsage();
    let value: unknown;
    for (let at = 0; at < count; at += 1) value = continued(value, { [`field${at}`]: 'text' });
    expect(Object.keys(joined(value) as object)).toHaveLength(count);
    return process.cpuUsage(startedAt).user;
  });

  // Quadratic time would take 64 times as long. Times below 20 ms are noise.
  expect(eightTimes / Math.max(once, 20_000)).toBeLessThan(32);
});
