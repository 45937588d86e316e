import { isObject } from '../../base/objects.js';

interface Call {
  readonly index: number;
  id: unknown;
  name: string;
}

/**
 * The tool calls of one choice. Services mark the pieces of a call in different ways: some repeat its name in each
 * piece, omit its index or use it for every call, or send an empty or another id with later pieces.
 */
export class ToolCalls {
  /** The newest call of each index that the service sends. */
  readonly #calls = new Map<unknown, Call>();
  #count = 0;

  /** Changes pieces to the form that OpenAI documents: an index and one id for each call, and its name only once. */
  tidy(pieces: unknown): void {
    if (Array.isArray(pieces)) for (const piece of pieces) if (isObject(piece)) this.#tidy(piece);
  }

  #tidy(piece: Record<string, unknown>): void {
    const { index, id } = piece;
    const part = isObject(piece.function) ? piece.function : {};
    let call = this.#calls.get(index);
    // Another id alone starts no call: some services send a new one with each piece.
    if (call === undefined || (id && call.id && id !== call.id && part.name)) {
      call = { index: this.#count++, id: undefined, name: '' };
      this.#calls.set(index, call);
    }
    call.id ||= id;
    if (index !== call.index) piece.index = call.index;
    if (id !== call.id) piece.id = undefined;
    if (part.name === call.name) part.name = undefined;
    else call.name += part.name ?? '';
  }
}
