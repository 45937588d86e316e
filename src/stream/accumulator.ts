import type { CompletionUsage, PartialChatCompletion } from '../base/completion.js';
import { tryJson } from '../base/json.js';
import { isObject, ownField } from '../base/objects.js';
import type { CompletionFacts } from '../events/events.js';
import { completionFacts } from '../events/reporter.js';
import type { ChatCompletion, ChatCompletionChunk } from '../wire/completions.js';
import { objectsIn, tidyCompletion } from '../wire/tidy.js';
import { continued, joined, TextPieces } from './pieces.js';

class Choice {
  role = 'assistant';
  readonly text = new TextPieces();
  readonly tools = new ToolCalls();
  /** Fields that the API does not document. */
  readonly others = new Map<string, unknown>();
  finishReason: string | null = null;
}

/** Collects the pieces of a streamed completion, and joins them only on request. */
export class CompletionAccumulator {
  readonly #choices = new Map<number, Choice>();
  /** How many have no `finish_reason` yet. */
  #unfinished = 0;
  /** Whether a chunk had a text or calls and no `finish_reason`: then the service does not mark every chunk with one. */
  #hasUnmarked = false;
  /** Whether a choice went on after its `finish_reason`, which then says nothing of its end. */
  #wentOn = false;
  #id: string | undefined;
  #model: string | undefined;
  #created: number | undefined;
  #usage: CompletionUsage | undefined;

  /** `wanted`: how many choices were asked for. */
  constructor(private readonly wanted = 1) {}

  /** Adds a chunk. Its tool calls get the form that `ToolCalls` describes, also for the reader of the stream. */
  add(chunk: ChatCompletionChunk): void {
    this.#id ??= chunk.id;
    this.#model ??= chunk.model;
    this.#created ??= chunk.created;
    if (chunk.usage) this.#usage = chunk.usage;
    if (!Array.isArray(chunk.choices)) return;
    for (const one of chunk.choices) {
      if (!isReadable(one)) continue;
      const { index, delta, finish_reason } = one;
      const choice = this.#choice(index);
      if (delta.role) choice.role = delta.role;
      if (delta.content) choice.text.add(delta.content);
      for (const name in delta) if (name !== 'role' && name !== 'content') addOther(choice, name, delta);
      const isPiece = Boolean(delta.content || delta.tool_calls);
      if (choice.finishReason !== null) this.#wentOn ||= isPiece;
      else if (finish_reason) this.#unfinished -= 1;
      else this.#hasUnmarked ||= isPiece;
      if (finish_reason) choice.finishReason = finish_reason;
    }
  }

  /** Whether every choice that was asked for has begun, and has its `finish_reason`: complete, if the body ends here. */
  get finished(): boolean {
    return this.#choices.size >= Math.max(1, this.wanted) && this.#unfinished === 0;
  }

  /** Whether it is complete however the stream ends. */
  get isWhole(): boolean {
    return this.finished && !this.#wentOn;
  }

  /** Whether nothing but usage and `[DONE]` can follow. */
  get isOver(): boolean {
    return this.isWhole && this.#hasUnmarked;
  }

  /** The completion so far. */
  partial(): PartialChatCompletion {
    const choices = this.#sorted().map(([index, { role, text, others, finishReason }]) => ({
      index,
      message: { ...(joined(Object.fromEntries(others)) as object), role, content: text.value },
      finish_reason: finishReason,
    }));
    return { id: this.#id, model: this.#model, created: this.#created, choices, usage: this.#usage };
  }

  /** The facts for the `done` event. */
  facts(): CompletionFacts {
    const partial = this.partial();
    const text = partial.choices.map(({ message }) => message.content).join('');
    return { ...completionFacts(partial), written: new TextEncoder().encode(text).length };
  }

  /**
   * The whole completion. Called only when the stream is complete; a service that ends with `[DONE]` may omit a finish
   * reason.
   */
  completion(): ChatCompletion {
    const { usage, ...rest } = this.partial();
    const completion = { object: 'chat.completion', ...rest, ...(usage && { usage }) };
    tidyCompletion(completion);
    return completion as unknown as ChatCompletion; // what may be missing was added
  }

  #sorted(): [number, Choice][] {
    return [...this.#choices].sort(([a], [b]) => a - b);
  }

  #choice(index: number): Choice {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = new Choice();
      this.#unfinished += 1;
      this.#choices.set(index, choice);
    }
    return choice;
  }
}

