import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Colours in a terminal; plain text in a file or a pipe. */
const colourful = (process.stdout.isTTY || process.env.FORCE_COLOR) && process.env.NO_COLOR === undefined;

export function paint(format: Format, text: string): string {
  return colourful ? styleText(format, text) : text;
}

let chapters = 0;

/** A numbered heading with the call it shows. */
export function chapter(title: string, call: string): void {
  chapters += 1;
  print(`\n${paint(['bold', 'cyan'], `${chapters}. ${title}`)}  ${paint('dim', call)}`);
}

export function print(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** A name and a value under each other. */
export function fact(name: string, value: string): void {
  print(`   ${paint('dim', name.padEnd(18))} ${value}`);
}

/** A bar of `share` (0 to 1) of the width. */
export function bar(share: number, width = 40): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return paint('green', '█'.repeat(filled)) + paint('dim', '░'.repeat(width - filled));
}

export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** A list of at most `most` items, each cut to a line. */
export function list(title: string, items: readonly string[], most = 3): void {
  if (items.length === 0) return;
  print(`   ${paint('bold', title)} ${paint('dim', `(${items.length})`)}`);
  for (const item of items.slice(0, most)) print(`     • ${cut(item, 100)}`);
  if (items.length > most) print(paint('dim', `       and ${items.length - most} more`));
}

export function cut(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
