/** A message of a completion request. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** What the body of a completion request says. */
export interface CompletionRequest {
  model: string;
  messages: ChatMessage[];
  temperature?: number | undefined;
  max_tokens?: number | undefined;
  stream?: boolean | undefined;
}

/** A server of the OpenAI form whose models answer in the emulator's place. */
export interface UpstreamOptions {
  /** Its address up to and including `/v1`. */
  url: string;
  /** Sent as a bearer token. The keys of callers are never sent on. */
  key?: string | undefined;
  /** What a model of the service is called there. @default the same name */
  models?: Record<string, string> | undefined;
  /** Milliseconds until it must have begun to answer. @default 120_000 */
  timeout?: number | undefined;
  /** @default the global fetch */
  fetch?: typeof fetch | undefined;
}

/** An answer that a model is giving. */
export interface ModelAnswer {
  /** Its text as it comes. Read once. */
  pieces: AsyncIterable<string>;
  /** How it ended; known when the pieces have been read. */
  ended: () => ModelAnswerEnd;
}

/** How an answer ended; `usage` where the upstream told it. */
export interface ModelAnswerEnd {
  finishReason: string;
  usage?: { prompt_tokens: number; completion_tokens: number } | undefined;
}

/** Where answers come from when they are not made here. Refuses with a `Refusal`. */
export interface ModelSource {
  answer(request: CompletionRequest, signal: AbortSignal): Promise<ModelAnswer>;
}

/** A whole text as an answer. */
export function wholeAnswer(text: string, end: ModelAnswerEnd): ModelAnswer {
  return {
    pieces: (async function* () {
      yield text;
    })(),
    ended: () => end,
  };
}
