import type { ChatMessage } from '../index.js';
import { ContextBudgetError } from './budget-error.js';
import { itemsOf } from './items.js';
import type { ConversationOptions } from './options.js';
import type { ContextParts } from './prompt.js';
import { renderItems } from './render.js';
import { selectItems } from './select.js';

interface ContextMessageParams extends Pick<ConversationOptions, 'sections' | 'render' | 'placement'> {
  parts: ContextParts;
  question: string;
  /** Tokens that it may have. */
  limit: number;
  /** Tokens that a prompt may have: the most for what must not be dropped. */
  budget: number;
  count(text: string): number;
}

/** A context for a question, beside messages that are not known here. */
export function contextMessage(params: ContextMessageParams): ChatMessage | undefined {
  const { parts, sections, render, placement = 'user', question, limit, budget, count } = params;
  if (render !== undefined) return messageOf(render(parts, limit), placement);
  const { items, tokens } = selectItems(itemsOf(parts, sections), question, limit, count);
  if (tokens > budget) {
    throw new ContextBudgetError(budget, { instructions: 0, context: tokens, tail: 0, input: 0, total: tokens });
  }
  return messageOf(renderItems(items), placement);
}

function messageOf(content: string, role: 'user' | 'system'): ChatMessage | undefined {
  return content === '' ? undefined : { role, content };
}
