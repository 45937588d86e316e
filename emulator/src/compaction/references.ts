/** Something a conversation points to. */
export interface FoundReference {
  type: 'url' | 'file' | 'command' | 'issue' | 'value';
  value: string;
  /** Where it stood, in a few words. */
  label: string;
}

/** Links, paths, commands, issues and measured values in a text; code is read as well as prose. */
export function findReferences(content: string): FoundReference[] {
  const found: FoundReference[] = [];
  const seen = new Set<string>();
  // What has been taken is blanked out, so that a path inside a link is not found a second time.
  let rest = content;
  for (const { type, pattern, group } of PATTERNS) {
    for (const match of content.matchAll(pattern)) {
      const value = trimmed(match[group] ?? match[0]);
      const start = match.index;
      if (value.length < 2 || value.length > 300 || rest.slice(start, start + match[0].length) !== match[0]) continue;
      rest = rest.slice(0, start) + '\u0000'.repeat(match[0].length) + rest.slice(start + match[0].length);
      if (seen.has(value) || (type === 'command' && !isCommand(value))) continue;
      seen.add(value);
      found.push({
        type: type === 'command' && FILE_ONLY.test(value) ? 'file' : type,
        value,
        label: labelAround(content, start, match[0]),
      });
    }
  }
  return found;
}

const FILE = String.raw`(?:[A-Za-z]:\\|\.{0,2}\/)?(?:[\w@.-]+[\/\\])*[\w@-][\w@.-]*\.(?:tsx?|jsx?|mjs|cjs|json|ya?ml|toml|md|mdx|txt|py|rb|go|rs|java|kt|swift|c|cc|cpp|h|hpp|cs|php|sh|sql|css|scss|html?|xml|csv|env|lock|ini|cfg|conf|proto|graphql|vue|svelte|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg)`;
const FILE_ONLY = new RegExp(`^${FILE}$`, 'i');

const PATTERNS: readonly { type: FoundReference['type']; pattern: RegExp; group: number }[] = [
  { type: 'url', pattern: /\bhttps?:\/\/[^\s<>"'`\])}]+/gi, group: 0 },
  { type: 'command', pattern: /(?<!`)`([^`\n]{2,200})`(?!`)/g, group: 1 },
  { type: 'command', pattern: /^[ \t]*\$ (\S[^\n]{1,200})$/gm, group: 1 },
  { type: 'file', pattern: new RegExp(String.raw`(?<![\w./\\-])${FILE}(?![\w/])`, 'gi'), group: 0 },
  { type: 'file', pattern: /(?<![\w./])(?:~|\.{1,2})?\/(?:[\w@.-]+\/)+[\w@.-]*/g, group: 0 },
  {
    type: 'issue',
    pattern: /(?<![\w#&/])(?:[\w.-]{1,60}\/[\w.-]{1,60})?#\d{1,6}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b/g,
    group: 0,
  },
  {
    type: 'value',
    pattern:
      /(?<![\w.])(?:[$€£]\s?\d[\d,.]*\d?[kKmM]?|\d[\d,.]*\s?(?:ms|s|sec(?:ond)?s?|min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?|months?|years?|[KMGT]i?B|bytes?|[kM]?bps|px|[kMG]?Hz|[mck]?m|mm|kg|g|°C|volts?|[mk]?W|%|percent|euros?|pounds?|dollars?|USD|EUR|GBP|tokens?|requests?|rps|qps))(?![\w%])/g,
    group: 0,
  },
];

function trimmed(value: string): string {
  return value.replace(/[.,;:!?)\]]+$/, '').trim();
}

/** Back-ticks also hold single words; what runs, calls, sets or names a place is a reference. */
function isCommand(value: string): boolean {
  return /[\s/.:=()_\-$@]/.test(value) && /[a-z]/i.test(value);
}

/** A few words before it on its line, or after it when it comes first. */
function labelAround(content: string, start: number, match: string): string {
  const words = (text: string): string[] => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const before = words(content.slice(content.lastIndexOf('\n', start - 1) + 1, start)).slice(-4);
  if (before.length > 0) return before.join(' ').slice(0, 80);
  const end = start + match.length;
  const lineEnd = content.indexOf('\n', end);
  const after = words(content.slice(end, lineEnd === -1 ? undefined : lineEnd));
  return after.slice(0, 3).join(' ').slice(0, 80);
}
