import type { Piece } from './pieces.js';

/**
 * The kept pieces of a message, in order. A gap between sentences shows as `…`; a gap in a block is counted:
 * `… 64 lines left out`.
 */
export function excerpt(pieces: readonly Piece[], kept: ReadonlySet<number>): string {
  const text: string[] = [];
  let skippedLines = 0;
  for (const group of groups(pieces)) {
    const block = pieces[group[0] ?? 0]?.lines?.block;
    if (!group.some((at) => kept.has(at))) {
      skippedLines += block?.lines.length ?? 0;
      continue;
    }
    if (skippedLines > 0) text.push(linesLeftOut(skippedLines));
    skippedLines = 0;
    if (block === undefined) text.push(prose(group, pieces, kept));
    else
      text.push(
        ...[block.fence?.open, blockLines(group, pieces, kept), block.fence?.close].filter(
          (line) => line !== undefined,
        ),
      );
  }
  if (skippedLines > 0) text.push(linesLeftOut(skippedLines));
  return text.join('\n');
}

/** Groups adjacent pieces of the same block, or of prose, by their indexes. */
function groups(pieces: readonly Piece[]): number[][] {
  const found: number[][] = [];
  pieces.forEach((piece, at) => {
    if (at > 0 && pieces[at - 1]?.lines?.block === piece.lines?.block) found.at(-1)?.push(at);
    else found.push([at]);
  });
  return found;
}

function prose(group: readonly number[], pieces: readonly Piece[], kept: ReadonlySet<number>): string {
  let text = '';
  let last: number | undefined;
  for (const at of group) {
    if (!kept.has(at)) continue;
    if (last !== undefined) text += at === last + 1 ? ' ' : ' … ';
    text += pieces[at]?.text ?? '';
    last = at;
  }
  return text;
}

function blockLines(group: readonly number[], pieces: readonly Piece[], kept: ReadonlySet<number>): string {
  let text = '';
  let gap: Piece[] = [];
  for (const at of group) {
    const piece = pieces[at];
    if (piece === undefined) continue;
    if (!kept.has(at)) {
      gap.push(piece);
      continue;
    }
    const mark = leftOut(gap);
    const joint = mark === '' && piece.lines?.startsLine === false ? '' : '\n';
    text += `${mark === '' ? '' : `\n${mark}`}${joint}${piece.text}`;
    gap = [];
  }
  const mark = leftOut(gap);
  return (mark === '' ? text : `${text}\n${mark}`).slice(1);
}

/** Counts whole lines as lines, and parts of a line as characters. */
function leftOut(gap: readonly Piece[]): string {
  const [first, last] = [gap[0]?.lines, gap.at(-1)?.lines];
  if (first === undefined || last === undefined) return '';
  if (first.startsLine && last.endsLine) return linesLeftOut(last.to - first.from);
  return `… ${gap.reduce((sum, { text }) => sum + text.length, 0)} characters left out`;
}

function linesLeftOut(count: number): string {
  return `… ${count} ${count === 1 ? 'line' : 'lines'} left out`;
}
