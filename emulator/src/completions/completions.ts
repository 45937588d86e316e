import { badRequest, notFound } from '../base/errors.js';
import { mention } from '../base/mention.js';
import type { Models } from '../store/models.js';
import type { Language, LanguageLoader, TokenPieces } from '../text/language.js';
import { type PromptTokens, promptTokensOf } from '../text/prompt-tokens.js';
import type { ChatMessage, CompletionRequest, ModelResponse, ModelSource } from '../upstream/model-source.js';
import {
  countedText,
  joinPieces,
  type ReplyPiece,
  type ScriptedToolCall,
  type ToolCall,
} from '../upstream/tool-calls.js';
import { extractiveReply } from './responder.js';
import type { ResolvedReply, ScriptedReplies } from './scripted-replies.js';
import { standInCalls, standInJson } from './stand-in-calls.js';
import { Turns } from './turns.js';

/** What an answer comes from. The built-in responder takes it from the messages of the request. */
type AnswerSource = 'built-in' | 'scripted reply' | ModelSource['name'];

/** A completion before it is serialized. */
export interface Completion {
  model: string;
  answeredBy: AnswerSource;
  /** The tokens of the text. */
  tokens: TokenPieces;
  toolCalls: readonly ToolCall[];
  /** The number of tokens of text and tool calls. */
  tokenCount: number;
  finishReason: string;
  promptTokens: number;
}

/** A completion that the upstream is still generating. */
export interface LiveCompletion {
  model: string;
  answeredBy: AnswerSource;
  promptTokens: number;
  response: ModelResponse;
  countTokens: (text: string) => number;
}

/** What completions are created with. */
interface CompletionParts {
  language: LanguageLoader;
  chat: ScriptedReplies;
  models: Pick<Models, 'list' | 'get'>;
  maxTokens: number;
  source: ModelSource | undefined;
  ids: { next(prefix: string): string };
}

/** Creates completions. */
export class Completions {
  readonly #turns = new Turns();

  constructor(private readonly parts: CompletionParts) {}

  /**
   * Creates a whole completion. `left` returns a signal that fires if the client disconnects; only an upstream needs
   * it, and creating it is slow.
   */
  async complete(
    request: CompletionRequest,
    disconnected: () => AbortSignal,
    counted?: (prompt: PromptTokens) => void,
  ): Promise<Completion> {
    const completion = await this.begin({ ...request, stream: false }, disconnected, counted);
    return 'response' in completion ? wholeCompletion(completion, disconnected()) : completion;
  }

  /** Starts a completion: live from an upstream, else already whole. `counted` gets the tokens of its messages. */
  async begin(
    request: CompletionRequest,
    disconnected: () => AbortSignal,
    counted?: (prompt: PromptTokens) => void,
  ): Promise<Completion | LiveCompletion> {
    const { chat, source, maxTokens } = this.parts;
    const window = this.#contextWindow(request.model);
    const language = this.parts.language.load();
    await this.#turns.wait();
    const prompt = promptTokensOf(request.messages.map(withCalls), window, language);
    counted?.(prompt);
    const promptTokens = prompt.tokens;
    if (promptTokens > window) {
      const message = `The messages have ${promptTokens} tokens; the context window of ${mention(request.model)} is ${window}`;
      throw badRequest('messages', message, 'context_length_exceeded'); // A28
    }
    const scripted = await chat.find({ model: request.model, messages: request.messages, sent: request.sent });
    if (scripted === undefined && source !== undefined) {
      const response = await source.complete(request, disconnected());
      const { model } = request;
      return { model, answeredBy: source.name, promptTokens, response, countTokens: language.countTokens };
    }
    const { content, toolCalls: called, finishReason } = scripted ?? builtInReply(request, language);
    const limit = Math.min(request.max_tokens ?? maxTokens, window - promptTokens);
    const tokens = language.tokenPieces(content, limit);
    const toolCalls = called.map((call) => this.#toolCall(call));
    return {
      model: request.model,
      answeredBy: scripted === undefined ? 'built-in' : 'scripted reply',
      tokens,
      toolCalls,
      tokenCount: tokens.count + language.countTokens(countedText(toolCalls)),
      finishReason: tokens.cut ? 'length' : finishReason,
      promptTokens,
    };
  }

  #toolCall({ id, function: { name, arguments: given = {} } }: ScriptedToolCall): ToolCall {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    return { id: id ?? this.parts.ids.next('call'), type: 'function', function: { name, arguments: text } };
  }

  /** The context window of a model. Throws a 404 for an unknown one. */
  #contextWindow(model: string): number {
    const known = this.parts.models.get(model);
    if (known !== undefined) return known.contextWindow;
    const names = this.parts.models
      .list()
      .map(({ id }) => mention(id))
      .join(', ');
    const message = `The model ${mention(model)} does not exist. Use one of ${names}`;
    throw notFound('model', message, 'model_not_found'); // A11
  }
}

/** Calls of tools, or else JSON that a schema asks for, or a text. */
function builtInReply(request: CompletionRequest, language: Language): ResolvedReply {
  const toolCalls = standInCalls(request, language);
  if (toolCalls.length > 0) return { content: '', toolCalls, finishReason: 'tool_calls' };
  const json = standInJson(request, language);
  if (json !== undefined) return { content: JSON.stringify(json), toolCalls, finishReason: 'stop' };
  return { content: extractiveReply(request.messages, language), toolCalls, finishReason: 'stop' };
}

/** A message with its tool calls as text, which count as well. */
function withCalls({ role, content, tool_calls: calls }: ChatMessage): { role: string; content: string } {
  if (calls === undefined) return { role, content };
  return { role, content: [content, countedText(calls)].filter((part) => part !== '').join('\n') };
}

/** Reads a live completion to its end. Counts the tokens if the upstream did not. */
async function wholeCompletion(live: LiveCompletion, signal: AbortSignal): Promise<Completion> {
  const pieces: ReplyPiece[] = [];
  for await (const piece of live.response.pieces) pieces.push(piece);
  signal.throwIfAborted();
  const { content, toolCalls } = joinPieces(pieces);
  const { finishReason, usage } = live.response.ended();
  const tokenCount = usage?.completion_tokens ?? live.countTokens(content + countedText(toolCalls));
  const tokens = { pieces: [content], count: tokenCount, cut: false };
  const promptTokens = usage?.prompt_tokens ?? live.promptTokens;
  const { model, answeredBy } = live;
  return { model, answeredBy, tokens, toolCalls, tokenCount, finishReason, promptTokens };
}

export function usageOf(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
