import { ContextGatewayError } from '../index.js';
import type { PromptReport } from './prompt.js';

/**
 * The parts that must not be dropped (instructions, pins, constraints, requirements, the new input) do not fit in the
 * budget. Nothing was sent.
 */
export class ContextBudgetError extends ContextGatewayError {
  /** Maximum tokens of the prompt. */
  readonly budget: number;
  /** Tokens that each required part would take. */
  readonly tokens: PromptReport['tokens'];

  constructor(budget: number, tokens: PromptReport['tokens']) {
    super(
      `The prompt does not fit: instructions (${tokens.instructions}), input (${tokens.input}) and required context (${tokens.context}) take ${tokens.total} tokens of ${budget}. Shorten the input, unpin messages, or raise contextWindow.`,
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
