/** The tokens of a completion. */
export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** The part of a streamed completion that has arrived. `finish_reason` is `null` for a choice that is incomplete. */
export interface PartialChatCompletion {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly created: number | undefined;
  readonly choices: ReadonlyArray<{
    readonly index: number;
    readonly message: { readonly role: string; readonly content: string };
    readonly finish_reason: string | null;
  }>;
  /** The service's token count, if it has arrived. */
  readonly usage: CompletionUsage | undefined;
}
