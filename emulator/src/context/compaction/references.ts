import type { Sliced } from '../../base/slices.js';
import { startOf } from '../../base/start-of.js';

/** A thing that a conversation refers to. */
export interface FoundReference {
  type: 'url' | 'file' | 'command' | 'issue' | 'value';
  value: string;
  /** A few words of its surroundings. */
  label: string;
}

/**
 * Finds links, paths, commands, issues and measured values in prose and code. Each regular expression matches a whole
 * run of characters, which code then inspects: an expression that tries every start in a long run needs quadratic time.
 */
export function* findReferences(content: string): Sliced<FoundReference[]> {
  const text = startOf(content, MOST_CHARACTERS);
  const found: FoundReference[] = [];
  const seen = new Set<string>();
  // Marks the characters already matched, so that a path inside a link is not found again.
  const taken = new Uint8Array(text.length);
  for (const [pattern, spotIn] of FINDERS) {
    yield;
    for (const match of text.matchAll(pattern)) {
      yield;
      const spot = spotIn(match, text);
      if (spot === undefined) continue;
      const { type, start, end, value: inner } = spot;
      const value = (inner ?? text.slice(start, end)).replace(/[.,;:!?)\]]{1,9}$/, '').trim();
      if (value.length < 2 || value.length > LONGEST || taken[start] === 1 || taken[end - 1] === 1) continue;
      taken.fill(1, start, end);
      if (seen.has(value) || (type === 'command' && !isCommand(value))) continue;
      seen.add(value);
      const isFile = type === 'command' && endsAsFile(value) && /^[\w@.\-/\\:]+$/.test(value);
      found.push({ type: isFile ? 'file' : type, value, label: labelAround(text, start, end) });
      if (found.length === MOST_REFERENCES) return found;
    }
  }
  return found;
}

/** Only the beginning of a message is scanned. */
const MOST_CHARACTERS = 100_000;
const MOST_REFERENCES = 500;
/** In characters. */
const LONGEST = 300;

interface Spot {
  type: FoundReference['type'];
  start: number;
  end: number;
  /** The value, if it is not the whole text from `start` to `end`. */
  value?: string;
}

/** Patterns of runs of characters, and what in a run is a reference. */
const FINDERS: readonly [RegExp, (match: RegExpExecArray, text: string) => Spot | undefined][] = [
  [/\bhttps?:\/\/[^\s<>"'`\])}]+/gi, (match) => spotOf('url', match)],
  // Text between single back-ticks on one line.
  [/(?<!`)`(?!`)([^`\n]{2,200})`(?!`)/g, (match) => spotOf('command', match)],
  // Text after a shell prompt.
  [/^[ \t]{0,20}\$ (\S[^\n]{1,200})$/gm, (match) => spotOf('command', match)],
  [/[\w@.\-/\\~]+/g, fileIn],
  [/#\d{1,6}(?!\w)/g, issueIn],
  [/(?<!\w)[A-Z][A-Z0-9]{1,9}-\d{1,6}(?!\w)/g, (match) => spotOf('issue', match)],
  [/(?:[$€£]\s?)?\d[\d,.]*/g, valueIn],
];

function spotOf(type: Spot['type'], { 0: run, 1: value, index }: RegExpExecArray): Spot {
  return { type, start: index, end: index + run.length, ...(value !== undefined && { value }) };
}

/** Names with a known extension, and paths with at least two segments. */
function fileIn({ 0: run, index }: RegExpExecArray, text: string): Spot | undefined {
  const drive = /^\\/.test(run) && /(?<!\w)[A-Za-z]:$/.test(text.slice(Math.max(0, index - 3), index)) ? 2 : 0;
  const path = run.replace(/[.]{1,9}$/, '');
  const isPath = /^(?:~|\.{1,2})?\/[\w@.-]+\//.test(path);
  if ((!isPath && !endsAsFile(path)) || /^[.\-/\\~]*$/.test(path)) return undefined;
  return { type: 'file', start: index - drive, end: index + path.length };
}

/** `#42` and `owner/name#42`. */
function issueIn({ 0: number, index }: RegExpExecArray, text: string): Spot | undefined {
  const owner =
    /(?<![\w#&/.-])[\w.-]{1,60}\/[\w.-]{1,60}$/.exec(text.slice(Math.max(0, index - 122), index))?.[0] ?? '';
  const start = index - owner.length;
  return /[\w#&/]/.test(text.charAt(start - 1)) ? undefined : { type: 'issue', start, end: index + number.length };
}

/** Amounts of money, and numbers with a unit. */
function valueIn({ 0: run, index }: RegExpExecArray, text: string): Spot | undefined {
  if (run.length > LONGEST_NUMBER || /[\w.]/.test(text.charAt(index - 1))) return undefined;
  const number = run.replace(/[,.]{1,9}$/, '');
  const after = text.slice(index + number.length, index + number.length + LONGEST_NUMBER);
  const unit = (/^[$€£]/.test(run) ? /^[kKmM]?(?![\w%])/ : UNIT).exec(after)?.[0];
  return unit === undefined ? unit : { type: 'value', start: index, end: index + number.length + unit.length };
}

const LONGEST_NUMBER = 24;
const UNIT =
  /^\s?(?:ms|s|sec(?:ond)?s?|min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?|months?|years?|[KMGT]i?B|bytes?|[kM]?bps|px|[kMG]?Hz|[mck]?m|mm|kg|g|°C|volts?|[mk]?W|%|percent|euros?|pounds?|dollars?|USD|EUR|GBP|tokens?|requests?|rps|qps)(?![\w%])/;

const EXTENSIONS: ReadonlySet<string> = new Set(
  `ts tsx js jsx mjs cjs json yml yaml toml md mdx txt py rb go rs java kt swift c cc cpp h hpp cs php sh sql css scss htm
  html xml csv env lock ini cfg conf proto graphql vue svelte pdf doc docx xls xlsx ppt pptx png jpg jpeg svg`.split(
    /\s+/,
  ),
);

function endsAsFile(path: string): boolean {
  const dot = path.lastIndexOf('.');
  return dot > 0 && /[\w@-]/.test(path.charAt(dot - 1)) && EXTENSIONS.has(path.slice(dot + 1).toLowerCase());
}

/** Back-ticks also quote single words. Only text that runs, calls, sets or locates something is a reference. */
function isCommand(value: string): boolean {
  return /[\s/.:=()_\-$@]/.test(value) && /[a-z]/i.test(value);
}

/** A few words before the reference on its line, or after it if it starts the line. */
function labelAround(text: string, start: number, end: number): string {
  const reach = text.slice(Math.max(0, start - LABEL_REACH), start);
  const before = words(reach.slice(reach.lastIndexOf('\n') + 1)).slice(-4);
  if (before.length > 0) return startOf(before.join(' '), LONGEST_LABEL);
  const after = words(text.slice(end, end + LABEL_REACH).split('\n')[0]);
  return startOf(after.slice(0, 3).join(' '), LONGEST_LABEL);
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}

const LABEL_REACH = 120;
const LONGEST_LABEL = 80;
