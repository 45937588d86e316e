import { expect, test } from 'vitest';
import { readAll } from './bench.js';
import { streamOfClient } from './canned.js';
import { text } from './script.js';

const FAILURE = '{"error":{"message":"Model overloaded","type":"overloaded_error"}}';
const PRETTY = JSON.stringify(JSON.parse(FAILURE), null, 2);

/** Forms in which services and proxies say why they end a stream, after a first chunk. */
test.each([
  ['a field error with JSON', `error: ${FAILURE}\n\n`, 'StreamError', /^Model overloaded/],
  ['a field error without a space, cut', `error:${FAILURE}`, 'StreamError', /^Model overloaded/],
  ['a field error with a text', 'error: Model overloaded\n\n', 'StreamTruncatedError', /no event: Model overloaded/],
  ['a plain text', 'Model overloaded\n', 'StreamTruncatedError', /no event: Model overloaded/],
  ['an indented line of JSON', `  ${FAILURE}\n`, 'StreamError', /^Model overloaded/],
  ['pretty-printed JSON', `${PRETTY}\n`, 'StreamError', /^Model overloaded/],
  ['an array', `[${FAILURE}]\n`, 'StreamError', /^Model overloaded/],
  ['an array, pretty-printed', `[\n${PRETTY}\n]\n`, 'StreamError', /^Model overloaded/],
  [
    'a page',
    '<html><head><title>x</title></head>\n<body><h1>502 Bad Gateway</h1></body></html>\n',
    'StreamTruncatedError',
    /no event: 502 Bad Gateway/,
  ],
])('says why a stream has ended, if that stands in %s', async (_, end, name, message) => {
  const { text: said, error } = await readAll(await streamOfClient(`${text('Hello ')}${end}`));

  expect(said).toBe('Hello ');
  expect(error).toMatchObject({ name, message: expect.stringMatching(message), partial: expect.anything() });
});

test.each([
  ['instead of the stream', PRETTY, /^Model overloaded/],
  ['before any chunk', `: ping\n\n[${FAILURE}]\n`, /^Model overloaded/],
])('also %s', async (_, body, message) => {
  const { error } = await readAll(await streamOfClient(body));

  expect(error).toMatchObject({ name: 'StreamError', message: expect.stringMatching(message) });
});

test('quotes neither a key nor much of a text that has no end', async () => {
  const end = `The key svc_sk_live_abcdefghijklmnop1234 is used up. ${'x'.repeat(100_000)}`;

  const { error } = await readAll(await streamOfClient(`${text('Hello ')}${end}`));

  expect(String(error)).toContain('is used up');
  expect(String(error)).not.toContain('abcdefghijklmnop');
  expect(String(error).length).toBeLessThan(600);
});

test.each(['da', 'data', 'eve', 'id', 're'])('does not quote a line that was cut: %s', async (cut) => {
  const { error } = await readAll(await streamOfClient(`${text('Hello ')}${cut}`));

  expect(String(error)).toMatch(/The stream ended before the completion was complete/);
});

test('does not quote a line before an event that came later', async () => {
  const { error } = await readAll(await streamOfClient(`still here\n\n${text('Hello ')}`));

  expect(String(error)).toMatch(/The stream ended before the completion was complete/);
});

/** After the text and its `finish_reason`, which are paid for. */
test.each([
  '"[DONE]"',
  '[done]',
  'DONE',
  '[]',
  'true',
  '{"code":200,"message":"success"}',
  '{"message":"bye","code":"end"}',
])('takes %s after a whole reply for no part of it', async (last) => {
  const end = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
  const stream = await streamOfClient(`${text('Hello.')}data: ${end}\n\ndata: ${last}\n\n`);

  const { text: said, error } = await readAll(stream);

  expect([said, error]).toEqual(['Hello.', undefined]);
  expect((await stream.finalCompletion()).choices[0]?.message.content).toBe('Hello.');
});

test('an error that the service reports after a whole reply is still one', async () => {
  const end = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';

  const { error } = await readAll(await streamOfClient(`${text('Hello.')}data: ${end}\n\ndata: ${FAILURE}\n\n`));

  expect(error).toMatchObject({ name: 'StreamError' });
});

test('does not quote JSON that is no error, which may repeat anything', async () => {
  const end = '{"session_token":"tok_1234567890abcdef","document":"Text of another message"}\n';

  const { error } = await readAll(await streamOfClient(`${text('Hello ')}${end}[${end}]\n`));

  expect(error).toMatchObject({ name: 'StreamTruncatedError' });
  expect(String(error)).not.toMatch(/tok_|document/);
});

test.each(['error:{\n', '{\n', 'a\n'])('a stream of only %j is too large', async (line) => {
  const { error } = await readAll(await streamOfClient(`${text('Hello ')}${line.repeat(140_000)}`));

  expect(error).toMatchObject({ name: 'ResponseTooLargeError' });
});
