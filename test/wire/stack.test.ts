import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { answer, eventOf, headOf, raw, rawThenEnd, resetAtEnd } from './behaviours.js';
import { stall } from './fault-server.js';
import { failureOf, GET, STREAM, serve } from './world.js';

const EVENTS = { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' };

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();
  const gateway = () => world.gateway({ ...options, maxRetries: 0 });
  async function streamOfMine(): Promise<unknown> {
    const stream = await gateway().chat.completions.create(STREAM, { streamIdleTimeout: 100 });
    for await (const _ of stream);
    return undefined;
  }
  async function callOfMine(): Promise<unknown> {
    return await gateway().request(GET, { timeout: 100 });
  }

  test.each([
    { what: 'an attempt that timed out', behaviour: stall() },
    { what: 'a connection that was reset', behaviour: resetAtEnd() },
    { what: 'a 404', behaviour: answer(404, '{"error":{"message":"no"}}') },
    { what: 'a response that is not JSON', behaviour: answer(200, 'hello') },
    { what: 'a truncated body', behaviour: rawThenEnd(headOf(200, { 'content-length': 9 }), '{') },
  ])("the error of $what names the call once, and its stack has the caller's line", async ({ behaviour }) => {
    world.server.answers(behaviour);

    const error = await failureOf(callOfMine());

    expect(error.message.match(/GET \/v1\/things/g)).toHaveLength(1);
    expect(error.stack).toContain(error.message);
    expect(error.stack).toMatch(/at (async )?callOfMine .*stack\.test\.ts/);
  });

  test.each([
    { what: 'a silent stream', behaviour: raw(headOf(200, EVENTS), eventOf('a')) },
    { what: 'a stream that ends too early', behaviour: rawThenEnd(headOf(200, EVENTS), eventOf('a')) },
    { what: 'an event that is not JSON', behaviour: raw(headOf(200, EVENTS), 'data: hello\n\n') },
  ])(
    "the error of $what names the call and the request id, and its stack has the caller's line",
    async ({ behaviour }) => {
      world.server.answers(behaviour);

      const error = await failureOf(streamOfMine());

      expect(error.message).toContain('POST /v1/chat/completions, request req_1)');
      expect(error.stack).toMatch(/at (async )?streamOfMine .*stack\.test\.ts/);
    },
  );

  test('an error of another call keeps its message as a cause, and a frozen error is thrown unchanged', async () => {
    world.server.answers(stall(), answer(404, '{"error":{"message":"no"}}'));
    async function* failing() {
      yield await gateway().request(GET);
    }
    const error = await failureOf(gateway().files.upload({ file: failing() as never, purpose: 'test' }));
    expect(error.message.match(/ \((GET|POST) /g)).toEqual([' (POST ']);
    expect(String(error.cause).match(/ \((GET|POST) /g)).toEqual([' (GET ']);

    const frozen = Object.freeze(new ConfigurationError('mine'));
    const pacing = {
      acquire: () => {
        throw frozen;
      },
    };
    expect(await failureOf(world.gateway({ ...options, pacing }).request(GET))).toBe(frozen);
  });

  test('a request id is shown unchanged, whatever characters it has', async () => {
    world.server.answers(answer(409, '{}', { 'x-request-id': "req$&$'1" }));

    const error = await failureOf(gateway().request(GET));

    expect(error.message).toBe("409 The response contains no message (GET /v1/things, request req$&$'1).");
  });

  test('the error of a later attempt does not show the request id of an earlier one', async () => {
    world.server.answers(answer(503, '{}', { 'x-request-id': 'req_1' }), stall());

    const error = await failureOf(world.gateway({ ...options, maxRetries: 1 }).request(GET, { timeout: 200 }));

    expect(error.message).toBe('The attempt did not finish within its timeout of 200 ms (GET /v1/things).');
  });
});
