import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RepeatedChunk } from '../../src/gateway/repeated-chunk.js';
import type { ChatCompletionChunk } from '../../src/gateway/schemas.js';

const chunk = (content: string, more: object = {}): ChatCompletionChunk => ({
  id: 'c',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  ...more,
});

/** Reads events one after the other as a stream does: recognised, or parsed and learnt. */
function readAll(events: readonly string[]): { chunks: unknown[]; recognised: number } {
  const repeated = new RepeatedChunk();
  let recognised = 0;
  const chunks = events.map((data) => {
    const known = repeated.recognise(data);
    if (known !== undefined) {
      recognised += 1;
      return known;
    }
    const read = JSON.parse(data) as ChatCompletionChunk;
    repeated.learn(data, read);
    return read;
  });
  return { chunks, recognised };
}

describe('repeated chunks', () => {
  test('events that differ in their content only are recognised from the second on', () => {
    const events = ['The', ' Rhine', '', ' flows', ' ünd 漢 👋'].map((content) => JSON.stringify(chunk(content)));

    const { chunks, recognised } = readAll(events);

    expect(chunks).toEqual(events.map((event) => JSON.parse(event)));
    expect(recognised).toBe(4);
  });

  test.each(['a "quote"', 'a\nb', '\\', '\u0000', '\ud83d'])(
    'a content that JSON writes another way is recognised too: %j',
    (content) => {
      const events = [chunk('x'), chunk(content)].map((one) => JSON.stringify(one));

      const { chunks, recognised } = readAll(events);

      expect(chunks).toEqual(events.map((event) => JSON.parse(event)));
      expect(recognised).toBe(1);
    },
  );

  test.each([
    { because: 'it holds the end of its string', inside: 'a","role":"b' },
    { because: 'it ends in half an escape', inside: 'a\\' },
    { because: 'it has a raw line break', inside: 'a\nb' },
  ])('a content is not recognised when $because', ({ inside }) => {
    const repeated = new RepeatedChunk();
    const text = JSON.stringify(chunk('x'));
    repeated.learn(text, chunk('x'));

    expect(repeated.recognise(text.replace('"x"', '"y"'))).toEqual(chunk('y'));
    expect(repeated.recognise(text.replace('"x"', `"${inside}"`))).toBeUndefined();
  });

  test.each([
    { because: 'another field is called content', more: { note: { content: 'x' } } },
    { because: 'a nested value would be shared', more: { usage: { total_tokens: 1 } } },
    {
      because: 'a second choice is in it',
      more: { choices: [0, 1].map((index) => ({ index, delta: { content: 'x' } })) },
    },
    { because: 'another value reads like the content', more: { model: 'x' } },
  ])('an event is not learnt by heart when $because', ({ more }) => {
    const events = ['x', 'y'].map((content) => JSON.stringify(chunk(content, more)));

    expect(readAll(events).recognised).toBe(0);
  });

  test('an event is not learnt by heart when another field depends on what reads like its content', () => {
    const event = (content: string, note: string) => JSON.stringify({ ...chunk(''), note }).replace('""', content);

    // The content is written with an escape, and a field that is not the content reads as the content would.
    expect(readAll([event('"\\u0078"', 'x'), event('"\\u0078"', 'y')])).toMatchObject({
      recognised: 0,
      chunks: [{ choices: [{ delta: { content: 'x' } }], note: 'x' }, { note: 'y' }],
    });
  });

  test('an event is read all the same when its content, which it writes with an escape, reads like what stands between two fields', () => {
    const event = '{"id":"c","choices":[{"index":0,"delta":{"content":"\\u002c"}}]}';

    expect(readAll([event, event])).toMatchObject({ recognised: 0, chunks: [JSON.parse(event), JSON.parse(event)] });
  });

  test('a stream whose events never repeat soon stops learning, and one that repeats learns again when they change', () => {
    const different = Array.from({ length: 100 }, (_, at) =>
      JSON.stringify(chunk('x', { system_fingerprint: `f${at}` })),
    );
    const again = ['a', 'b'].map((content) => JSON.stringify(chunk(content)));
    expect(readAll([...different, ...again]).recognised).toBe(0);

    const repeats = ['A', 'B', 'C'].flatMap((model) =>
      Array.from({ length: 20 }, () => JSON.stringify(chunk('x', { model }))),
    );
    expect(readAll(repeats).recognised).toBe(57);
  });

  test('chunks share nothing that a caller could change', () => {
    const { chunks } = readAll(['a', 'b', 'c'].map((content) => JSON.stringify(chunk(content))));

    const [, second, third] = chunks as ChatCompletionChunk[];
    if (second?.choices[0]) second.choices[0].delta.content = 'changed';

    expect(third?.choices[0]?.delta.content).toBe('c');
    expect(second?.choices).not.toBe(third?.choices);
  });

  test('a caller that changes the chunk which was learnt changes no later one', () => {
    const repeated = new RepeatedChunk();
    const learnt = chunk('a');
    repeated.learn(JSON.stringify(learnt), learnt);
    learnt.model = 'changed';
    Object.assign(learnt.choices[0] ?? {}, { index: 7 });

    expect(repeated.recognise(JSON.stringify(chunk('b')))).toEqual(chunk('b'));
  });

  test('whatever the events are, reading them so gives what parsing them gives', () => {
    const content = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', '"', '\\', '"content":', '\u2028', '","content":"'),
    );
    const extra = fc.oneof(
      fc.constant({}),
      fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }),
      fc.constant({ usage: null }),
    );
    const event = fc
      .tuple(content, extra, fc.constantFrom(0, 2))
      .map(([text, more, indent]) => JSON.stringify({ ...more, ...chunk(text) }, null, indent));

    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        expect(readAll(events).chunks).toEqual(events.map((one) => JSON.parse(one)));
      }),
      { numRuns: 2_000 },
    );
  });
});
