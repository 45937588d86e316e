import { type ContextItem, memorySection } from './items.js';
import type { ConversationMessage } from './messages.js';
import type { ContextParts, Dropped } from './prompt.js';
import { isIncluded } from './tail.js';

interface Left {
  parts: ContextParts;
  /** Lines of the context that were not sent. */
  lines: readonly ContextItem[];
  history: readonly ConversationMessage[];
  /** Index of the first message that was sent. */
  start: number;
}

/** Lists what was not sent, and why. Old messages are not counted in tokens, because there may be very many. */
export function droppedOf({ parts, lines, history, start }: Left, count: (text: string) => number): Dropped[] {
  const inactive = (parts.memory ?? []).filter(({ isActive }) => isActive === false);
  return [
    ...inactive.map(
      ({ id, type, content }): Dropped => ({
        ...{ section: memorySection(type), id, tokens: count(content), reason: 'inactive' },
      }),
    ),
    ...lines.map(({ section, id, text }): Dropped => ({ section, id, tokens: count(text), reason: 'budget' })),
    ...messages(history.slice(0, start).filter(isIncluded).length, 'budget'),
    ...messages(history.filter((message) => !isIncluded(message)).length, 'excluded'),
  ];
}

function messages(count: number, reason: Dropped['reason']): Dropped[] {
  return count === 0 ? [] : [{ section: 'history', messages: count, reason }];
}
