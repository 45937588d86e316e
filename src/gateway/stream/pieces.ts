import { isObject } from '../../base/objects.js';
import { toWellFormed } from '../../base/unicode.js';

/** Repeated in every chunk, not continued. */
const REPEATED: readonly string[] = ['id', 'type', 'index'];

/** Pieces are joined in batches of this size, because a million tiny strings take more memory than their text. */
const BATCH = 512;

/** The pieces of one value. Adding one takes only as long as the piece is large; `value` joins them. */
interface Pieces {
  add(piece: unknown): void;
  readonly value: unknown;
}

/** The pieces of a text. Half a character that stays alone becomes U+FFFD, so that the text can be sent again. */
export class TextPieces implements Pieces {
  #text = '';
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length === BATCH) this.#join();
  }

  get value(): string {
    this.#join();
    return toWellFormed(this.#text);
  }

  #join(): void {
    this.#text += this.#pieces.join('');
    this.#pieces = [];
  }
}

/**
 * The pieces of fields that the API does not document, such as `tool_calls`: texts are joined, objects field by field,
 * and entries of lists that have the same `index`. Of anything else, the later value counts.
 */
export class FieldPieces implements Pieces {
  readonly #fields = new Map<string, ValuePieces>();

  add(piece: object): void {
    for (const [name, value] of Object.entries(piece)) this.addField(name, value);
  }

  addField(name: string, value: unknown): void {
    const field = this.#fields.get(name);
    if (field === undefined || (REPEATED.includes(name) && !isNothing(value))) {
      this.#fields.set(name, new ValuePieces(value));
    } else field.add(value);
  }

  get value(): object {
    // Unlike assignment, safe for a field `__proto__`.
    return Object.fromEntries(Array.from(this.#fields, ([name, field]) => [name, field.value]));
  }
}

class ListPieces implements Pieces {
  readonly #entries: unknown[] = [];
  readonly #byIndex = new Map<unknown, ValuePieces>();

  add(piece: readonly unknown[]): void {
    for (const entry of piece) this.#addEntry(entry);
  }

  get value(): unknown[] {
    return this.#entries.map((entry) => (entry instanceof ValuePieces ? entry.value : entry));
  }

  #addEntry(entry: unknown): void {
    const index = isObject(entry) ? entry.index : undefined;
    const known = this.#byIndex.get(index);
    if (known !== undefined) known.add(entry);
    else if (isNothing(index)) this.#entries.push(entry);
    else {
      const added = new ValuePieces(entry);
      this.#byIndex.set(index, added);
      this.#entries.push(added);
    }
  }
}

class ValuePieces implements Pieces {
  /** The only piece, or one that does not continue those before it. */
  #last: unknown;
  #pieces: Pieces | undefined;

  constructor(first: unknown) {
    this.#last = first;
  }

  add(piece: unknown): void {
    if (isNothing(piece)) return;
    const Kind = kindOf(piece);
    if (Kind === undefined || Kind !== kindOf(this.#last)) {
      this.#last = piece;
      this.#pieces = undefined;
      return;
    }
    if (this.#pieces === undefined) {
      this.#pieces = new Kind();
      this.#pieces.add(this.#last);
    }
    this.#pieces.add(piece);
  }

  get value(): unknown {
    return this.#pieces === undefined ? this.#last : this.#pieces.value;
  }
}

function kindOf(value: unknown): (new () => Pieces) | undefined {
  if (typeof value === 'string') return TextPieces;
  if (Array.isArray(value)) return ListPieces;
  return isObject(value) ? FieldPieces : undefined;
}

function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
