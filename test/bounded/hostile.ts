/** Texts of so many characters, as someone sends them who wants to stop a process. */
export const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  'one long word': (n) => 'b'.repeat(n),
  'one word of many letters': (n) => repeated('cdxedings', n),
  'letters and digits without a space': (n) => repeated('a1b-c_d+e#', n),
  spaces: (n) => ' '.repeat(n),
  'empty lines': (n) => '\n'.repeat(n),
  'short lines': (n) => repeated('a\n', n),
  punctuation: (n) => repeated('.,:;!?-', n),
  'numbers with points': (n) => repeated('1.1:1,', n),
  'nested marks': (n) => repeated('([{<"\'`', n),
  escapes: (n) => repeated('&amp;#x26;\\u0026%26', n),
  'a list of words': (n) => repeated('alpha and beta or gamma, ', n),
  'equal sentences': (n) => repeated('We walked to the harbour on May 4th. ', n),
  'different words': (n) => numbered((at) => `word${at.toString(36)}ing `, n),
  'surrogate pairs': (n) => '🚀'.repeat(n / 2),
  'halves of pairs': (n) => '\ud83d'.repeat(n),
  'combining marks': (n) => `e${'\u0301'.repeat(n - 1)}`,
  'marks in falling order': (n) => `e${repeated('\u0315\u0300\u05ae\u0316', n - 1)}`,
  'marks that are no accents': (n) => `\`\`\`\n${repeated('\u1dc0\u1dc2', n - 4)}`,
  'beginnings of keys': (n) => repeated('Bearer+sk-a.', n),
  'accents that stand alone': (n) => repeated('a´ ¨ ', n),
  'signs that stand for many letters': (n) => 'ﷺ'.repeat(n),
  'letters of two halves': (n) => repeated('𐌰𠀀', n),
  Chinese: (n) => repeated('港口在六点开门。', n),
  code: (n) => repeated('const a = { b: [1, 2] };\n\t', n),
};

/** Lists of texts, together of so many characters. */
export const LISTS: Readonly<Record<string, (length: number) => string[]>> = {
  'many equal items': (n) => Array<string>(Math.floor(n / 40)).fill('We decided to walk to the harbour today.'),
  'many different items': (n) =>
    Array.from({ length: Math.floor(n / 40) }, (_, at) => `We decided to use the item${at} and walked.`),
  'items of two forms each': (n) => Array.from({ length: Math.floor(n / 40) }, (_, at) => inTwoForms(at)),
  'many short items': (n) => Array.from({ length: Math.floor(n / 10) }, (_, at) => `x${at.toString(36)}`),
  'few long items': (n) => Array.from({ length: 4 }, (_, at) => `${at}${'x'.repeat(Math.floor(n / 4))}`),
};

/** Statements of which each two share half of their words: each word is one of two. */
function inTwoForms(at: number): string {
  return Array.from({ length: 12 }, (_, bit) => ((at >> bit) & 1 ? 'ab' : 'ba')).join(' ');
}

function repeated(part: string, length: number): string {
  return part.repeat(Math.ceil(length / part.length)).slice(0, length);
}

function numbered(part: (at: number) => string, length: number): string {
  let text = '';
  for (let at = 0; text.length < length; at += 1) text += part(at);
  return text.slice(0, length);
}
