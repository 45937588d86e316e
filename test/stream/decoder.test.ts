import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ResponseTooLargeError } from '../../src/index.js';
import { EventReader } from '../../src/stream/sse.js';
import { atLength } from '../helpers/endurance.js';
import { MEGABYTE } from './measure.js';
import { bytesOf, cutAt, eventsOf, MemorySource, nextEvent } from './memory-source.js';
import { referenceEvents } from './reference-decoder.js';

// The large counts take long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const TWO_MARKS = '\ufeff\ufeffdata: a\n\ndata: b\n\n';
const RETRIES = ['10', '1000x', '', '03000', '99999999999999999999'].map((retry) => `retry: ${retry}\n`).join('');

test.each<[because: string, body: string | number[], data: string[]]>([
  ['an invalid UTF-8 byte becomes U+FFFD', [...bytesOf('data:'), 0xff, 0x41, 0x0a, 0x0a], ['\ufffdA']],
  ['a character that is cut off at the end becomes U+FFFD', [...bytesOf('data:A'), 0xe2, 0x82], ['A\ufffd']],
  ['CR LF ends one line, not two', 'data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n', ['a\nb', 'c']],
  ['the end of the body ends the last event after CR CR', 'data: a\rdata: b\r\r', ['a\nb']],
  ['LF and CR LF together are one blank line', 'data: a\n\r\ndata: b\n\r\n', ['a', 'b']],
  ['only the first byte order mark is dropped', TWO_MARKS, ['b']],
  ['a later byte order mark is part of its line', 'data: a\n\n\ufeffdata: b\n\ndata: c\n\n', ['a', 'c']],
  [
    'three characters that look like a byte order mark are part of their line',
    '\u00ef\u00bb\u00bfdata: a\n\ndata: b\n\n',
    ['b'],
  ],
  ['comments are ignored', `:\n: data: a\n:${'x'.repeat(2_048)}\n\ndata: b\n\n`, ['b']],
  [
    'only one space after the colon is dropped',
    'data\n\ndata:\n\ndata: \n\ndata:  a\n\ndata:\ta\n\n',
    ['', '', '', ' a', '\ta'],
  ],
  ['data lines are joined by LF', 'data: a\ndata: b\n\ndata: a\ndata\ndata: c\n\n', ['a\nb', 'a\n\nc']],
  ['unknown field names are ignored', 'Data: a\nda-ta: a\n data: a\n\u0000data: a\n\ndata: b\n\n', ['b']],
  ['id is ignored', 'id: 1\ndata: a\n\nid:\ndata: b\n\nid: \u0000\ndata: c\n\n', ['a', 'b', 'c']],
  ['retry is ignored', `${RETRIES}data: a\n\n`, ['a']],
  ['the last event needs no blank line', 'data: a\n\ndata: b', ['a', 'b']],
  ['only CR and LF end lines', 'data: a\u2028b\u0085c\u000bd\u000ce\n\n', ['a\u2028b\u0085c\u000bd\u000ce']],
])('%s', (_because, body, data) => {
  const bytes = typeof body === 'string' ? bytesOf(body) : Uint8Array.from(body);

  const found = eventsOf([bytes]);

  expect(found).toEqual(data.map((text) => ({ data: text })));
  expect(referenceEvents(bytes)).toEqual(found);
  for (let at = 0; at <= bytes.length; at += 1) {
    // From Node 24 on, TextDecoder drops both of two byte order marks if the first is split.
    if (body === TWO_MARKS && (at === 1 || at === 2)) continue;
    expect(eventsOf(cutAt(bytes, at))).toEqual(found);
  }
});

test('an event has the event field of its own lines, unless it is empty, and none of an earlier event', () => {
  const body = bytesOf('event: x\ndata: a\n\nevent:\ndata: b\n\nevent: y\n\ndata: c\n\n');

  expect(eventsOf([body])).toEqual([{ event: 'x', data: 'a' }, { data: 'b' }, { data: 'c' }]);
});

describe('the size', () => {
  /** Reads this piece again and again until reading throws. Returns the error and the bytes read. */
  function failing(piece: Uint8Array): { error: unknown; bytes: number } {
    const source = new MemorySource(endless(piece));
    const reader = new EventReader();
    try {
      while (nextEvent(reader, source) !== undefined);
    } catch (error) {
      return { error, bytes: source.taken * piece.length };
    }
    throw new Error('it did not fail');
  }

  test('the size of an event may be 7.9 MB, in pieces of 1 kB', () => {
    const data = 'x'.repeat(7.9 * MEGABYTE);
    const positions = Array.from({ length: 7.9 * 1024 }, (_, at) => at * 1024);

    const events = eventsOf(cutAt(bytesOf(`data: ${data}\n\n`), ...positions));

    expect(events).toHaveLength(1);
    expect(events[0]?.data === data).toBe(true);
  });

  test.each([
    ['an event', 'data: x'],
    ['an endless comment', ':'.repeat(1024)],
    ['endless blank lines', '\r\n'.repeat(512)],
    ['events without data', 'event: ping\n\n'.repeat(100)],
    ['endless data lines', `data:${'x'.repeat(100)}\n`],
    ['an endless unknown field', `field: ${'x'.repeat(1_000)}`],
  ])('the size of %s is limited to 8 MB', (_what, piece) => {
    const { error, bytes } = failing(bytesOf(piece));

    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(error).toMatchObject({ phase: 'stream', sent: 'yes', retryable: false });
    expect(bytes).toBeGreaterThan(8 * MEGABYTE);
    expect(bytes).toBeLessThan(8 * MEGABYTE + 16 * 1024);
  });

  test('the size of meaningless lines is limited to 512 kB, because each costs the parser an error', () => {
    const { error, bytes } = failing(bytesOf('x\n'.repeat(512)));

    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(bytes).toBeLessThan(512 * 1024);
  });

  test('is limited per event, not per stream', () => {
    const event = bytesOf(`data: ${'x'.repeat(MEGABYTE)}\n\n`);

    expect(eventsOf(Array.from({ length: 20 }, () => event))).toHaveLength(20);
  });

  test('the size of a network chunk with 100,000 events does not matter: they are decoded as they are read', () => {
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

test('any bytes are read as the standard says, however they are split', () => {
  const texts = [
    '\n',
    '\r',
    ':',
    ' ',
    '\u0000',
    'data',
    'data: ',
    'event: ',
    'id:',
    '1',
    '{',
    '}',
    '[',
    ']',
    '\ufeff',
    '\u00ef',
    '漢🙂',
  ];
  const broken = [0xc3, 0xe2, 0x82, 0xf0, 0x9f, 0xff, 0xed, 0xa0].map((byte) => Uint8Array.of(byte));
  const part = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...texts.map(bytesOf)) },
    { weight: 2, arbitrary: fc.constantFrom(...broken) },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 3 }) },
  );
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });

  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), cuts, (parts, shares) => {
      const body = Uint8Array.from(parts.flatMap((bytes) => [...bytes]));
      const whole = eventsOf([body]);

      expect(whole).toEqual(referenceEvents(body));
      expect(eventsOf(cutAt(body, ...shares.map((share) => Math.floor(share * body.length))))).toEqual(whole);
    }),
    { numRuns: atLength(500, 10_000) },
  );
});

/** 10 MB, more than a reader accepts. */
function* endless(piece: Uint8Array): Generator<Uint8Array> {
  for (let bytes = 0; bytes < 10 * MEGABYTE; bytes += piece.length) yield piece;
}
