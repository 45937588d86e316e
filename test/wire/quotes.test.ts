import { describe, expect, test } from 'vitest';
import type { ClientEvent } from '../../src/index.js';
import { leaksOf } from '../helpers/leaks.js';
import { answer, eventOf, headOf, rawThenEnd } from './behaviours.js';
import type { Behaviour } from './fault-server.js';
import { failureOf, KEY, PROMPT, STREAM, serve, TOKEN } from './world.js';

const TEXT = 'My salary is 84,200 € & I hate "Müller".\nDon\'t tell <him>!';
const escapedAs = {
  'as it is': TEXT,
  'as HTML': TEXT.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`).replaceAll('ü', '&#xFC;'),
  'as JSON': JSON.stringify(TEXT),
  'as ASCII JSON in HTML': JSON.stringify(TEXT)
    .replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('"', '&quot;'),
  'percent-encoded': encodeURIComponent(TEXT),
  'in part': TEXT.slice(3, 40),
};
const cases = Object.entries(escapedAs).map(([how, quoted]) => ({ how, quoted }));
/** Parts that show that the text was printed. */
const PARTS = ['84,200', 'salary is', 'Müller', 'M&#xFC;ller', 'M%C3%BCller', 'tell'];

describe('a service that repeats a text of the request', () => {
  const world = serve();
  const calls = () => {
    const gateway = world.gateway({ maxRetries: 0 });
    const context = world.context({ maxRetries: 0 });
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'user', content: TEXT },
    ] as const;
    return [
      () => gateway.chat.completions.create({ model: 'atlas-large', messages }),
      () => gateway.presets.execute('p', { input: TEXT, model: 'atlas-large' }),
      () => gateway.integrations.execute('chat', { action: 'post_message', fields: { text: [TEXT] } }),
      () => context.memory.create({ type: 'fact', key: 'salary', content: TEXT }),
    ];
  };

  test.each(cases)('an error that quotes a text of the request $how prints … instead', async ({ quoted }) => {
    for (const call of calls()) {
      const said = `Content policy: the message "${quoted}" was rejected`;
      const details = { message: said, type: `policy ${quoted}`, code: quoted, param: quoted };
      world.server.answers(
        answer(400, JSON.stringify({ error: details })),
        answer(400, JSON.stringify({ success: false, error: said })),
        answer(200, JSON.stringify({ error: details })),
        answer(502, `<html><h1>Bad gateway.</h1><pre>${quoted}</pre></html>`, { 'content-type': 'text/html' }),
      );

      for (const words of ['Content policy: the message "', 'Content policy', 'Content policy', 'Bad gateway']) {
        const error = await failureOf(call());

        expect(error.message).toContain(words);
        expect(error.message).toContain('…');
        expect(leaksOf(error, PARTS)).toEqual([]);
        expect(JSON.stringify((error as unknown as { body: unknown }).body)).toContain('84');
      }
    }
  });

  test('an error event in a stream that quotes the prompt prints … instead', async () => {
    const message = `The message "${TEXT}" was rejected`;
    world.server.answers(
      rawThenEnd(
        headOf(200, { 'content-type': 'text/event-stream' }),
        eventOf('Hi'),
        `data: ${JSON.stringify({ error: { message } })}\n\n`,
      ),
    );
    const messages = [{ role: 'user' as const, content: TEXT }];
    const stream = await world.gateway().chat.completions.create({ ...STREAM, messages });

    const error = await failureOf(stream.finalCompletion());

    expect(error.message).toContain('The message "…" was rejected');
    expect(leaksOf(error, PARTS)).toEqual([]);
  });

  test('a short text is blanked as a whole, and names and common words stay readable', async () => {
    const message = 'model "atlas-large-preview" has no role "moderator-of-all"; "My Hobby" and "the" are rejected';
    world.server.answers(answer(400, JSON.stringify({ error: { message } })));
    const messages = [
      { role: 'moderator-of-all' as 'user', content: 'My Hobby' },
      { role: 'user' as const, content: 'the' },
    ];

    const error = await failureOf(world.gateway().chat.completions.create({ model: 'atlas-large-preview', messages }));

    expect(error.message).toContain(message.replace('My Hobby', '…'));
  });

  test("texts and keys that a response repeats as names of fields are in no issue of a caller's schema and no event", async () => {
    const events: ClientEvent[] = [];
    world.server.answers(answer(200, JSON.stringify([{ [TEXT]: 1, [KEY]: 1 }])));
    const validate = (value: unknown) => ({
      issues: [
        { message: `bad ${JSON.stringify(value)}`, path: [TEXT] },
        { message: 'bad', path: [KEY] },
      ],
    });
    const schema = { '~standard': { version: 1, vendor: 'mine', validate } } as const;
    const gateway = world.gateway({ onEvent: (event) => events.push(event) });

    const error = await failureOf(gateway.presets.execute('p', { input: TEXT, model: 'm' }, { schema }));

    expect(error.message).toContain('***: bad');
    expect(leaksOf([error, ...events], [...PARTS, KEY])).toEqual([]);
  });
});

describe('a service that repeats a credential', () => {
  const world = serve();
  const messages = [{ role: 'user' as const, content: PROMPT }];

  test.each<[where: string, behaviour: (secret: string) => Behaviour, stream?: true]>([
    ['the content type of a response', (secret) => answer(200, 'hello', { 'content-type': `text/${secret}` })],
    [
      'the content type of a stream',
      (secret) => rawThenEnd(headOf(200, { 'content-type': `x/${secret}` }), 'hello'),
      true,
    ],
    [
      'a rate-limit header',
      (secret) => answer(400, '{}', { 'x-ratelimit-limit': secret, 'x-ratelimit-reset': `${secret}; w=60` }),
    ],
    ['the request id', (secret) => answer(200, 'hello', { 'x-request-id': secret })],
  ])('a key in %s is in no error and no event', async (_, behaviour, stream) => {
    const events: ClientEvent[] = [];
    const given = { maxRetries: 0, onEvent: (event: ClientEvent) => events.push(event) };
    const { completions } = world.gateway(given).chat;
    const params = { model: 'm', messages };
    world.server.answers(behaviour(KEY), behaviour(TOKEN));

    const errors = [
      await failureOf(stream ? completions.create({ ...params, stream }) : completions.create(params)),
      await failureOf(world.context(given).retrieve('c')),
    ];

    for (const error of errors) expect(leaksOf(error, [KEY, TOKEN, PROMPT])).toEqual([]);
    expect(leaksOf(events, [KEY, TOKEN, PROMPT])).toEqual([]);
  });

  test('a key in the name of a field is in no error and no event, whether it is thrown or reported', async () => {
    const events: ClientEvent[] = [];
    const onEvent = (event: ClientEvent) => events.push(event);
    world.server.answers(answer(200, JSON.stringify({ breakdown_by_model: { [KEY]: 'x' } })));

    const error = await failureOf(world.gateway({ onEvent }).usage.retrieve());
    await world.gateway({ onEvent, validation: 'report' }).usage.retrieve();

    expect(leaksOf(error, [KEY])).toEqual([]);
    expect(leaksOf(events, [KEY])).toEqual([]);
  });

  test('a token in URL or JSON encoding is masked', async () => {
    const sessionToken = 'tok/en+AAAA/session"canary==';
    const spellings = [sessionToken, encodeURIComponent(sessionToken), JSON.stringify(sessionToken)];
    world.server.answers(answer(401, spellings.join(' '), { 'content-type': 'text/plain' }));

    const error = await failureOf(world.context({ sessionToken }).retrieve('c'));

    expect(error.message).toContain('*** *** "***"');
    expect(leaksOf(error, ['canary'])).toEqual([]);
  });

  test('the advice to try again follows even a long message', async () => {
    const said = JSON.stringify({ error: { message: 'x'.repeat(3_000) } });
    world.server.answers(answer(429, said, { 'retry-after': '7' }));

    const error = await failureOf(world.gateway({ maxRetries: 0 }).usage.retrieve());

    expect(error.message).toMatch(/x…\. Try again in 7 s \(GET \/v1\/usage\)\.$/);
  });
});
