import type { Sliced } from '../../base/slices.js';

/** Consecutive lines of a message: prose, or a block that only makes sense verbatim. */
export interface Segment {
  kind: Kind;
  lines: string[];
  /** The opening and closing lines of a fenced block. */
  fence?: { open: string; close: string };
}

type Kind = 'prose' | 'code' | 'table' | 'list' | 'log' | 'data';

/** Splits a message into prose and blocks: code, tables, lists, logs, data. */
export function* segments(content: string): Sliced<Segment[]> {
  const found: Segment[] = [];
  const lines = content.split(/\r?\n/);
  const kinds: Kind[] = [];
  for (const line of lines) {
    kinds.push(lineKind(line));
    yield;
  }
  for (let at = 0; at < lines.length; ) {
    yield;
    const line = lines[at] ?? '';
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined) {
      const end = closingFence(lines, at + 1, mark);
      found.push({ kind: 'code', lines: lines.slice(at + 1, end), fence: { open: line.trim(), close: mark } });
      at = end + 1;
      continue;
    }
    const kind = kinds[at] ?? 'prose';
    const start = at;
    do at += 1;
    while (at < lines.length && continues(kind, { lines, kinds }, at));
    const part = lines.slice(start, at);
    const last = found.at(-1);
    if (kind !== 'prose' && (part.length >= LEAST_LINES || line.length > LONG_LINE)) found.push({ kind, lines: part });
    else if (last?.kind === 'prose') last.lines.push(...part);
    else found.push({ kind: 'prose', lines: part });
  }
  return found;
}

function closingFence(lines: readonly string[], from: number, mark: string): number {
  let end = from;
  while (end < lines.length && lines[end]?.trim() !== mark) end += 1;
  return end;
}

/** Whether the line continues the block before it. */
function continues(
  kind: Kind,
  { lines, kinds }: { lines: readonly string[]; kinds: readonly Kind[] },
  at: number,
): boolean {
  const line = lines[at] ?? '';
  if (FENCE.test(line)) return false;
  // A single empty line inside a block does not end it.
  if (line.trim() === '') return kinds[at + 1] === kind && !FENCE.test(lines[at + 1] ?? '');
  // An indented line belongs to the entry of the list or log above it.
  return kinds[at] === kind || ((kind === 'list' || kind === 'log') && /^\s{2,}\S/.test(line));
}

/** Classifies a line by its beginning. */
function lineKind(line: string): Kind {
  const start = line.slice(0, LONG_LINE);
  if (start.trim() === '') return 'prose';
  if (LOG_LINE.test(start)) return 'log';
  if (LIST_LINE.test(start)) return 'list';
  if (isTableRow(start)) return 'table';
  if (isCode(start)) return 'code';
  return isData(start) ? 'data' : 'prose';
}

function isTableRow(line: string): boolean {
  const text = line.trim();
  if (text.startsWith('|') && text.indexOf('|', 1) !== -1) return true;
  const cells = text.split(/\t|[,;|](?! )/);
  return cells.length >= 3 && cells.every((cell) => cell.length <= LONGEST_CELL) && text.length > cells.length;
}

/** Prose has a few brackets and equals signs. Code has them on every line, at its end or with an indent. */
function isCode(line: string): boolean {
  const signs = line.match(/[{}()[\];=<>|&$]|=>|::|->/g)?.length ?? 0;
  const words = line.match(/[A-Za-z]{2,}/g)?.length ?? 0;
  if (/^\s*[{}()[\];,]+\s*$/.test(line) || /[;{}]\s*$/.test(line)) return true;
  return signs >= 2 && (/^(?: {2,}|\t)/.test(line) || signs * 2 >= words);
}

function isData(line: string): boolean {
  const characters = line.replace(/\s+/g, '');
  const letters = characters.match(/\p{L}/gu)?.length ?? 0;
  return characters.length >= 2 && (letters * 3 < characters.length || isUnbrokenLine(line));
}

/** A long line without spaces is not prose. Scripts without spaces have other punctuation. */
function isUnbrokenLine(line: string): boolean {
  return line.length >= LONG_LINE && !/[\s。、]/.test(line);
}

/** Blocks with fewer lines are read as prose. */
const LEAST_LINES = 3;
/** In characters. A longer line that is not prose is a block by itself. */
const LONG_LINE = 300;
const LONGEST_CELL = 40;
const FENCE = /^ {0,3}(`{3,8}|~{3,8})/;
const LIST_LINE = /^\s{0,12}(?:[-*•+]|\d{1,4}[.)])\s+\S/;
const LOG_LINE =
  /^\s{0,12}(?:\[?\d{4}-\d\d-\d\d[T \]]|\[?\d\d:\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b|at \S+ ?\(|File "|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3} )/;
