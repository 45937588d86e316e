/** `&#x2b;`; `&#43;`; `&plus;`; `%2b%20`; `\u002b`; `\/` and `\n` */
const ESCAPED =
  /&#x0*([\da-f]{1,6});?|&#0*(\d{1,7});?|&(\w{2,6});|((?:%[\da-f]{2})+)|\\u([\da-f]{4})|\\(["'/\\bfnrt])/gi;
const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' },
  ...{ plus: '+', equals: '=', sol: '/' }, // used in tokens
};

/** Decodes characters that are escaped as in HTML, URLs or JSON. Anything else stays unchanged. */
export function unescaped(text: string): string {
  return text.replace(ESCAPED, (whole, hex, decimal, name, percent, unicode, plain) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
    if (percent !== undefined) return percentDecoded(percent);
    if (plain !== undefined) return /\w/.test(plain) ? ' ' : plain; // a line break, as `\n`
    if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode, 16));
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}

/** Bytes that are not UTF-8 stay unchanged, except ASCII characters. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%[0-7][\da-f]/gi, decodeURIComponent);
  }
}
