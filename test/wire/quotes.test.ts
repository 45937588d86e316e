import { describe, expect, test } from 'vitest';
import type { ClientEvent } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { leaksOf } from '../helpers/leaks.js';
import { answer, eventOf, headOf, rawThenEnd } from './behaviours.js';
import { failureOf, serve } from './world.js';

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

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();
  const calls = () => {
    const gateway = world.gateway({ ...options, maxRetries: 0 });
    const context = world.context({ ...options, maxRetries: 0 });
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'user', content: TEXT },
    ];
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
    const messages = [{ role: 'user', content: TEXT }];
    const stream = await world.gateway(options).chat.completions.create({ model: 'm', messages, stream: true });

    const error = await failureOf(stream.finalCompletion());

    expect(error.message).toContain('The message "…" was rejected');
    expect(leaksOf(error, PARTS)).toEqual([]);
  });

  test('a short text is blanked as a whole, and names and common words stay readable', async () => {
    const message = 'model "atlas-large-preview" has no role "moderator-of-all"; "My Hobby" and "the" are rejected';
    world.server.answers(answer(400, JSON.stringify({ error: { message } })));
    const messages = [
      { role: 'moderator-of-all', content: 'My Hobby' },
      { role: 'user', content: 'the' },
    ];

    const error = await failureOf(
      world.gateway(options).chat.completions.create({ model: 'atlas-large-preview', messages }),
    );

    expect(error.message).toContain(message.replace('My Hobby', '…'));
  });

  test('texts that a response repeats as names of fields are in no issue and no event', async () => {
    const events: ClientEvent[] = [];
    const body = JSON.stringify([{ [TEXT]: 1 }]);
    world.server.answers(answer(200, body));
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'mine',
        validate: (value: unknown) => ({ issues: [{ message: `bad ${JSON.stringify(value)}`, path: [TEXT] }] }),
      },
    } as const;
    const gateway = world.gateway({ ...options, onEvent: (event) => events.push(event) });

    const error = await failureOf(gateway.presets.execute('p', { input: TEXT, model: 'm' }, { schema }));

    expect(leaksOf([error, ...events], PARTS)).toEqual([]);
  });
});
