import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Runtime } from '../../src/base/runtime.js';
import { ContextGatewayError, GatewayClient } from '../../src/index.js';
import { atLength } from '../helpers/endurance.js';
import { manualRuntime, seededRandom, settled } from '../helpers/manual-runtime.js';
import { GET, KEY, STREAM } from './world.js';

/** A runtime whose timers fire in the order that the scheduler picks. */
function scheduledRuntime(scheduler: fc.Scheduler): Runtime & { readonly timers: Set<object> } {
  const timers = new Set<object>();
  return {
    timers,
    now: () => 0,
    wallClock: () => 0,
    random: () => 0,
    setTimer: (callback, ms) => {
      const timer = {};
      timers.add(timer);
      // A timer fires when the scheduler says so, whatever `ms` is. The clock stands still.
      void scheduler.schedule(Promise.resolve(), `timer of ${ms}`).then(() => {
        if (timers.delete(timer)) callback();
      });
      return timer;
    },
    clearTimer: (timer) => void timers.delete(timer as object),
  };
}

describe('in any order of events', () => {
  const race = fc.record({
    streamed: fc.boolean(),
    statuses: fc.array(fc.constantFrom(200, 200, 503, 429), { minLength: 1, maxLength: 3 }),
    chunks: fc.integer({ min: 1, max: 3 }),
    keyFunction: fc.boolean(),
    abort: fc.boolean(),
    close: fc.boolean(),
    deadline: fc.boolean(),
  });

  test('a call has one outcome, and leaves no timer, no listener and no rejection behind', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const outcomes = new Set<string>();

    await fc.assert(
      fc.asyncProperty(fc.scheduler(), race, async (scheduler, given) => {
        const runtime = scheduledRuntime(scheduler);
        const controller = new AbortController();
        let sends = 0;
        const fetch = async (): Promise<Response> => {
          const status = given.statuses[Math.min(sends++, given.statuses.length - 1)] ?? 200;
          await scheduler.schedule(Promise.resolve(), `answer ${status}`);
          return answerIn(given.chunks, status, given.streamed, (what) => scheduler.schedule(Promise.resolve(), what));
        };
        const apiKey = given.keyFunction ? () => scheduler.schedule(Promise.resolve(KEY), 'key') : KEY;
        const client = new GatewayClient({ baseURL: 'https://service.test', apiKey, fetch }, undefined, runtime);
        const options = { signal: controller.signal, deadline: given.deadline ? 1_000 : undefined };
        if (given.abort) void scheduler.schedule(Promise.resolve(), 'abort').then(() => controller.abort());
        if (given.close) void scheduler.schedule(Promise.resolve(), 'close').then(() => client.close());

        const settledAs: string[] = [];
        const call = (given.streamed ? readStream(client, options) : client.request(GET, options)).then(
          () => settledAs.push('success'),
          (error: unknown) => {
            expect(error).toBeInstanceOf(ContextGatewayError);
            settledAs.push((error as Error).name);
          },
        );
        await scheduler.waitFor(call);
        await scheduler.waitIdle();
        await settled();

        expect(settledAs).toHaveLength(1);
        expect(runtime.timers.size).toBe(0);
        expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
        for (const outcome of settledAs) outcomes.add(outcome);
      }),
      { numRuns: atLength(150, 400) },
    );

    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    // The schedules must cover every outcome.
    for (const outcome of ['success', 'AbortError', 'ClientClosedError', 'APITimeoutError', 'ServiceUnavailableError'])
      expect(outcomes).toContain(outcome);
  });
});

async function readStream(client: GatewayClient, options: object): Promise<void> {
  for await (const _ of await client.chat.completions.create(STREAM, options));
}

