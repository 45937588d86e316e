import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClientEvent } from '../../src/index.js';
import { atLength, isTried } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { leaksOf } from '../helpers/leaks.js';
import { answer, eventOf, headOf, rawThenEnd, rawThenReset, resetAtEnd } from './behaviours.js';
import { failureOf, GET, KEY, PROMPT, STREAM, serve, TOKEN } from './world.js';

/** Placeholder for the credential of the client under test. */
const OWN = 'OWN-CREDENTIAL';
const messages = [{ role: 'user' as const, content: PROMPT }];

describe.each(engines.filter(isTried))('$engine', ({ options }) => {
  const world = serve();

  test('no printed form of an error or an event shows the key, the token or the prompt', async () => {
    const events: ClientEvent[] = [];
    const given = { ...options, maxRetries: 0, onEvent: (event: ClientEvent) => events.push(event) };
    const gateway = world.gateway(given);
    const context = world.context(given);
    const spelt = [KEY, OWN].flatMap((secret) => [secret, `Bearer ${secret}`, `key ${secret}!`]);
    const echo = fc.constantFrom(...spelt, 'harmless');
    // A credential that the service repeats is masked. A body is never printed.
    const body = fc.oneof(
      fc.record({ success: fc.constant(false), error: echo }),
      fc.record({ error: fc.record({ message: echo, type: echo, code: echo, param: echo }) }),
      fc.constant({ id: PROMPT, choices: PROMPT, deep: { [PROMPT]: KEY } }),
    );
    const refusing = fc
      .record({ status: fc.constantFrom(200, 302, 400, 401, 403, 404, 429, 500, 503), body, id: echo })
      .map(({ status, body, id }) => (secret: string) => {
        const filled = (value: string) => value.replaceAll(OWN, secret);
        const location = `https://other.test/${PROMPT}?key=${secret}`;
        return answer(status, filled(JSON.stringify(body)), { 'x-request-id': filled(id), 'x-echo': secret, location });
      });
    const broken = [
      resetAtEnd(),
      rawThenEnd(`HTTP/1.1 ${KEY}\r\n\r\n`),
      rawThenReset(headOf(200, { [KEY]: PROMPT }), PROMPT),
      answer(200, PROMPT),
      rawThenEnd(headOf(200, { 'content-type': 'text/event-stream' }), eventOf(PROMPT), `data: {"a": "${PROMPT}"\n\n`),
    ];
    const fault = fc.oneof(
      refusing,
      fc.constantFrom(...broken).map((behaviour) => () => behaviour),
    );
    const calls: [secret: string, start: () => PromiseLike<unknown>][] = [
      [KEY, () => gateway.chat.completions.create({ model: 'm', messages })],
      [KEY, async () => (await gateway.chat.completions.create(STREAM)).finalCompletion()],
      [KEY, () => gateway.integrations.execute('chat', { action: 'post', text: PROMPT })],
      [KEY, () => gateway.files.upload({ file: new TextEncoder().encode(PROMPT), purpose: PROMPT })],
      [TOKEN, () => context.memory.create({ type: 'fact', key: PROMPT, content: PROMPT })],
      [TOKEN, () => context.retrieve(PROMPT)],
      [TOKEN, () => context.unpin(PROMPT, PROMPT)],
    ];

    await fc.assert(
      fc.asyncProperty(fault, fc.constantFrom(...calls), async (make, [secret, start]) => {
        world.server.answers(make(secret));
        try {
          await start();
        } catch (error) {
          await failureOf(Promise.reject(error)); // checks every printed form of the error
        }
      }),
      { numRuns: atLength(50, 150) },
    );

    expect(leaksOf(events, [KEY, TOKEN, PROMPT])).toEqual([]);
    expect(leaksOf(gateway, [KEY])).toEqual([]);
    expect(leaksOf(context, [TOKEN])).toEqual([]);
  });

  test('the message of the service is kept, except for keys, control characters and length', async () => {
    const said = fc.string({ unit: 'grapheme', maxLength: 200 });
    const key = fc.tuple(fc.constantFrom('svc_sk_', 'svc_pk_'), fc.stringMatching(/^[\w-]{8,40}$/));

    await fc.assert(
      fc.asyncProperty(said, said, key, async (before, after, [prefix, secret]) => {
        const message = `${before} ${prefix}${secret} ${after}`;
        world.server.answers(answer(400, JSON.stringify({ error: { message } })));
        const error = await failureOf(world.gateway(options).request(GET));

        expect(error.message).not.toContain(secret);
        expect(error.message).toContain(`${prefix}***`);
        expect(error.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        if (/^[\w .,]*$/.test(before)) expect(error.message).toContain(before);
      }),
      { numRuns: atLength(30, 100) },
    );
  });

  test.each([
    ['a single key', `svc_sk_${'a'.repeat(100_000)}`],
    ['many key prefixes', 'svc_sk_'.repeat(15_000)],
    ['many open tags', '<script '.repeat(12_000)],
    ['whitespace', ' \t'.repeat(50_000)],
    ['entities', '&amp;#43;'.repeat(11_000)],
    ['control characters', '\u001b[31m'.repeat(20_000)],
  ])('100 kB of %s are read in linear time, and cut', async (_, text) => {
    world.server.answers(answer(400, text), answer(400, JSON.stringify({ error: { message: text } })));
    const client = world.gateway(options);
    const startedAt = performance.now();

    for (let call = 0; call < 2; call += 1) {
      const error = await failureOf(client.request(GET));
      expect(error.message.length).toBeLessThan(13_000);
      expect(inspect(error)).not.toContain('\u001b[31m');
    }

    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
