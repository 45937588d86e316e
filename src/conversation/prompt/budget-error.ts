import { ContextGatewayError, type ErrorData } from '../../index.js';
import type { PromptReport } from '../model.js';

/** The parts that must not be dropped (instructions, pins, the new input) do not fit in the budget. Nothing was sent. */
export class ContextBudgetError extends ContextGatewayError {
  static override readonly errorName: string = 'ContextBudgetError';

  /** Maximum tokens of the prompt. */
  readonly budget: number;
  /** Tokens that each required part would take. */
  readonly tokens: PromptReport['tokens'];

  constructor(budget: number, tokens: PromptReport['tokens']) {
    super(
      `The prompt does not fit: instructions (${tokens.instructions}), input (${tokens.input}) and pins (${tokens.context}) take ${tokens.total} tokens of ${budget}. Shorten the input, unpin messages, or raise contextWindow.`,
    );
    this.budget = budget;
    this.tokens = tokens;
  }

  /** @internal */
  get errorData(): ErrorData {
    const message = 'Your message is too long. Shorten it and send it again.';
    return { status: 413, code: 'context_length_exceeded', message };
  }

  protected override facts(): Record<string, unknown> {
    return { budget: this.budget, tokens: this.tokens };
  }
}