function answerIn(chunks: number, status: number, streamed: boolean, turn: (what: string) => Promise<void>): Response {
  const events = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n`;
  const text = streamed && status === 200 ? events : '{"a":1}';
  const size = Math.ceil(text.length / chunks);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await turn('part of the body');
      controller.enqueue(new TextEncoder().encode(text.slice(at, at + size)));
      at += size;
      if (at >= text.length) controller.close();
    },
  });
  const type = streamed && status === 200 ? 'text/event-stream' : 'application/json';
  return new Response(body, { status, headers: { 'content-type': type } });
}

describe('a sequence of responses', () => {
  const hint = fc.option(fc.integer({ min: 0, max: 90 }), { nil: undefined });
  const outcome = fc.oneof(
    fc.record({ status: fc.constantFrom(429, 503), hint }),
    // 0: the connection breaks
    fc.record({ status: fc.constantFrom(0, 200, 400, 404, 408, 425, 500, 502, 504), hint: fc.constant(undefined) }),
  );

  test('leads to the requests of the matrix, none before its retry_after and none past the deadline', async () => {
    const given = fc.record({
      answers: fc.array(outcome, { minLength: 1, maxLength: 7 }),
      method: fc.constantFrom('GET', 'DELETE', 'POST'),
      maxRetries: fc.integer({ min: 0, max: 5 }),
      deadline: fc.option(fc.integer({ min: 20, max: 100_000 }), { nil: undefined }),
      seed: fc.integer(),
    });

    await fc.assert(
      fc.asyncProperty(given, async ({ answers, method, maxRetries, deadline, seed }) => {
        const runtime = manualRuntime({ random: seededRandom(seed) as () => 0 });
        const sentAt: number[] = [];
        const fetch = async (): Promise<Response> => {
          const { status, hint } = answers[sentAt.length] ?? (answers.at(-1) as (typeof answers)[number]);
          sentAt.push(runtime.now());
          if (status === 0) throw new TypeError('fetch failed');
          return Response.json({ error: { message: 'later', type: 'busy', retry_after: hint } }, { status });
        };
        const options = { baseURL: 'https://service.test', apiKey: KEY, fetch, maxRetries, deadline, pacing: false };
        const client = new GatewayClient(options, undefined, runtime);

        const call = client.request({ method, path: '/v1/things' }).then(
          () => 'success',
          (error: unknown) => (error as Error).name,
        );
        await runtime.advance(1_000_000);
        const end = await call;

        expect(end).not.toBe('APITimeoutError'); // no delay starts that the deadline would end
        expect(runtime.pending).toBe(0);
        expect(runtime.delays.filter((delay) => !(delay >= 0 && delay <= 2_147_483_647))).toEqual([]);
        const most = expectedSends(answers, method, maxRetries);
        if (deadline === undefined) expect(sentAt.length).toBe(most);
        else expect(sentAt.length).toBeLessThanOrEqual(most);
        for (let at = 1; at < sentAt.length; at += 1) {
          const waited = (sentAt[at] ?? 0) - (sentAt[at - 1] ?? 0);
          const hint = (answers[Math.min(at - 1, answers.length - 1)]?.hint ?? 0) * 1_000;
          expect(waited).toBeGreaterThanOrEqual(hint);
          expect(waited).toBeLessThanOrEqual(Math.max(hint, 8_000) + 1_000);
        }
        if (deadline !== undefined) expect(sentAt.at(-1)).toBeLessThanOrEqual(deadline);
      }),
      { numRuns: atLength(100, 300) },
    );
  });
});

/** The retry matrix, written independently of the source. */
function mayRepeat(status: number, method: string): number {
  if (status === 429 || status === 503) return 5;
  if (method === 'POST') return 0;
  if (status === 0) return 5;
  if (status === 425) return 1;
  return [408, 500, 502, 504].includes(status) ? 2 : 0;
}

type Outcome = { status: number; hint: number | undefined };

function expectedSends(answers: Outcome[], method: string, maxRetries: number): number {
  const times = new Map<number, number>();
  for (let sends = 1; ; sends += 1) {
    const answer = answers[Math.min(sends - 1, answers.length - 1)];
    const status = answer?.status ?? 200;
    const before = (times.get(status) ?? 0) + 1;
    times.set(status, before);
    if (sends > maxRetries || before > mayRepeat(status, method) || (answer?.hint ?? 0) > 60) return sends;
  }
}
