import fc from 'fast-check';

/** What makes trouble for a reader of texts: marks, halves, signs that change their length, and what looks like syntax. */
const SIGNS = [
  ...[
    '\u0301',
    '\u0315\u0300',
    '\u3099',
    'ﾞ',
    'ﾟ',
    '´',
    '¨',
    '¯\\_(ツ)_/¯',
    '(´･ω･`)',
    'ಠ_ಠ',
    '\u094d',
    '\u0e31',
    'ก็',
    'ਾ',
    '\u0670',
  ],
  ...[
    '\ud800',
    '\udc00',
    '\u0000',
    '\u200b',
    '\u00ad',
    '\ufeff',
    '\u202e',
    '\u034f',
    '\ufe0f',
    '\u2028',
    '\u0085',
    '\r\n',
  ],
  ...[
    'ﷺ',
    'ﷻ',
    '㍿',
    '½',
    '…',
    'ﬁ',
    'ß',
    'İ',
    'ı',
    'Ǆ',
    '𝒜',
    '𐌰',
    '𠀀',
    '한',
    '\u1100\u1161',
    'ا',
    'الـ',
    '々',
    '〆',
    '👩‍👩‍👧',
    '🇳🇴',
  ],
  ...[
    '1234-56-78',
    '2026-02-31',
    '3 May',
    'yesterday',
    '１２月３１日',
    '二十一月',
    '日曜',
    '٣',
    '1e9',
    '1.1.1',
    '1,000',
    '-0',
  ],
  ...[
    '<context-1>',
    '</recalled-x>',
    '- ',
    '# ',
    '```',
    '|',
    '[…]',
    '&amp;',
    '%3d',
    '\\u0000',
    '\\',
    '"',
    '{',
    '}',
    '__proto__',
  ],
  ...[
    'sk-',
    'svc_sk_',
    'hf_',
    'eyJ',
    'Bearer ',
    'Bearer+',
    '\u1dc0\u1dc2',
    '://u:p',
    '@',
    '=',
    '***',
    'data: ',
    'event: x\n',
    ': ',
    '\n\n',
    '[DONE]',
  ],
  ...['lamp', 'the', 'pier', 'We decided to use it.', 'must', '.', '!?', ' ', 'a', 'e', 'ing', 'Σ', 'ς'],
];

/** Some characters of each category of Unicode. */
const OF_CATEGORIES = ((): string[][] => {
  const names = 'Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn'.split(' ');
  const all = names.map((name) => ({ is: new RegExp(`^\\p{${name}}$`, 'u'), found: [] as string[] }));
  for (let code = 0; code < 0x20000; code += code < 0x3000 ? 1 : 37) {
    const sign = String.fromCodePoint(code);
    all.find(({ is }) => is.test(sign))?.found.push(sign);
  }
  return all.map(({ found }) => found);
})();

const sign = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SIGNS) },
  { weight: 2, arbitrary: fc.oneof(...OF_CATEGORIES.map((some) => fc.constantFrom(...some))) },
  { weight: 1, arbitrary: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) },
);
const joined = (arbitrary: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(arbitrary, { minLength: 1, maxLength, size: 'max' }), fc.constantFrom('', ' ', '\n', ', '))
    .map(([parts, between]) => parts.join(between));
/** A few signs, again and again. */
const long = (length: number, some = joined(sign, 4)): fc.Arbitrary<string> =>
  some.map((part) => part.repeat(Math.ceil(length / part.length)).slice(0, length));
/** Marks, in any order: those of Unicode, and what becomes one. */
const marks = fc.oneof(
  fc.constantFrom(...OF_CATEGORIES.slice(5, 8).flat()),
  fc.constantFrom('\u0315', '\u0300', '\u05ae', '\u0316', 'ﾞ', 'ﾟ'),
);

/** A hostile text: a sign alone, some of them, signs within ordinary words, or a few of them up to 100,000 characters. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: sign },
  { weight: 4, arbitrary: joined(sign, 20) },
  { weight: 2, arbitrary: sign.map((one) => `What is a pier${one} of ${one}lamps, and when${one}?`) },
  { weight: 1, arbitrary: joined(sign, 300) },
  { weight: 1, arbitrary: long(2_000) },
  { weight: 1, arbitrary: long(100_000) },
  {
    weight: 1,
    arbitrary: long(
      100_000,
      fc.array(marks, { minLength: 2, maxLength: 5 }).map((some) => some.join('')),
    ),
  },
);

/** Texts that meet each other: each stands alone, beside others, and within ordinary words. */
export const hostileTexts: fc.Arbitrary<string[]> = fc
  .array(hostileText, { minLength: 2, maxLength: 5 })
  .map((texts) => [...texts, ...texts.slice(1).map((text, at) => `${texts[at] ?? ''} ${text}`.slice(0, 100_000))]);

/** One in `step` characters of the basic plane, and a tenth of that of the others, in blocks of 64. */
export function* everyCharacter(step: number): Generator<string[]> {
  for (let start = 0; start < 0x30000; start += 64 * step * (start < 0x10000 ? 1 : 10))
    yield Array.from({ length: 64 }, (_, at) => String.fromCodePoint(start + at * step));
}
