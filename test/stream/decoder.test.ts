import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ResponseTooLargeError } from '../../src/index.js';
import { EventReader } from '../../src/stream/sse.js';
import { atLength } from '../helpers/endurance.js';
import { bare, bytesOf, cutAt, eventsOf, MemorySource, nextEvent } from './memory-source.js';
import { referenceEvents } from './reference-decoder.js';

/** Every feature in a few bytes: all line endings, a byte order mark, comments, fields, multibyte characters. */
const FIXTURE = bytesOf(
  [
    '\ufeff:hello\n',
    'data: {"a":"é"}\n\n',
    'event: note\r\nid: 7\r\ndata: one\r\ndata:two\r\n\r\n',
    ': data: not me\r',
    'data: 漢\rretry: 10\rdata\r\r',
    'event: x\ndata: 🙂 \\u2028\n\n',
    'event: lost\n\n',
    'data:  [DONE]\r\n',
  ].join(''),
);
const EVENTS = [
  { data: '{"a":"é"}' },
  { event: 'note', data: 'one\ntwo' },
  { data: '漢\n' },
  { event: 'x', data: '🙂 \\u2028' },
  { data: ' [DONE]' },
];

const MEGABYTE = 1024 * 1024;

// The large counts take long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

describe('an EventReader', () => {
  test('returns the same events wherever the bytes are split once', async () => {
    expect(eventsOf([FIXTURE])).toEqual(EVENTS);

    for (let at = 0; at <= FIXTURE.length; at += 1) expect(eventsOf(cutAt(FIXTURE, at))).toEqual(EVENTS);
  });

  test('returns the same events wherever the bytes are split twice', async () => {
    const whole = JSON.stringify(EVENTS);
    for (let first = 0; first <= FIXTURE.length; first += 1) {
      for (let second = first; second <= FIXTURE.length; second += 1) {
        const events = JSON.stringify(eventsOf(cutAt(FIXTURE, first, second)));
        if (events !== whole) expect.fail(`cut at ${first} and ${second}: ${events}`);
      }
    }
  });

  test('returns the same events byte by byte', async () => {
    expect(eventsOf([...FIXTURE].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
  });

  test('joins characters of two, three and four bytes wherever they are split', async () => {
    const bytes = bytesOf('data: é漢🙂\n\n');

    for (let first = 6; first < bytes.length; first += 1) {
      for (let second = first; second < bytes.length; second += 1) {
        expect(eventsOf(cutAt(bytes, first, second))).toEqual([{ data: 'é漢🙂' }]);
      }
    }
  });
});

const TWO_MARKS = '\ufeff\ufeffdata: a\n\ndata: b\n\n';
const BODIES = [
  {
    body: [0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x41, 0x0a, 0x0a],
    events: ['\ufffdA'],
    because: 'an invalid UTF-8 byte becomes U+FFFD',
  },
  {
    body: [0x64, 0x61, 0x74, 0x61, 0x3a, 0x41, 0xe2, 0x82],
    events: ['A\ufffd'],
    because: 'a character that is cut off at the end becomes U+FFFD',
  },
  { body: 'data: a\r\n\r\ndata: b\r\n\r\n', events: ['a', 'b'], because: 'CR LF ends one line, not two' },
  { body: 'data: a\r\r', events: ['a'], because: 'the end of the body ends the last event after CR CR' },
  {
    body: 'data: a\n\r\ndata: b\n\r\n',
    events: ['a', 'b'],
    because: 'LF and CR LF together are one blank line',
  },
  { body: '\ufeffdata: a\n\n', events: ['a'], because: 'a byte order mark at the start is dropped' },
  {
    body: TWO_MARKS,
    events: ['b'],
    because: 'only the first byte order mark is dropped',
  },
  {
    body: 'data: a\n\n\ufeffdata: b\n\ndata: c\n\n',
    events: ['a', 'c'],
    because: 'a later byte order mark is part of its line',
  },
  {
    body: '\u00ef\u00bb\u00bfdata: a\n\ndata: b\n\n',
    events: ['b'],
    because: 'three characters that look like a byte order mark are part of their line',
  },
  {
    body: `:\n: data: a\n:${'x'.repeat(2_048)}\n\ndata: b\n\n`,
    events: ['b'],
    because: 'comments are ignored',
  },
  {
    body: 'data\n\ndata:\n\ndata: \n\ndata:  a\n\ndata:\ta\n\n',
    events: ['', '', '', ' a', '\ta'],
    because: 'only one space after the colon is dropped',
  },
  {
    body: 'data: a\ndata: b\ndata: c\n\ndata: a\ndata\ndata: c\n\n',
    events: ['a\nb\nc', 'a\n\nc'],
    because: 'data lines are joined by LF',
  },
  {
    body: 'Data: a\nda-ta: a\n data: a\n\u0000data: a\n\ndata: b\n\n',
    events: ['b'],
    because: 'unknown field names are ignored',
  },
  {
    body: 'id: 1\ndata: a\n\ndata: b\n\nid:\ndata: c\n\nid: \u0000\ndata: d\n\n',
    events: ['a', 'b', 'c', 'd'],
    because: 'id is ignored',
  },
  {
    body: 'retry: 10\nretry: 1000x\nretry:\nretry: 03000\nretry: 99999999999999999999\ndata: a\n\n',
    events: ['a'],
    because: 'retry is ignored',
  },
  {
    body: 'data: a\n\ndata: b',
    events: ['a', 'b'],
    because: 'the last event needs no blank line',
  },
  {
    body: 'data: a\u2028b\u2029c\u0085d\u000be\u000cf\n\n',
    events: ['a\u2028b\u2029c\u0085d\u000be\u000cf'],
    because: 'only CR and LF end lines',
  },
];

test.each(BODIES.map((row) => [row.because, row] as const))('%s', async (_title, { body, events }) => {
  const bytes = typeof body === 'string' ? bytesOf(body) : Uint8Array.from(body);

  const found = eventsOf([bytes]);

  expect(found.map(({ data }) => data)).toEqual(events);
  for (let at = 0; at <= bytes.length; at += 1) {
    // From Node 24 on, TextDecoder drops both of two byte order marks if the first is split.
    if (body === TWO_MARKS && (at === 1 || at === 2)) continue;
    expect(eventsOf(cutAt(bytes, at))).toEqual(found);
  }
});

test.each([
  ['LF', '\n'],
  ['CR', '\r'],
  ['CR LF', '\r\n'],
])('reads a body whose lines end in %s', async (_name, end) => {
  const body = ['data: a', 'data: b', '', 'event: x', 'data: c', '', ''].join(end);

  expect(eventsOf([bytesOf(body)])).toEqual([{ data: 'a\nb' }, { event: 'x', data: 'c' }]);
});

test('reads an event with mixed line endings', async () => {
  expect(eventsOf([bytesOf('data: a\rdata: b\ndata: c\r\ndata: d\r\n\rdata: e\n\n')])).toEqual([
    { data: 'a\nb\nc\nd' },
    { data: 'e' },
  ]);
});

test('treats CR at the end of a chunk and LF at the start of the next as one line ending', async () => {
  const pieces = ['data: a\r', '\ndata: b\r', '\n\r', '\ndata: c\r', '\n\r', '\n'].map(bytesOf);

  expect(eventsOf(pieces)).toEqual([{ data: 'a\nb' }, { data: 'c' }]);
});

test('drops a byte order mark that comes in three pieces', async () => {
  expect(eventsOf(cutAt(bytesOf('\ufeffdata: a\n\n'), 1, 2, 3))).toEqual([{ data: 'a' }]);
});

test('returns the event field unless it is empty, and no event without data', async () => {
  expect(eventsOf([bytesOf('event: x\ndata: a\n\nevent:\ndata: b\n\nevent: y\n\ndata: c\n\n')])).toEqual([
    { event: 'x', data: 'a' },
    { data: 'b' },
    { data: 'c' },
  ]);
});

test('does not carry an event field over to the next event', async () => {
  expect(eventsOf([bytesOf('event: x\ndata: a\n\ndata: b\n\nevent: z\n\ndata: c\n\n')])).toEqual([
    { event: 'x', data: 'a' },
    { data: 'b' },
    { data: 'c' },
  ]);
});

describe('the size', () => {
  /** Reads this piece again and again until reading throws. Returns the error and the bytes read. */
  async function failing(piece: Uint8Array): Promise<{ error: unknown; bytes: number }> {
    const source = new MemorySource(endless(piece));
    const reader = new EventReader();
    try {
      while (nextEvent(reader, source) !== undefined);
    } catch (error) {
      return { error, bytes: source.taken * piece.length };
    }
    throw new Error('it did not fail');
  }

  test('the size of an event may be 7.9 MB, in pieces of 1 kB', async () => {
    const data = 'x'.repeat(7.9 * MEGABYTE);
    const bytes = bytesOf(`data: ${data}\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, at) =>
      bytes.subarray(at * 1024, (at + 1) * 1024),
    );

    const events = eventsOf(pieces);

    expect(events).toHaveLength(1);
    expect(events[0]?.data === data).toBe(true);
  });

  test.each(
    [
      { what: 'an event of more than 8 MB', piece: 'data: x' },
      { what: 'an endless line', piece: 'x'.repeat(1024) },
      { what: 'an endless comment', piece: ':'.repeat(1024) },
      { what: 'endless comments', piece: ': keep-alive\n\n'.repeat(100) },
      { what: 'endless blank lines', piece: '\r\n'.repeat(512) },
      { what: 'events without data', piece: 'event: ping\n\n'.repeat(100) },
      { what: 'endless data lines', piece: `data:${'x'.repeat(100)}\n` },
      { what: 'an endless unknown field', piece: `field: ${'x'.repeat(1_000)}` },
    ].map(({ what, piece }) => [what, piece] as const),
  )('the size of %s is limited to 8 MB', async (_what, piece) => {
    const { error, bytes } = await failing(bytesOf(piece));

    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(error).toMatchObject({ phase: 'stream', sent: 'yes', retryable: false });
    expect(bytes).toBeGreaterThan(8 * MEGABYTE);
    expect(bytes).toBeLessThan(8 * MEGABYTE + 16 * 1024);
  });

  test('the size of meaningless lines is limited to 64 kB, because each costs the parser an error', async () => {
    const { error, bytes } = await failing(bytesOf('x\n'.repeat(512)));

    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(bytes).toBeLessThan(64 * 1024);
  });

  test('is limited per event, not per stream', async () => {
    const event = bytesOf(`data: ${'x'.repeat(MEGABYTE)}\n\n`);

    expect(eventsOf(Array.from({ length: 20 }, () => event))).toHaveLength(20);
  });

  test('the size of a network chunk with 100,000 events does not matter: they are decoded as they are read', async () => {
    const source = new MemorySource([bytesOf('data: 1\n\n'.repeat(100_000))]);
    const reader = new EventReader();
    const decode = TextDecoder.prototype.decode;
    let decoded = 0;
    TextDecoder.prototype.decode = function (input, options) {
      decoded += input?.byteLength ?? 0;
      return decode.call(this, input, options);
    };

    const first = nextEvent(reader, source);
    TextDecoder.prototype.decode = decode;

    expect(first?.data).toBe('1');
    expect(decoded).toBeLessThanOrEqual(8 * 1024);
  });
});

describe('for arbitrary input, an EventReader', () => {
  const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
  const value = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('', ' ', ':', 'data: x', '[DONE]', '{"a":1}', '\ufeff', '\u2028'),
  );
  /** Text without a line break. */
  const inLine = value.map((text) => text.replace(/[\r\n]/g, ' '));
  const anEvent = fc.record({
    name: fc.option(inLine, { nil: undefined }),
    data: fc.array(inLine, { minLength: 1, maxLength: 4 }),
    noise: fc.array(fc.tuple(fc.constantFrom(':', 'id: ', 'retry: ', 'x: ', 'Data: '), inLine), { maxLength: 3 }),
    nameLast: fc.boolean(),
    space: fc.boolean(),
    ends: fc.array(lineEnd, { minLength: 12, maxLength: 12 }),
  });
  const document = fc.record({
    events: fc.array(anEvent, { maxLength: 5 }),
    mark: fc.boolean(),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
  });

  test('reads back every encoding of a list of events, however it is split', async () => {
    const property = fc.asyncProperty(document, async ({ events, mark, cuts }) => {
      const body = bytesOf((mark ? '\ufeff' : '') + events.map(encode).join(''));
      const positions = cuts.map((share) => Math.floor(share * body.length));
      const meant = events.map(({ name, data }) => {
        const text = data.join('\n');
        return name ? { event: name, data: text } : { data: text };
      });

      expect(referenceEvents(body)).toEqual(meant);
      expect(eventsOf(cutAt(body, ...positions))).toEqual(meant);
    });

    await fc.assert(property, { numRuns: atLength(1_000, 5_000) });
  });

  const byte = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...[0x0a, 0x0d, 0x3a, 0x20, 0x00].map((code) => Uint8Array.of(code))) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(...['data', 'data: ', 'event: ', 'id:', '1', '\ufeff', '\u00ef'].map(bytesOf)),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ...[0xc3, 0xe2, 0x82, 0xf0, 0x9f, 0xff, 0xed, 0xa0].map((code) => Uint8Array.of(code)),
      ),
    },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 3 }) },
  );

  test('reads any bytes as the standard says, however they are split', async () => {
    const property = fc.asyncProperty(
      fc.array(byte, { maxLength: 60 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
      async (parts, cuts) => {
        const body = Uint8Array.from(parts.flatMap((part) => [...part]));
        const whole = eventsOf([body]);

        expect(whole).toEqual(referenceEvents(body));
        expect(eventsOf(cutAt(body, ...cuts.map((share) => Math.floor(share * body.length))))).toEqual(whole);
      },
    );

    await fc.assert(property, { numRuns: atLength(1_000, 5_000) });
  });

  function encode(event: {
    name: string | undefined;
    data: string[];
    noise: [string, string][];
    nameLast: boolean;
    space: boolean;
    ends: string[];
  }): string {
    const colon = event.space ? ': ' : ':';
    // A value that begins with a space needs the optional space after the colon, or it would lose its own.
    const data = event.data.map((text) => `data${text.startsWith(' ') ? ': ' : colon}${text}`);
    const name = event.name === undefined ? [] : [`event: ${event.name}`];
    const noise = event.noise.map(([prefix, text]) => prefix + text);
    const lines = event.nameLast ? [...data, ...noise, ...name] : [...name, ...noise, ...data];
    const ends = event.ends.values();
    return `${lines.map((line) => line + (ends.next().value ?? '\n')).join('')}\n\n`;
  }
});

/** 10 MB, more than a reader accepts. */
function* endless(piece: Uint8Array): Generator<Uint8Array> {
  for (let bytes = 0; bytes < 10 * MEGABYTE; bytes += piece.length) yield piece;
}

test('an event has no field of an earlier one, and `ended` is set at the end', async () => {
  const source = new MemorySource([bytesOf('id: 9\ndata: a\n\ndata: b\n\n')]);
  const reader = new EventReader();

  expect(bare(nextEvent(reader, source) ?? { data: '' })).toEqual({ data: 'a' });
  expect(bare(nextEvent(reader, source) ?? { data: '' })).toEqual({ data: 'b' });
  expect(reader.ended).toBe(false);
  expect(nextEvent(reader, source)).toBeUndefined();
  expect(reader.ended).toBe(true);
});
