import { type CompactionReceipt, type PromptReport, sources } from 'context-gateway/conversation';
import { bar, cut, number, paint, print } from '../demo/terminal.js';

/** How full the window is, and with what. */
export function gauge({ tokens, budget, stale }: PromptReport): string {
  const { context, tail, recalled, total } = tokens;
  const parts = `${number(total)} of ${number(budget)} tokens: context ${number(context)}, newest messages ${number(tail)}, recalled ${number(recalled)}`;
  return `${bar(total / budget, 24)} ${paint('dim', `${parts}${stale ? ', an older context' : ''}`)}`;
}

/** How many earlier messages the prompt repeated, and the best two, as sources. */
export function printRecalled({ recalled }: PromptReport): void {
  if (recalled.length === 0) return;
  print(paint('dim', `  ${recalled.length} earlier messages were recalled. The best:`));
  for (const { role, createdAt, text } of sources({ recalled }, 2))
    print(
      `  ${paint('cyan', [createdAt && new Date(createdAt).toISOString().slice(0, 10), role].filter(Boolean).join(', '))}: ${cut(text, 160)}`,
    );
}

/** What a compaction did. */
export function printReceipt({ level, tokens, versions, diff, onlyInHistory }: CompactionReceipt): void {
  const { kept, lost, added } = diff;
  print(
    `${paint('magenta', `  compacted${level === undefined ? '' : `, ${level}`}`)}: ${number(tokens.before)} -> ${number(tokens.after)} tokens, summary ${versions.before} -> ${versions.after}`,
  );
  print(`    ${paint('bold', `${onlyInHistory} messages`)} are only in the history now; they are searched`);
  print(`    statements: ${kept.length} kept, ${added.length} added, ${paint('bold', `${lost.length} lost`)}`);
  for (const { section, text } of lost) print(paint('dim', `    lost ${section}: ${cut(text, 90)}`));
}
