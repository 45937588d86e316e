import type { CompactionReceipt, PromptReport } from 'context-gateway/conversation';
import { bar, cut, number, paint, print } from '../demo/terminal.js';

/** How full the window is, and with what. */
export function gauge({ tokens, budget, recovered, stale }: PromptReport): string {
  const { context, tail, total } = tokens;
  const parts = `${number(total)} of ${number(budget)} tokens: context ${number(context)}, messages ${number(tail)}`;
  const back = recovered.length === 0 ? '' : `, ${recovered.length} brought back`;
  return `${bar(total / budget, 24)} ${paint('dim', `${parts}${back}${stale ? ', context of before' : ''}`)}`;
}

/** What a compaction did. */
export function printReceipt({ level, tokens, versions, diff }: CompactionReceipt): void {
  const { kept, reworded, lost, added } = diff;
  print(
    `${paint('magenta', `  compacted${level === undefined ? '' : `, ${level}`}`)}: ${number(tokens.before)} -> ${number(tokens.after)} tokens, summary ${versions.before} -> ${versions.after}: ${kept.length} kept, ${reworded.length} reworded, ${added.length} added, ${paint('bold', `${lost.length} lost`)}`,
  );
  for (const { section, text } of lost) print(paint('dim', `    lost of ${section}: ${cut(text, 90)}`));
}
