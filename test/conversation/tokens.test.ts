import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { estimate } from '../../src/conversation/prompt/estimate.js';
import { TokenCounter } from '../../src/conversation/prompt/tokens.js';
import { CORPUS } from './corpus.js';
import { SCRIPTS, SPACES } from './scripts.js';

const estimateTokens = (text: string): number => Math.ceil(estimate(text));
const kinds = Object.entries(CORPUS);
const texts = [
  ...kinds.flatMap(([kind, list]) => list.map((text) => ({ kind, text }))),
  ...Object.entries({ ...SCRIPTS, ...SPACES }).map(([kind, text]) => ({ kind, text })),
];

describe('the token estimate', () => {
  test.each(texts)('is at most 10 % below the exact count of $kind (%#)', ({ text }) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(0.9 * countTokens(text));
  });

  test.each([...kinds, ...Object.entries(SCRIPTS).map(([kind, text]) => [kind, [text]] as const)])(
    'is at most 75 % above the exact count of %s',
    (_, list) => {
      const text = list.join('\n');
      expect(estimateTokens(text)).toBeLessThanOrEqual(1.75 * countTokens(text));
    },
  );

  test.each([
    { kind: 'hexadecimal', characters: '0123456789abcdef' },
    { kind: 'base 36', characters: 'abcdefghijklmnopqrstuvwxyz0123456789' },
    { kind: 'base 62', characters: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789' },
    { kind: 'Crockford', characters: '0123456789ABCDEFGHJKMNPQRSTVWXYZ' },
  ])('is at most 10 % below the exact count of random $kind ids', ({ characters }) => {
    const character = fc.constantFrom(...characters);
    const id = fc.array(character, { minLength: 20, maxLength: 20 }).map((list) => list.join(''));
    // A single id varies too much. Fifty show the average.
    const ids = fc.array(id, { minLength: 50, maxLength: 50 }).map((list) => list.join('\n'));
    fc.assert(
      fc.property(ids, (text) => estimateTokens(text) >= 0.9 * countTokens(text)),
      { numRuns: 20 },
    );
  });

  test('the token estimate of two texts is at most 3 above the sum of both', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const together = estimateTokens(`${a}\n${b}`);
        expect(together).toBeLessThanOrEqual(estimateTokens(a) + estimateTokens(b) + 3);
      }),
    );
  });
});

describe('the counter of a conversation', () => {
  test.each([
    { text: 'We agreed that the ferry keeps its timetable.', reserve: 1.05, because: 'prose in Latin letters' },
    { text: 'if (a[0] != b[1]) { c += 10; } // {{ x: 1 }} => 27', reserve: 1.25, because: 'symbols' },
    { text: 'We say Паром ходит каждый час, which nobody reads.', reserve: 1.25, because: 'mixed scripts' },
  ])('adds $reserve to the estimate until a reply has reported the exact count: $because', ({ text, reserve }) => {
    const counter = new TokenCounter();

    const before = counter.count(text);
    counter.calibrate({ messages: [{ content: text }], prompt_tokens: countTokens(text) + 4 });

    expect(before).toBeCloseTo(reserve * estimateTokens(text), -0.5);
    expect(counter.count(text)).toBeCloseTo(countTokens(text) * 1.05);
  });

  test.each([
    { actual: 1, factor: 0.5, because: 'the factor is at least 0.5' },
    { actual: 1_000_000, factor: 4, because: 'the factor is at most 4' },
  ])('is calibrated within bounds: $because', ({ actual, factor }) => {
    const counter = new TokenCounter();
    const text = 'word '.repeat(100);

    counter.calibrate({ messages: [{ content: text }], prompt_tokens: actual + 4 });

    expect(counter.count(text)).toBeCloseTo(estimateTokens(text) * factor * 1.05, -1);
  });

  test('falls slowly, because the next prompt may be of other texts, and rises at once', () => {
    const counter = new TokenCounter();
    const text = 'word '.repeat(100);
    const factors = [1, 0.5, 1.2].map((factor) => {
      counter.calibrate({ messages: [{ content: text }], prompt_tokens: factor * estimateTokens(text) + 4 });
      return counter.calibration.latin;
    });

    expect(factors).toEqual([1, 0.9, 1.2].map((factor) => expect.closeTo(factor, 1)));
  });

  test('keeps its calibration from texts of another kind', () => {
    const counter = new TokenCounter();
    const russian = 'Мы решили, что паром ночью не ходит, потому что жители жаловались на шум.';
    counter.calibrate({ messages: [{ content: russian }], prompt_tokens: 0.6 * estimateTokens(russian) + 4 });

    expect(counter.count(russian)).toBeCloseTo(estimateTokens(russian) * 0.6 * 1.05, 0);
    const english = 'The ferry does not run at night, says the harbour. '.repeat(20);
    expect(counter.count(english)).toBeCloseTo(estimateTokens(english) * 1.12, -1);
  });

  test.each([
    { countTokens: () => Number.NaN, says: 'not NaN' },
    { countTokens: async () => 1, says: 'not a promise' },
    { countTokens: () => -1, says: 'not -1' },
  ])('rejects a countTokens whose result is no number: $says', ({ countTokens, says }) => {
    expect(() => new TokenCounter(countTokens as never).count('Hello.')).toThrow(says);
  });

  test.each([
    { texts: 50, length: 100_000, because: 'long texts' },
    { texts: 100_000, length: 1, because: 'short texts, whose entries take more than their characters' },
  ])('forgets texts before they take 10 MB: $because', ({ texts, length }) => {
    let counted = 0;
    const counter = new TokenCounter(() => (counted += 1));
    for (let i = 0; i < texts; i += 1) counter.count(`${i} ${'x'.repeat(length)}`);

    counter.count(`${texts - 1} ${'x'.repeat(length)}`);
    expect(counted).toBe(texts);
    counter.count(`0 ${'x'.repeat(length)}`);
    expect(counted).toBe(texts + 1);
  });

  test('does not correct an exact count', () => {
    const counter = new TokenCounter((text) => text.length);

    counter.calibrate({ messages: [{ content: 'abc' }], prompt_tokens: 300 });

    expect(counter.count('abc')).toBe(3);
  });
});
