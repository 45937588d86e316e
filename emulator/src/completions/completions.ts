import { badRequest, notFound } from '../base/errors.js';
import type { Models } from '../store/models.js';
import { type Language, type LanguageLoader, TOKENS_PER_MESSAGE, type TokenPieces } from '../text/language.js';
import type { ChatMessage, CompletionRequest, ModelResponse, ModelSource } from '../upstream/model-source.js';
import { extractiveReply } from './responder.js';
import type { ScriptedReplies } from './scripted-replies.js';
import { Turns } from './turns.js';

/** A completion before it is serialized. */
export interface Completion {
  model: string;
  tokens: TokenPieces;
  finishReason: string;
  promptTokens: number;
}

/** A completion that the upstream is still generating. */
export interface LiveCompletion {
  model: string;
  promptTokens: number;
  response: ModelResponse;
  countTokens: (text: string) => number;
}

/** Creates completions. */
export class Completions {
  readonly #language: LanguageLoader;
  readonly #scripts: ScriptedReplies;
  readonly #models: Pick<Models, 'list' | 'get'>;
  readonly #maxTokens: number;
  readonly #source: ModelSource | undefined;
  readonly #turns = new Turns();

  constructor(
    language: LanguageLoader,
    scripts: ScriptedReplies,
    models: Pick<Models, 'list' | 'get'>,
    { maxTokens }: { maxTokens: number },
    source: ModelSource | undefined,
  ) {
    this.#language = language;
    this.#scripts = scripts;
    this.#models = models;
    this.#maxTokens = maxTokens;
    this.#source = source;
  }

  /**
   * Creates a whole completion. `left` returns a signal that fires if the client disconnects; only an upstream needs
   * it, and creating it is slow.
   */
  async complete(request: CompletionRequest, disconnected: () => AbortSignal): Promise<Completion> {
    const completion = await this.begin({ ...request, stream: false }, disconnected);
    return 'response' in completion ? wholeCompletion(completion, disconnected()) : completion;
  }

  /** Starts a completion: live from an upstream, else already whole. */
  async begin(request: CompletionRequest, disconnected: () => AbortSignal): Promise<Completion | LiveCompletion> {
    const window = this.#contextWindow(request.model);
    const language = await this.#language.load();
    await this.#turns.wait();
    const promptTokens = countPrompt(request.messages, language);
    if (promptTokens > window) {
      const message = `The messages have ${promptTokens} tokens; the context window of ${request.model} is ${window}`;
      throw badRequest('messages', message, 'context_length_exceeded'); // A28
    }
    const scripted = await this.#scripts.find({ model: request.model, messages: request.messages });
    if (scripted === undefined && this.#source !== undefined) {
      const response = await this.#source.complete(request, disconnected());
      return { model: request.model, promptTokens, response, countTokens: language.countTokens };
    }
    const content = scripted?.content ?? extractiveReply(request.messages, language);
    const limit = Math.min(request.max_tokens ?? this.#maxTokens, window - promptTokens);
    const tokens = language.tokenPieces(content, limit);
    return {
      model: request.model,
      tokens,
      finishReason: tokens.cut ? 'length' : (scripted?.finish_reason ?? 'stop'),
      promptTokens,
    };
  }

  /** The context window of a model. Throws a 404 for an unknown one. */
  #contextWindow(model: string): number {
    const known = this.#models.get(model);
    if (known !== undefined) return known.contextWindow;
    const names = this.#models
      .list()
      .map(({ id }) => id)
      .join(', ');
    const message = `The model ${model.slice(0, 100)} does not exist. Use one of ${names}`;
    throw notFound('model', message, 'model_not_found'); // A11
  }
}

/** Reads a live completion to its end. Counts the tokens if the upstream did not. */
async function wholeCompletion(live: LiveCompletion, signal: AbortSignal): Promise<Completion> {
  let content = '';
  for await (const piece of live.response.pieces) content += piece;
  signal.throwIfAborted();
  const { finishReason, usage } = live.response.ended();
  const count = usage?.completion_tokens ?? live.countTokens(content);
  const tokens = { pieces: [content], count, cut: false };
  return { model: live.model, tokens, finishReason, promptTokens: usage?.prompt_tokens ?? live.promptTokens };
}

export function usageOf(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

function countPrompt(messages: readonly ChatMessage[], language: Language): number {
  return messages.reduce((sum, message) => sum + language.countTokens(message.content) + TOKENS_PER_MESSAGE, 0);
}
