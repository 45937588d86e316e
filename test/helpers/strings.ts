import * as fc from 'fast-check';

/** Any JavaScript string, including lone surrogates. */
export const anyString = (maxLength = 16): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.nat(0x7f), fc.nat(0xffff), fc.integer({ min: 0xd7f0, max: 0xe010 })), { maxLength })
    .map((codes) => String.fromCharCode(...codes));

/** Any well-formed Unicode string. */
export const unicodeString = (maxLength = 16): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff })), { maxLength })
    .map((codes) => String.fromCodePoint(...codes));
