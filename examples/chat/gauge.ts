import type { CompactionReceipt, PromptReport } from 'context-gateway/conversation';
import { bar, cut, number, paint, print } from '../demo/terminal.js';

/** How full the window is, and with what. */
export function gauge({ tokens, budget, stale }: PromptReport): string {
  const { context, tail, recalled, total } = tokens;
  const parts = `${number(total)} of ${number(budget)} tokens: context ${number(context)}, newest messages ${number(tail)}, recalled ${number(recalled)}`;
  return `${bar(total / budget, 24)} ${paint('dim', `${parts}${stale ? ', an older context' : ''}`)}`;
}

/** The earlier messages that the prompt repeated, with their dates. */
export function printRecalled({ recalled }: PromptReport): void {
  for (const { role, createdAt, text } of recalled.slice(0, 4))
    print(paint('dim', `  recalled: ${[createdAt?.slice(0, 10), role].filter(Boolean).join(', ')}: ${cut(text, 80)}`));
  if (recalled.length > 4) print(paint('dim', `  and ${recalled.length - 4} more`));
}

/** What a compaction did. */
export function printReceipt({ level, tokens, versions, diff, onlyInHistory }: CompactionReceipt): void {
  const { kept, reworded, lost, added } = diff;
  print(
    `${paint('magenta', `  compacted${level === undefined ? '' : `, ${level}`}`)}: ${number(tokens.before)} -> ${number(tokens.after)} tokens, summary ${versions.before} -> ${versions.after}: ${kept.length} kept, ${reworded.length} reworded, ${added.length} added, ${paint('bold', `${lost.length} lost`)}`,
  );
  for (const { section, text } of lost) print(paint('dim', `    lost ${section}: ${cut(text, 90)}`));
  print(paint('dim', `    ${onlyInHistory} messages are only in the history now; they are searched`));
}
