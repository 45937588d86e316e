import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeCause } from '../../src/errors/cause.js';
import { Redactor } from '../../src/errors/redactor.js';
import { atLength } from '../helpers/endurance.js';

/** Every character a credential may have, except letters. A `=` inside would end the name of a cookie. */
const secret = fc.stringMatching(/^[0-9+/&"'<>_.:-]{11,38}[0-9+/]={0,2}$/);
const code = (character: string) => character.charCodeAt(0);
const hex = (character: string) => code(character).toString(16).padStart(2, '0');
const NAMES: Readonly<Record<string, string>> = {
  ...{ '+': 'plus', '/': 'sol', '=': 'equals', '&': 'amp', '"': 'quot' },
  ...{ "'": 'apos', '<': 'lt', '>': 'gt' },
};

/** Every way to encode a character. */
const WAYS: Readonly<Record<string, (character: string) => string>> = {
  unchanged: (character) => character,
  'a decimal entity': (character) => `&#${code(character)};`,
  'a long decimal entity': (character) => `&#000${code(character)};`,
  'a hexadecimal entity': (character) => `&#x${hex(character)};`,
  'a hexadecimal entity in upper case': (character) => `&#X${hex(character).toUpperCase()};`,
  'a named entity': (character) => (character in NAMES ? `&${NAMES[character]};` : character),
  'percent-encoded': (character) => `%${hex(character)}`,
  'percent-encoded in upper case': (character) => `%${hex(character).toUpperCase()}`,
  'a JSON escape': (character) => `\\u00${hex(character)}`,
  'an escaped entity': (character) => `&amp;#${code(character)};`,
};

describe('a text from the service', () => {
  test('shows no credential, whichever of its characters are encoded and how', () => {
    const way = fc.constantFrom(...Object.values(WAYS));
    fc.assert(
      fc.property(secret, fc.array(way, { minLength: 40, maxLength: 40 }), (credential, ways) => {
        const quoted = [...credential]
          .map((character, at) => (ways[at] as (one: string) => string)(character))
          .join('');

        const shown = new Redactor(`Bearer ${credential}`).mask(`<pre>Authorization Bearer ${quoted} </pre>`);

        expect(shown).toBe('<pre>Authorization Bearer *** </pre>');
      }),
      { numRuns: atLength(500, 2_000) },
    );
  });

  test.each(['a &lt; b &amp;&amp; c%20d', '&#43;&#x2B;', 'C:\\/"x', '%', '&#', '\\', '&#99999999;', '%zz', '&nbsp;'])(
    '%j is unchanged if it contains no credential',
    (text) => {
      expect(new Redactor('Bearer k9Zq+Vt3/Lm8xQ7wR2sD5fG1hJ4==').mask(text)).toBe(text);
    },
  );
});

test('a text of the service cannot turn the direction of the text after it around', () => {
  expect(new Redactor().quote('no \u202e such \u2066 file \u202a')).toBe('no \\u202e such \\u2066 file \\u202a');
  expect(new Redactor().quote('שלום\u200f 👩‍👧')).toBe('שלום\u200f 👩‍👧');
});

describe('the error of a platform', () => {
  test.each([
    'TypeError: failed\n    at send (file:///app.js:10:20)\n    at async main (file:///app.js:3:4)',
    'send@https://example.com/app.js:10:20\nmain@https://example.com/app.js:3:4',
  ])('keeps the places of its stack, and no other line', (stack) => {
    const error = Object.assign(new TypeError('failed'), { stack: `${stack}\nBearer other-secret` });
    const cause = safeCause(error, new Redactor()) as Error;

    expect(cause.stack?.match(/app\.js/g)).toHaveLength(2);
    expect(cause.stack).not.toContain('other-secret');
  });
});
