import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutSecrets } from '../../src/transport/secrets.js';

/** Letters apart, what a credential may consist of. A `=` within it would end the name of a cookie. */
const secret = fc.stringMatching(/^[0-9+/&"'<>_.:-]{11,38}[0-9+/]={0,2}$/);
const code = (character: string) => character.charCodeAt(0);
const hex = (character: string) => code(character).toString(16).padStart(2, '0');
const NAMES: Readonly<Record<string, string>> = {
  ...{ '+': 'plus', '/': 'sol', '=': 'equals', '&': 'amp', '"': 'quot' },
  ...{ "'": 'apos', '<': 'lt', '>': 'gt' },
};

/** Every way a character is written by something that quotes it. */
const WAYS: Readonly<Record<string, (character: string) => string>> = {
  'as it is': (character) => character,
  'a decimal entity': (character) => `&#${code(character)};`,
  'a long decimal entity': (character) => `&#000${code(character)};`,
  'a hexadecimal entity': (character) => `&#x${hex(character)};`,
  'one in upper case': (character) => `&#X${hex(character).toUpperCase()};`,
  'a named entity': (character) => (character in NAMES ? `&${NAMES[character]};` : character),
  'a part of a URL': (character) => `%${hex(character)}`,
  'one of those in upper case': (character) => `%${hex(character).toUpperCase()}`,
  'an escape of JSON': (character) => `\\u00${hex(character)}`,
  'an entity that is escaped': (character) => `&amp;#${code(character)};`,
};

describe('a text of the service', () => {
  test('shows no credential, whichever of its characters are escaped in whatever way', () => {
    const way = fc.constantFrom(...Object.values(WAYS));
    fc.assert(
      fc.property(secret, fc.array(way, { minLength: 40, maxLength: 40 }), (credential, ways) => {
        const quoted = [...credential]
          .map((character, at) => (ways[at] as (one: string) => string)(character))
          .join('');

        const shown = withoutSecrets(`<pre>Authorization Bearer ${quoted} </pre>`, `Bearer ${credential}`);

        expect(shown).toBe('<pre>Authorization Bearer *** </pre>');
      }),
      { numRuns: 2_000, seed: 4 },
    );
  });

  test.each([0, 1, 2, 3].flatMap((before) => [0, 1, 2].map((after) => ({ before, after }))))(
    'shows no credential in base64 with $before bytes before and $after behind it',
    ({ before, after }) => {
      const credential = 'k9Zq+Vt3/Lm8xQ7wR2sD5fG1hJ4==';
      const bytes = Buffer.from(`${'>'.repeat(before)}${credential}${'?'.repeat(after)}`);

      for (const encoding of ['base64', 'base64url'] as const) {
        const shown = withoutSecrets(`sent: ${bytes.toString(encoding)}`, `Bearer ${credential}`);
        const [left, right] = shown.slice('sent: '.length).split('***');

        expect(left?.length).toBeLessThanOrEqual(Math.ceil((before * 8) / 6) + 1);
        expect(right?.length).toBeLessThanOrEqual(6);
      }
    },
  );

  test.each([
    'a &lt; b &amp;&amp; c%20d',
    '&#43;&#x2B;',
    'C:\\/"x',
    '%',
    '&',
    '&#',
    '\\',
    '&#99999999;',
    '%zz',
    '&nbsp;',
  ])('%j stays as it is where it hides no credential', (text) => {
    expect(withoutSecrets(text, 'Bearer k9Zq+Vt3/Lm8xQ7wR2sD5fG1hJ4==')).toBe(text);
  });

  test.each(['&#43;', '&amp;', '&', '%25', '\\', '&#x0000', '&#x2', 'k9Zq+Vt3/', 'svc_sk_', 'a b '])(
    'of 100 kB of %j is read in linear time',
    (part) => {
      const text = part.repeat(100_000 / part.length);
      const [once = 0, eightTimes = 0] = [text, text.repeat(8)].map((one) => {
        const startedAt = process.cpuUsage();
        withoutSecrets(one, 'Bearer k9Zq+Vt3/Lm8xQ7wR2sD5fG1hJ4==');
        return process.cpuUsage(startedAt).user;
      });

      // Quadratic would be 64 times as long. Below 20 ms it is noise that is compared.
      expect(eightTimes / Math.max(once, 20_000)).toBeLessThan(32);
    },
  );
});
