import { isObject } from '../base/objects.js';
import { startOf } from '../base/unicode.js';

/** The widest cell of a table, in columns. `--json` has everything, and all digits. */
const MAX_CELL = 80;
const LONGEST_CELL = 1_000;
/** Columns of a table, and levels of headings. What the service sends may have one for each record, or very many. */
const MAX_COLUMNS = 40;
const MAX_LEVELS = 5;
const ASCII = /^[ -~]*$/;
/** What a terminal shows as one character, which may be several for JavaScript. */
const CHARACTERS = new Intl.Segmenter();
const WIDE =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;

/** A result in tables: records as rows, fields in two columns, nested values under headings. Ends with a line end. */
export function inTables(value: unknown): string {
  return `${blocksOf('', value).join('\n\n')}\n`;
}

/** A result as JSON. Ends with a line end. */
export function inJSON(value: unknown): string {
  return `${printable(JSON.stringify(value, null, 2))}\n`;
}

/** Escapes what a terminal would obey, except line ends and tabs: escape sequences, and changes of the direction of text. */
export function printable(text: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped);
}

function blocksOf(heading: string, value: unknown, level = 0): string[] {
  if (Array.isArray(value)) return [titled(heading, value.some(isObject) ? rowsOf(value) : linesOf(value))];
  if (!isObject(value)) return [titled(heading, cell(value))];
  const fields = Object.entries(value);
  const isOpen = (field: unknown): boolean => level < MAX_LEVELS && isNested(field);
  const plain = fields.filter(([, field]) => !isOpen(field)).map(([name, field]) => [cell(name), cell(field)]);
  const nested = fields.filter(([, field]) => isOpen(field));
  return [
    ...(plain.length === 0 ? [] : [titled(heading, aligned(plain))]),
    ...nested.flatMap(([name, field]) => blocksOf(heading === '' ? name : `${heading}.${name}`, field, level + 1)),
  ];
}

function titled(heading: string, text: string): string {
  return heading === '' ? text : `${cell(heading)}\n${text.replace(/^/gm, '  ')}`;
}

function linesOf(values: readonly unknown[]): string {
  return values.length === 0 ? '(none)' : values.map((value) => `- ${cell(value)}`).join('\n');
}

function rowsOf(records: readonly unknown[]): string {
  const all = new Set(records.flatMap((record) => Object.keys(Object(record))));
  const names = [...all].slice(0, MAX_COLUMNS);
  const more = all.size - names.length;
  const rows = records.map((record) => names.map((name) => cell(Object(record)[name])));
  const table = aligned([names.map(cell), ...rows]);
  return more > 0 ? `${table}\n… ${more} more columns: see --json` : table;
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((text, at) => Math.max(most[at] ?? 0, widthOf(text))),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((text, at) => text + ' '.repeat((widths[at] ?? 0) - widthOf(text)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Text of the service may contain escape sequences, which a terminal would obey. */
function cell(value: unknown): string {
  if (value === undefined) return '';
  const short = typeof value === 'number' ? Math.round(value * 100) / 100 : value;
  const text = typeof short === 'string' ? short : short === undefined ? '' : JSON.stringify(short);
  return cut(text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '));
}

/** The columns that a text takes in a terminal. */
function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length; // the segmenter takes a hundred times as long
  let width = 0;
  for (const { segment } of CHARACTERS.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

function cut(text: string): string {
  if (ASCII.test(text)) return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL - 1)}…` : text;
  let [kept, shorter, width] = ['', '', 0];
  // Each step takes longer the longer the text is, and one character may have any number of marks.
  const start = startOf(text, LONGEST_CELL);
  for (const { segment } of CHARACTERS.segment(start)) {
    width += widthOf(segment);
    if (width > MAX_CELL) return `${shorter}…`;
    kept += segment;
    if (width < MAX_CELL) shorter = kept; // leaves room for the dots
  }
  return start === text ? kept : `${kept}…`;
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) || (isObject(value) && Object.keys(value).length > 0);
}
