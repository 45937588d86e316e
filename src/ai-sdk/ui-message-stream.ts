import { tryJson } from '../base/json.js';
import { shownSources } from '../base/shown-sources.js';
import { shownTurn } from '../base/shown-turn.js';
import { streamOf } from '../base/stream-of.js';
import type { FoundMessage, ReplyPart, ReplyStream, TurnEvent } from '../conversation/index.js';
import { APIAbortError, type ToolCall, toErrorData } from '../index.js';
import { booleanOption, functionOption, optionsCheck } from '../validation/options.js';

/** A chunk of a message for `useChat`. The same in `ai` 5, 6 and 7. */
type UIMessageChunk =
  | { type: 'start'; messageId?: string }
  | { type: 'data-recalled'; data: FoundMessage[] }
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; dynamic: true }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; dynamic: true }
  | { type: 'finish-step' | 'start-step' | 'abort' }
  | { type: 'error'; errorText: string }
  | { type: 'finish'; messageMetadata?: TurnMetadata };

/** The metadata of a message: the turn without its text. */
export type TurnMetadata = Omit<Extract<TurnEvent, { type: 'turn' }>['turn'], 'text'>;

/** Options of `turnToUIMessageStream`. */
type UIMessageStreamOptions = {
  /** Returns the text of an error for the page. @default toErrorData(error).message */
  onError?: ((error: unknown) => string) | undefined;
  /**
   * Whether the page gets the arguments and results of tools that have run. Without it, their `input` is `{}`, and their `output` `null`.
   * @default false
   */
  showResults?: boolean | undefined;
};

const check = /* @__PURE__ */ optionsCheck({ onError: functionOption, showResults: booleanOption });

/**
 * Streams a reply to `useChat`: `createUIMessageStreamResponse({ stream: turnToUIMessageStream(conversation.stream(input)) })`.
 * The message has the reply's id. The best ten messages that were recalled are a data part, `data-recalled`, and each call of a tool a
 * part `dynamic-tool`; one that waits for the app has its arguments as `input`. The metadata of the message is the turn: messages with
 * ids, usage, model, finish reason, report. If the page is closed, the reply is stopped, and its text so far is stored; with the option
 * `background`, it continues.
 *
 * @throws {ConfigurationError} when an option is invalid
 */
export function turnToUIMessageStream(
  reply: ReplyStream,
  options: UIMessageStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  check(options);
  const parts = reply.parts()[Symbol.asyncIterator]();
  return streamOf(chunksOf(reply, parts, options), () => parts.return?.());
}

async function* chunksOf(
  reply: ReplyStream,
  parts: AsyncIterator<ReplyPart>,
  { onError = (error) => toErrorData(error).message, showResults = false }: UIMessageStreamOptions,
): AsyncGenerator<UIMessageChunk, undefined> {
  const message = new MessageParts(showResults);
  let hasBegun = false;
  let failure: { error: unknown } | undefined;
  try {
    for (let step = await parts.next(); !step.done; step = await parts.next()) {
      if (!hasBegun) {
        yield { type: 'start', messageId: reply.id }; // not before: with an id, the page shows a message
        const recalled = shownSources(reply.report?.recalled ?? [], showResults);
        if (recalled.length > 0) yield { type: 'data-recalled', data: recalled };
      }
      hasBegun = true;
      yield* message.chunksOf(step.value);
    }
  } catch (error) {
    failure = { error };
  }
  const turn = await reply.final().catch((error: unknown) => {
    failure ??= { error };
  });
  yield* message.end(turn?.toolCalls);
  if (!hasBegun && failure !== undefined) yield { type: 'start' };
  if (APIAbortError.is(failure?.error)) yield { type: 'abort' };
  else if (failure !== undefined) yield { type: 'error', errorText: onError(failure.error) };
  if (turn === undefined) return;
  const { text: _, ...metadata } = shownTurn(turn, showResults);
  yield { type: 'finish', messageMetadata: metadata };
}

/** The parts of a message: its texts, of which each ends before a call, and its calls. What follows results is another step. */
class MessageParts {
  #texts = 0;
  #isInText = false;
  #isNextStep = false;

  constructor(private readonly showResults: boolean) {}

  *chunksOf(part: ReplyPart): Generator<UIMessageChunk> {
    const text = part.type === 'text' ? part.text : undefined;
    const delta = this.#isNextStep ? text?.trimStart() : text; // without the line between two steps
    if (delta === '') return;
    if (delta === undefined) yield* this.end();
    if (part.type !== 'result' && this.#isNextStep) {
      this.#isNextStep = false;
      yield { type: 'finish-step' };
      yield { type: 'start-step' };
    }
    const id = String(this.#texts);
    if (delta !== undefined) {
      if (!this.#isInText) yield { type: 'text-start', id };
      this.#isInText = true;
      yield { type: 'text-delta', id, delta };
    }
    if (part.type === 'call') yield inputOf(part.call, this.showResults);
    if (part.type !== 'result') return;
    const output = this.showResults ? parsed(part.result) : null;
    yield { type: 'tool-output-available', toolCallId: part.call.id, output, dynamic: true };
    this.#isNextStep = true;
  }

  /** Ends a text that has begun. With the arguments of the calls that wait for the app. */
  *end(waiting: readonly ToolCall[] = []): Generator<UIMessageChunk> {
    if (this.#isInText) yield { type: 'text-end', id: String(this.#texts) };
    this.#texts += 1;
    this.#isInText = false;
    for (const call of waiting) yield inputOf(call, true);
  }
}

function inputOf({ id, function: called }: ToolCall, isShown: boolean): UIMessageChunk {
  const input = isShown ? parsed(called.arguments || '{}') : {};
  return { type: 'tool-input-available', toolCallId: id, toolName: called.name, input, dynamic: true };
}

/** Arguments and results are mostly JSON. */
function parsed(text: string): unknown {
  const value = tryJson(text);
  return value === undefined ? text : value;
}
