import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { LanguageLoader } from '../src/text/language.js';

const language = new LanguageLoader().load();

describe('tokens', () => {
  test.each(['', 'hello world', '日本語です', 'a'.repeat(255), '  \n\t x', 'const a = () => {};'])(
    'of %j are counted exactly',
    (text) => {
      expect(language.countTokens(text)).toBe(countTokens(text));
      expect(language.tokenPieces(text).count).toBe(countTokens(text));
    },
  );

  test('of a very long word are counted exactly', () => {
    for (const unit of ['a', ' ', '=', '𒀀', '한']) {
      const text = unit.repeat(50_000);
      const { pieces, count } = language.tokenPieces(text);
      expect(pieces.join('')).toBe(text);
      expect(language.countTokens(text)).toBe(count);
    }
  });

  test('joined together give the text again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const whole = language.tokenPieces(text);
        const part = language.tokenPieces(text, limit);

        expect(whole.pieces.join('')).toBe(text);
        expect(whole.pieces).toHaveLength(whole.count);
        expect(part.count).toBe(Math.min(limit, whole.count));
        expect(part.cut).toBe(whole.count > limit);
        expect(text.startsWith(part.pieces.join(''))).toBe(true);
      }),
    );
  });
});

describe('sentences', () => {
  test('end where a reader would end them', () => {
    const text =
      'We use v1.2.3 now. Ask Dr. Smith? See https://a.b/c?d=e.f or index.ts. Run `npm i. And more` then. 日本語です。次の文。';

    expect(language.sentences(text)).toEqual([
      'We use v1.2.3 now.',
      'Ask Dr. Smith?',
      'See https://a.b/c?d=e.f or index.ts.',
      'Run `npm i. And more` then.',
      '日本語です。',
      '次の文。',
    ]);
    expect(
      language.sentences('By Mr. J. Poe e.g. at 5! 1. Lamps\n2. Doors etc. are red.\n- "Why?" he said. (at once)'),
    ).toEqual(['By Mr. J. Poe e.g. at 5!', '1. Lamps', '2. Doors etc. are red.', '- "Why?"', 'he said.', '(at once)']);
  });
});