/** The text a chunk adds to its first choice. */
export function firstText({ choices }: ChatCompletionChunk): string {
  if (!Array.isArray(choices)) return '';
  return choices.find((choice) => isReadable(choice) && choice.index === 0)?.delta.content ?? '';
}

/** With `validation: 'report'`, a chunk can be anything. */
function isReadable(choice: ChatCompletionChunk['choices'][number] | null): boolean {
  const content: unknown = choice?.delta?.content ?? '';
  return Number.isSafeInteger(choice?.index) && choice?.delta instanceof Object && typeof content === 'string';
}

function addOther({ others, tools }: Choice, name: string, delta: object): void {
  const value = ownField(delta, name);
  if (name === 'tool_calls') tools.tidy(value);
  if (value !== undefined) others.set(name, continued(others.get(name), value));
}

/** A tool call whose pieces may still arrive. */
class OpenToolCall {
  id: unknown;
  name = '';
  hasArguments = false;

  /** `index` is its position, `sentIndex` the index that the service sends with it. */
  constructor(
    readonly index: number,
    readonly sentIndex: unknown,
  ) {}
}

/**
 * The tool calls of one choice. Services mark the pieces of a call in different ways: some repeat its name in each
 * piece, omit its index or use it for every call, or send an empty or another id with later pieces.
 */
class ToolCalls {
  /** The last mentioned call of each index that the service sends. */
  readonly #last = new Map<unknown, OpenToolCall>();
  readonly #byId = new Map<unknown, OpenToolCall>();
  #count = 0;

  /** Changes pieces to the form that OpenAI documents: an index and one id for each call, and its name only once. */
  tidy(pieces: unknown): void {
    const mentioned = new Map<OpenToolCall, string>();
    const list = objectsIn(pieces);
    for (const [at, piece] of list.entries()) {
      // Without indexes, the place in a list of several stands for one.
      const isNew = Boolean((isObject(piece.function) && piece.function.name) || this.#last.has(at));
      const isPlaced = list.length > 1 && isNew && !(piece.id && this.#byId.has(piece.id));
      this.#tidy(piece, piece.index ?? (isPlaced ? at : undefined), mentioned);
    }
  }

  /** `mentioned` has the calls of earlier pieces of the same list, and their arguments in it. */
  #tidy(piece: Record<string, unknown>, sent: unknown, mentioned: Map<OpenToolCall, string>): void {
    const { index, id } = piece;
    const part = isObject(piece.function) ? piece.function : {};
    let call = this.#find(sent, id, part.name);
    // Two entries with a name and whole arguments are two calls.
    const before = call && mentioned.get(call);
    const isOther = part.name && before !== undefined && tryJson(before) !== undefined && !(id && id === call?.id);
    if (call === undefined || isOther) call = new OpenToolCall(this.#count++, sent);
    mentioned.set(call, `${mentioned.get(call) ?? ''}${part.arguments ?? ''}`);
    this.#last.set(sent, call).set(undefined, call);
    call.id ||= id;
    if (call.id) this.#byId.set(call.id, call);
    if (index !== call.index) piece.index = call.index;
    if (id !== call.id) piece.id = undefined;
    if (part.name === call.name) part.name = undefined;
    else call.name += part.name ?? '';
    call.hasArguments ||= Boolean(part.arguments);
  }

  /** The call that a piece continues. */
  #find(index: unknown, id: unknown, name: unknown): OpenToolCall | undefined {
    const known = id ? this.#byId.get(id) : undefined;
    if (known !== undefined && (index === undefined || index === known.sentIndex)) return known;
    const last = this.#last.get(index);
    // Without ids, another name after the arguments have begun is that of another call.
    if (!id && !last?.id && name && last?.hasArguments && name !== last.name) return undefined;
    // Another id alone starts no call: some services send a new one with each piece.
    return id && last?.id && id !== last.id && name ? undefined : last;
  }
}
