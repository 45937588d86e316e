import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ResponseTooLargeError } from '../../src/index.js';
import { EventReader } from '../../src/transport/sse.js';
import { bare, bytesOf, cutAt, eventsOf, MemorySource, nextEvent } from './memory-source.js';
import { referenceEvents } from './reference-decoder.js';

/** Every feature in few bytes: all line ends, a byte order mark, comments, fields, characters of two to four bytes. */
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

// Long by their numbers: on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000 });

describe('cuts', () => {
  test('gives the same events wherever the bytes are cut once', async () => {
    expect(eventsOf([FIXTURE])).toEqual(EVENTS);

    for (let at = 0; at <= FIXTURE.length; at += 1) expect(eventsOf(cutAt(FIXTURE, at))).toEqual(EVENTS);
  });

  test('gives the same events wherever the bytes are cut twice', async () => {
    const whole = JSON.stringify(EVENTS);
    for (let first = 0; first <= FIXTURE.length; first += 1) {
      for (let second = first; second <= FIXTURE.length; second += 1) {
        const events = JSON.stringify(eventsOf(cutAt(FIXTURE, first, second)));
        if (events !== whole) expect.fail(`cut at ${first} and ${second}: ${events}`);
      }
    }
  });

  test('gives the same events one byte at a time', async () => {
    expect(eventsOf([...FIXTURE].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
  });

  test('joins characters of two, three and four bytes that are cut anywhere', async () => {
    const bytes = bytesOf('data: é漢🙂\n\n');

    for (let first = 6; first < bytes.length; first += 1) {
      for (let second = first; second < bytes.length; second += 1) {
        expect(eventsOf(cutAt(bytes, first, second))).toEqual([{ data: 'é漢🙂' }]);
      }
    }
  });
});

const BODIES = [
  {
    body: [0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x41, 0x0a, 0x0a],
    events: ['\ufffdA'],
    because: 'what is not UTF-8 becomes U+FFFD',
  },
  {
    body: [0x64, 0x61, 0x74, 0x61, 0x3a, 0x41, 0xe2, 0x82],
    events: ['A\ufffd'],
    because: 'a character that the end cuts becomes U+FFFD',
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
    body: '\ufeff\ufeffdata: a\n\ndata: b\n\n',
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
    because: 'these three characters are no byte order mark',
  },
  {
    body: `:\n: data: a\n:${'x'.repeat(2_048)}\n\ndata: b\n\n`,
    events: ['b'],
    because: 'comments say nothing',
  },
  {
    body: 'data\n\ndata:\n\ndata: \n\ndata:  a\n\ndata:\ta\n\n',
    events: ['', '', '', ' a', '\ta'],
    because: 'one space is dropped, and nothing else',
  },
  {
    body: 'data: a\ndata: b\ndata: c\n\ndata: a\ndata\ndata: c\n\n',
    events: ['a\nb\nc', 'a\n\nc'],
    because: 'data lines are joined by LF',
  },
  {
    body: 'Data: a\nda-ta: a\n data: a\n\u0000data: a\n\ndata: b\n\n',
    events: ['b'],
    because: 'other field names are unknown',
  },
  {
    body: 'id: 1\ndata: a\n\ndata: b\n\nid:\ndata: c\n\nid: \u0000\ndata: d\n\n',
    events: ['a', 'b', 'c', 'd'],
    because: 'an id leads to nothing',
  },
  {
    body: 'retry: 10\nretry: 1000x\nretry:\nretry: 03000\nretry: 99999999999999999999\ndata: a\n\n',
    events: ['a'],
    because: 'retry leads to nothing',
  },
  {
    body: 'data: a\n\ndata: b',
    events: ['a', 'b'],
    because: 'the last event counts without its blank line',
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
  for (let at = 0; at <= bytes.length; at += 1) expect(eventsOf(cutAt(bytes, at))).toEqual(found);
});

test.each([
  ['LF', '\n'],
  ['CR', '\r'],
  ['CR LF', '\r\n'],
])('reads a body whose lines end in %s', async (_name, end) => {
  const body = ['data: a', 'data: b', '', 'event: x', 'data: c', '', ''].join(end);

  expect(eventsOf([bytesOf(body)])).toEqual([{ data: 'a\nb' }, { event: 'x', data: 'c' }]);
});

test('reads an event whose lines end in every way', async () => {
  expect(eventsOf([bytesOf('data: a\rdata: b\ndata: c\r\ndata: d\r\n\rdata: e\n\n')])).toEqual([
    { data: 'a\nb\nc\nd' },
    { data: 'e' },
  ]);
});

test('takes CR at the end of a chunk and LF at the start of the next for one line end', async () => {
  const pieces = ['data: a\r', '\ndata: b\r', '\n\r', '\ndata: c\r', '\n\r', '\n'].map(bytesOf);

  expect(eventsOf(pieces)).toEqual([{ data: 'a\nb' }, { data: 'c' }]);
});

test('drops a byte order mark that comes in three pieces', async () => {
  expect(eventsOf(cutAt(bytesOf('\ufeffdata: a\n\n'), 1, 2, 3))).toEqual([{ data: 'a' }]);
});

test('passes the event field on, without an empty one, and gives no event without data', async () => {
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

describe('size', () => {
  /** What reading these pieces costs, in pieces taken. */
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

  test('reads one event of 7.9 MB in pieces of 1 kB', async () => {
    const data = 'x'.repeat(7.9 * MEGABYTE);
    const bytes = bytesOf(`data: ${data}\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, at) =>
      bytes.subarray(at * 1024, (at + 1) * 1024),
    );

    const events = eventsOf(pieces);

    expect(events).toHaveLength(1);
    expect(events[0]?.data === data).toBe(true);
  });

  test('takes time in proportion to the bytes', async () => {
    const time = async (size: number): Promise<number> => {
      const piece = bytesOf('x'.repeat(64));
      const pieces = [bytesOf('data: '), ...Array.from({ length: size / 64 }, () => piece), bytesOf('\n\n')];
      const started = performance.now();
      eventsOf(pieces);
      return performance.now() - started;
    };
    const least = async (size: number): Promise<number> =>
      Math.min(await time(size), await time(size), await time(size));

    const ratio = (await least(4 * MEGABYTE)) / (await least(MEGABYTE / 4));

    // Sixteen times the bytes; with their square it would be two hundred and fifty-six times the time.
    expect(ratio).toBeLessThan(100);
  });

  test('a long line that comes a byte at a time takes no longer than short ones', () => {
    const time = (length: number): number => {
      const line = [...bytesOf(`data: ${'x'.repeat(length - 8)}\n\n`)].map((byte) => Uint8Array.of(byte));
      const pieces = Array.from({ length: 120_000 / length }, () => line).flat();
      const started = performance.now();
      eventsOf(pieces);
      return performance.now() - started;
    };
    const least = (length: number): number => Math.min(time(length), time(length), time(length));

    // Copying the line for every byte takes fifteen times as long.
    expect(least(60_000) / least(200)).toBeLessThan(5);
  });

  test.each(
    [
      { what: 'an event of more than 8 MB', piece: 'data: x' },
      { what: 'a line without an end', piece: 'x'.repeat(1024) },
      { what: 'a comment without an end', piece: ':'.repeat(1024) },
      { what: 'comments without an end', piece: ': keep-alive\n\n'.repeat(100) },
      { what: 'blank lines without an end', piece: '\r\n'.repeat(512) },
      { what: 'events without data', piece: 'event: ping\n\n'.repeat(100) },
      { what: 'data lines without an end', piece: `data:${'x'.repeat(100)}\n` },
      { what: 'an unknown field without an end', piece: `field: ${'x'.repeat(1_000)}` },
    ].map(({ what, piece }) => [what, piece] as const),
  )('gives %s up after 8 MB', async (_what, piece) => {
    const { error, bytes } = await failing(bytesOf(piece));

    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(error).toMatchObject({ phase: 'stream', sent: 'yes', retryable: false });
    expect(bytes).toBeGreaterThan(8 * MEGABYTE);
    expect(bytes).toBeLessThan(8 * MEGABYTE + 16 * 1024);
  });

  test('gives lines up early that mean nothing, because each costs the parser an error', async () => {
    const { error, bytes } = await failing(bytesOf('x\n'.repeat(512)));

    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(bytes).toBeLessThan(64 * 1024);
  });

  test('counts from event to event, not the whole stream', async () => {
    const event = bytesOf(`data: ${'x'.repeat(MEGABYTE)}\n\n`);

    expect(eventsOf(Array.from({ length: 20 }, () => event))).toHaveLength(20);
  });

  test('decodes a network chunk of 100,000 events as they are asked for', async () => {
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

describe('properties', () => {
  const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
  const value = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('', ' ', ':', 'data: x', '[DONE]', '{"a":1}', '\ufeff', '\u2028'),
  );
  /** Text that stays in its line. */
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

  test('reads every encoding of a list of events back, however it is cut', async () => {
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

    await fc.assert(property, { numRuns: 5_000, seed: 20_260_115 });
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

  test('makes of any bytes what the standard makes of them, however they are cut', async () => {
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

    await fc.assert(property, { numRuns: 5_000, seed: 20_260_116 });
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
    // Without the space that may follow a colon, a value's own first space would be taken for it.
    const data = event.data.map((text) => `data${text.startsWith(' ') ? ': ' : colon}${text}`);
    const name = event.name === undefined ? [] : [`event: ${event.name}`];
    const noise = event.noise.map(([prefix, text]) => prefix + text);
    const lines = event.nameLast ? [...data, ...noise, ...name] : [...name, ...noise, ...data];
    const ends = event.ends.values();
    return `${lines.map((line) => line + (ends.next().value ?? '\n')).join('')}\n\n`;
  }
});

/** More of it than anybody reads. */
function* endless(piece: Uint8Array): Generator<Uint8Array> {
  for (let bytes = 0; bytes < 10 * MEGABYTE; bytes += piece.length) yield piece;
}

test('hands over what the parser knows of an event, and nothing of an earlier one', async () => {
  const source = new MemorySource([bytesOf('id: 9\ndata: a\n\ndata: b\n\n')]);
  const reader = new EventReader();

  expect(bare(nextEvent(reader, source) ?? { data: '' })).toEqual({ data: 'a' });
  expect(bare(nextEvent(reader, source) ?? { data: '' })).toEqual({ data: 'b' });
  expect(reader.ended).toBe(false);
  expect(nextEvent(reader, source)).toBeUndefined();
  expect(reader.ended).toBe(true);
});
