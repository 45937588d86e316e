/** How services say it: OpenAI, vLLM, OpenRouter; llama.cpp; Anthropic. */
const TOO_LONG =
  /(?:maximum|available|model'?s?) context|context (?:length|window|size)|(?:prompt|input) is too long|too many (?:input )?tokens/i;

/** Whether an error says that the prompt does not fit into the model's window (A28). */
export function isTooLong({ status, code, type, message }: FailedCompletion): boolean {
  if (status !== 400 && status !== 413) return false;
  return code === 'context_length_exceeded' || type === 'exceed_context_size_error' || TOO_LONG.test(message);
}

interface FailedCompletion {
  readonly status: number;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly message: string;
}
