import type { MadeReply } from '../conversation/index.js';

/** As much of a result, or of a part of a stream, as is read here. Every version of the AI SDK writes it in one of these forms. */
interface Piece {
  readonly type?: string;
  readonly text?: string;
  readonly delta?: string;
  readonly content?: readonly Piece[];
  readonly finishReason?: string | { readonly unified?: string };
  readonly usage?: { readonly inputTokens?: Count; readonly outputTokens?: Count };
}

type Count = number | undefined | { readonly total?: number | undefined };

/** Puts together what a model of the AI SDK replied, of any version and any provider. */
export class ReplySoFar {
  #text = '';
  #finishReason: string | undefined;
  #usage: Piece['usage'];

  /** A whole result of `doGenerate`. */
  addWhole(result: object): void {
    const { content = [], ...end }: Piece = result;
    for (const { type, text } of content) if (type === 'text') this.#text += text ?? '';
    this.#finish(end);
  }

  /** A part of a stream of `doStream`. */
  add(part: object): void {
    const { type, delta, ...end }: Piece = part;
    if (type === 'text-delta') this.#text += delta ?? '';
    if (type === 'finish') this.#finish(end);
  }

  /** Not without text; and with tools, a turn is over when a reply calls none. */
  get isWorthKeeping(): boolean {
    return this.#text !== '' && this.#finishReason !== 'tool-calls';
  }

  made(): MadeReply {
    const prompt_tokens = countOf(this.#usage?.inputTokens);
    const completion_tokens = countOf(this.#usage?.outputTokens);
    return {
      text: this.#text,
      usage: {
        ...(prompt_tokens !== undefined && { prompt_tokens }),
        ...(completion_tokens !== undefined && { completion_tokens }),
      },
      stopped: this.#finishReason === undefined || this.#finishReason === 'error',
    };
  }

  #finish({ finishReason, usage }: Piece): void {
    this.#finishReason = typeof finishReason === 'object' ? finishReason.unified : finishReason;
    this.#usage = usage;
  }
}

function countOf(count: Count): number | undefined {
  return typeof count === 'object' ? count.total : count;
}
