import { describe, expect, test } from 'vitest';
import type { ClientEvent } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { leaksOf } from '../helpers/leaks.js';
import { answer, headOf, rawThenEnd } from './behaviours.js';
import { failureOf, KEY, PROMPT, serve, TOKEN } from './world.js';

const messages = [{ role: 'user', content: PROMPT }];

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

  test.each([
    {
      where: 'the content type of a response',
      behaviour: (secret: string) => answer(200, 'hello', { 'content-type': `text/${secret}` }),
    },
    {
      where: 'the content type of a stream',
      stream: true,
      behaviour: (secret: string) => rawThenEnd(headOf(200, { 'content-type': `x/${secret}` }), 'hello'),
    },
    {
      where: 'a rate-limit header',
      behaviour: (secret: string) =>
        answer(400, '{}', { 'x-ratelimit-limit': secret, 'x-ratelimit-reset': `${secret}; w=60` }),
    },
    {
      where: 'a field name',
      usage: true,
      behaviour: (secret: string) => answer(200, JSON.stringify({ breakdown_by_model: { [secret]: 'x' } })),
    },
    { where: 'the request id', behaviour: (secret: string) => answer(200, 'hello', { 'x-request-id': secret }) },
  ])('a key that the service repeats in $where is in no error and no event', async ({ behaviour, stream, usage }) => {
    const events: ClientEvent[] = [];
    const given = { ...options, maxRetries: 0, onEvent: (event: ClientEvent) => events.push(event) };
    const gateway = world.gateway(given);
    const ask = () => {
      if (usage) return gateway.usage.retrieve();
      return stream
        ? gateway.chat.completions.create({ model: 'm', messages, stream })
        : gateway.chat.completions.create({ model: 'm', messages });
    };
    world.server.answers(behaviour(KEY), behaviour(KEY), behaviour(TOKEN));

    const errors = [await failureOf(ask())];
    if (usage) await world.gateway({ ...given, validation: 'report' }).usage.retrieve();
    else errors.push(await failureOf(ask()));
    errors.push(await failureOf(world.context(given).retrieve('c')));

    for (const error of errors) expect(leaksOf(error, [KEY, TOKEN, PROMPT])).toEqual([]);
    expect(leaksOf(events, [KEY, TOKEN, PROMPT])).toEqual([]);
  });

  test("a key that the service repeats is masked in the issues of the caller's schema", async () => {
    world.server.answers(answer(200, JSON.stringify([{ [KEY]: 1 }])));
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'mine',
        validate: (value: unknown) => ({ issues: [{ message: `bad ${JSON.stringify(value)}`, path: [KEY] }] }),
      },
    } as const;

    const error = await failureOf(world.gateway(options).presets.list({}, { schema }));

    expect(error.message).toContain('***: bad');
    expect(leaksOf(error, [KEY])).toEqual([]);
  });

  test('a credential that the service repeats in URL or JSON encoding is masked', async () => {
    const sessionToken = 'tok/en+AAAA/session"canary==';
    const spellings = [sessionToken, encodeURIComponent(sessionToken), JSON.stringify(sessionToken)];
    world.server.answers(answer(401, spellings.join(' '), { 'content-type': 'text/plain' }));

    const error = await failureOf(world.context({ ...options, sessionToken }).retrieve('c'));

    expect(error.message).toContain('*** *** "***"');
    expect(leaksOf(error, ['canary'])).toEqual([]);
  });

  test('the advice to try again follows even a long message', async () => {
    world.server.answers(
      answer(429, JSON.stringify({ error: { message: 'x'.repeat(3_000) } }), { 'retry-after': '7' }),
    );

    const error = await failureOf(world.gateway({ ...options, maxRetries: 0 }).usage.retrieve());

    expect(error.message).toMatch(/x…\. Try again in 7 s \(GET \/v1\/usage\)\.$/);
  });

  test('control characters and long names from the service are escaped and cut in a message', async () => {
    const model = `\u001b[31m${'x'.repeat(50_000)}`;
    world.server.answers(answer(200, JSON.stringify({ breakdown_by_model: { [model]: 'x' } })));

    const error = await failureOf(world.gateway(options).usage.retrieve());

    expect(error.message.length).toBeLessThan(2_500);
    expect(error.message).not.toContain('\u001b');
  });
});
