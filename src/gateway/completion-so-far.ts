import type { CompletionUsage, PartialChatCompletion } from '../base/completion.js';
import type { CompletionFacts } from '../transport/events.js';
import { ownField } from '../transport/validation.js';
import type { ChatCompletionChunk, StreamedChatCompletion } from './schemas.js';
import { joined } from './undocumented-fields.js';

/** Pieces are joined in batches of this size, because a million tiny strings take more memory than their text. */
const BATCH = 512;

interface Choice {
  role: string;
  text: string;
  /** The pieces after `text`. */
  pieces: string[];
  /** Fields that the API does not document, such as `tool_calls`. */
  others: object;
  finishReason: string | null;
}

/** Assembles the chunks of a stream. The text is stored once. */
export class CompletionSoFar {
  readonly #choices = new Map<number, Choice>();
  #id: string | undefined;
  #model: string | undefined;
  #created: number | undefined;
  #usage: CompletionUsage | undefined;

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
      if (delta.content) addPiece(choice, delta.content);
      for (const name in delta) if (name !== 'role' && name !== 'content') addOther(choice, name, delta);
      if (finish_reason) choice.finishReason = finish_reason;
    }
  }

  /** Whether there is a choice, and every choice has its `finish_reason`. */
  get finished(): boolean {
    if (this.#choices.size === 0) return false;
    for (const { finishReason } of this.#choices.values()) if (finishReason === null) return false;
    return true;
  }

  /** The completion so far. */
  partial(): PartialChatCompletion {
    const sorted = [...this.#choices].sort(([a], [b]) => a - b);
    const choices = sorted.map(([index, choice]) => ({
      index,
      message: { ...choice.others, role: choice.role, content: textOf(choice) },
      finish_reason: choice.finishReason,
    }));
    return { id: this.#id, model: this.#model, created: this.#created, choices, usage: this.#usage };
  }

  /** The facts for the `done` event. */
  facts(): CompletionFacts {
    const { model, choices, usage } = this.partial();
    const text = choices.map(({ message }) => message.content).join('');
    const finishReasons = choices.flatMap(({ finish_reason }) => finish_reason ?? []);
    return { model, finishReasons, usage, written: new TextEncoder().encode(text).length };
  }

  /**
   * The whole completion. Called only when the stream is complete; a service that ends with `[DONE]` may omit a finish
   * reason.
   */
  whole(): StreamedChatCompletion {
    const { id = '', created = 0, model = '', choices, usage } = this.partial();
    return {
      id,
      object: 'chat.completion',
      created,
      model,
      choices: choices.map((choice) => ({ ...choice, finish_reason: choice.finish_reason ?? 'stop' })),
      ...(usage && { usage }),
    };
  }

  #choice(index: number): Choice {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = { role: 'assistant', text: '', pieces: [], others: {}, finishReason: null };
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

function addPiece(choice: Choice, piece: string): void {
  choice.pieces.push(piece);
  if (choice.pieces.length === BATCH) textOf(choice);
}

function addOther(choice: Choice, name: string, delta: object): void {
  const value = ownField(delta, name);
  if (value !== undefined) choice.others = joined(choice.others, { [name]: value }) as object; // both are objects
}

function textOf(choice: Choice): string {
  if (choice.pieces.length > 0) choice.text += choice.pieces.join('');
  choice.pieces = [];
  return choice.text;
}
