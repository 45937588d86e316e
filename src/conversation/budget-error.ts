import { ContextGatewayError } from '../index.js';
import type { PromptReport } from './prompt.js';

/** What must not be dropped (instructions, pins, constraints, requirements, the new input) does not fit. Nothing was sent. */
export class ContextBudgetError extends ContextGatewayError {
  /** The most tokens that the prompt may have. */
  readonly budget: number;
  /** What its parts would take. */
  readonly tokens: PromptReport['tokens'];

  constructor(budget: number, tokens: PromptReport['tokens']) {
    super(
      `The prompt does not fit: instructions (${tokens.instructions}), input (${tokens.input}) and what must not be dropped of the context (${tokens.context}) take ${tokens.total} tokens of ${budget}. Shorten the input, unpin messages, or raise contextWindow.`,
    );
    this.budget = budget;
    this.tokens = tokens;
  }

  override get name(): string {
    return 'ContextBudgetError';
  }

  protected override facts(): Record<string, unknown> {
    return { budget: this.budget, tokens: this.tokens };
  }
}
