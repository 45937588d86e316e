import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callerTexts, withoutEcho } from '../../src/errors/echo.js';

const blanked = (text: string, ...contents: string[]) =>
  withoutEcho(text, callerTexts(JSON.stringify({ messages: contents.map((content) => ({ role: 'user', content })) })));
const word = fc.stringMatching(/^[a-zé]{1,9}$/);
const prose = fc.array(word, { minLength: 8, maxLength: 60 }).map((words) => words.join(' '));

describe('a text from the service', () => {
  test('keeps no 20 characters in a row of a text of the caller', () => {
    fc.assert(
      fc.property(prose, prose, fc.nat(), fc.integer({ min: 20, max: 80 }), (said, text, from, length) => {
        const quote = text
          .slice(from % text.length)
          .slice(0, length)
          .trim();
        const shown = blanked(`[${said}] [${quote}] [${said}]`, 'something else', text);

        const runs = Array.from(shown, (_, at) => shown.slice(at, at + 20)).filter(({ length }) => length === 20);
        expect(runs.filter((run) => text.includes(run))).toEqual([]);
        if (quote.length >= 20) expect(shown).toContain('[…]');
      }),
      { numRuns: 300, seed: 11 },
    );
  });

  test.each([
    { name: 'a run of 19 characters', text: 'it says: abcdefghijklmnopqrs', content: 'abcdefghijklmnopqrs, and more' },
    { name: 'a whole text of 7 characters', text: 'no "abcdefg" here', content: 'abcdefg' },
    { name: 'escapes, if nothing is shared', text: 'a &lt; b%20 \\n  c', content: 'something else entirely' },
  ])('is unchanged with $name', ({ text, content }) => {
    expect(blanked(text, content)).toBe(text);
  });

  test.each([
    { name: 'a whole text of 8 characters', text: 'no "abcdefgh" here', content: 'abcdefgh', shown: 'no "…" here' },
    { name: 'a run of 20', text: 'no aaaaabbbbbcccccddddd', content: '-aaaaabbbbbcccccddddd-', shown: 'no …' },
    { name: 'a line break', text: 'no aaa bbb\n  ccc ddd eeee', content: 'aaa bbb ccc ddd eeee!', shown: 'no …' },
    { name: 'two quotes', text: '"first text" and "other"', content: 'first text', shown: '"…" and "other"' },
  ])('is blanked with $name', ({ text, content, shown }) => {
    expect(blanked(text, content)).toBe(shown);
  });
});
