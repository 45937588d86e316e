/** Parses JSON. Throws a SyntaxError that says where it is not valid. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const before = text.slice(0, problemAt(text)).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    throw new SyntaxError(`not valid JSON: line ${before.length}, column ${column}`, { cause });
  }
}

/** The offset of the first character that cannot go on. What `JSON.parse` says of it differs between versions of Node. */
function problemAt(text: string): number {
  const open: string[] = [];
  let wanted: 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'more' = 'value';
  for (let at = 0; ; ) {
    at += /^[ \t\r\n]*/.exec(text.slice(at, at + MOST_SPACE))?.[0].length ?? 0;
    TOKEN.lastIndex = at;
    const [token = ''] = TOKEN.exec(text) ?? [];
    const kind = token.startsWith('"') ? 'text' : /^[{}[\],:]$/.test(token) ? token : token === '' ? 'none' : 'value';
    const isValue = kind === 'text' || kind === 'value' || kind === '{' || kind === '[';
    if (wanted.startsWith('value') && isValue) {
      if (kind === '{' || kind === '[') open.push(kind);
      wanted = kind === '{' ? 'key or }' : kind === '[' ? 'value or ]' : 'more';
    } else if (wanted.startsWith('key') && kind === 'text') wanted = ':';
    else if (wanted === ':' && kind === ':') wanted = 'value';
    else if (kind === CLOSING[open.at(-1) ?? ''] && (wanted === 'more' || wanted.endsWith(kind))) {
      open.pop();
      wanted = 'more';
    } else if (wanted === 'more' && kind === ',' && open.length > 0) wanted = open.at(-1) === '{' ? 'key' : 'value';
    else if (kind !== 'none' || !isSpace(text, at)) return at;
    at += token.length;
  }
}

/** Whether more space follows, which is read in pieces. */
function isSpace(text: string, at: number): boolean {
  return at < text.length && ' \t\r\n'.includes(text.charAt(at));
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };
const TOKEN =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/y;
const MOST_SPACE = 10_000;
