import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RepeatedChunk } from '../../src/platform/repeated-chunk.js';
import type { ChatCompletionChunk } from '../../src/wire/completions.js';
import { atLength } from '../helpers/endurance.js';

const chunk = (content: string, more: object = {}): ChatCompletionChunk => ({
  id: 'c',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  ...more,
});

/** Reads events in order as a stream does: each is recognised, or parsed and learnt. */
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
  test('events that differ only in their content are recognised from the second on, also if it is escaped', () => {
    const contents = ['The', ' Rhine', '', ' ünd 漢 👋', 'a "quote"', 'a\nb', '\\', '\u0000', '\ud83d'];
    const events = contents.map((content) => JSON.stringify(chunk(content)));

    const { chunks, recognised } = readAll(events);

    expect(chunks).toEqual(events.map((event) => JSON.parse(event)));
    expect(recognised).toBe(8);
  });

  test.each([
    { because: 'it ends its string early', inside: 'a","role":"b' },
    { because: 'it ends in half an escape', inside: 'a\\' },
    { because: 'it has a raw line break', inside: 'a\nb' },
  ])('a content is not recognised if $because', ({ inside }) => {
    const repeated = new RepeatedChunk();
    const text = JSON.stringify(chunk('x'));
    repeated.learn(text, chunk('x'));

    expect(repeated.recognise(text.replace('"x"', '"y"'))).toEqual(chunk('y'));
    expect(repeated.recognise(text.replace('"x"', `"${inside}"`))).toBeUndefined();
  });

  test.each([
    { because: 'another field is named content', more: { note: { content: 'x' } } },
    { because: 'a nested value would be shared', more: { usage: { total_tokens: 1 } } },
    { because: 'it has two choices', more: { choices: [0, 1].map((index) => ({ index, delta: { content: 'x' } })) } },
    { because: 'another value is equal to the content', more: { model: 'x' } },
  ])('an event is not learnt if $because', ({ more }) => {
    const events = ['x', 'y'].map((content) => JSON.stringify(chunk(content, more)));

    expect(readAll(events).recognised).toBe(0);
  });

  test('an event is read correctly if its model and its content have the text that stands for content', () => {
    const PROBE = 'context-gateway probe';
    const events = [PROBE, 'm'].map((model) => JSON.stringify(chunk(PROBE, { model })));

    expect(readAll(events).chunks).toEqual(events.map((event) => JSON.parse(event)));
  });

  test('an event is not learnt if another field has the same value as its escaped content', () => {
    const event = (content: string, note: string) => JSON.stringify({ ...chunk(''), note }).replace('""', content);

    // The content is escaped, so that the plain "x" in the event is the note and not the content.
    expect(readAll([event('"\\u0078"', 'x'), event('"\\u0078"', 'y')])).toMatchObject({
      recognised: 0,
      chunks: [{ choices: [{ delta: { content: 'x' } }], note: 'x' }, { note: 'y' }],
    });
  });

  test('an event is read correctly if its escaped content equals a comma between two fields', () => {
    const event = '{"id":"c","choices":[{"index":0,"delta":{"content":"\\u002c"}}]}';

    expect(readAll([event, event])).toMatchObject({ recognised: 0, chunks: [JSON.parse(event), JSON.parse(event)] });
  });

  test('learning stops if events never repeat, and starts again if repeating events change', () => {
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
    const repeated = new RepeatedChunk();
    const learnt = chunk('a');
    repeated.learn(JSON.stringify(learnt), learnt);
    for (const changed of [learnt, repeated.recognise(JSON.stringify(chunk('b')))]) {
      Object.assign(changed ?? {}, { model: 'changed' });
      Object.assign(changed?.choices[0] ?? {}, { index: 7, delta: { content: 'changed' } });
    }

    expect(repeated.recognise(JSON.stringify(chunk('c')))).toEqual(chunk('c'));
  });

  test('any events read this way equal the parsed ones', () => {
    const odd = fc.constantFrom('', '"', '\\', '"content":', '\u2028', '","content":"');
    const content = fc.oneof(fc.string({ unit: 'binary' }), odd);
    const extra = fc.oneof(
      fc.constantFrom({}, { usage: null }),
      fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }),
    );
    const event = fc
      .tuple(content, extra, fc.constantFrom(0, 2))
      .map(([text, more, indent]) => JSON.stringify({ ...more, ...chunk(text) }, null, indent));

    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        expect(readAll(events).chunks).toEqual(events.map((one) => JSON.parse(one)));
      }),
      { numRuns: atLength(100, 2_000) },
    );
  });
});
