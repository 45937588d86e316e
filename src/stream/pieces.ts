import { isObject } from '../base/objects.js';
import { toWellFormed } from '../base/unicode.js';

/** Repeated in every chunk, not continued. */
const REPEATED: readonly string[] = ['id', 'type', 'index'];

/** Pieces are joined in batches of this size, because a million tiny strings take more memory than their text. */
const BATCH = 512;

/** The pieces of a text. Half a character that stays alone becomes U+FFFD, so that the text can be sent again. */
export class TextPieces {
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
 * Continues a field that the API does not document, such as `tool_calls`. Joins texts, fields of objects, and entries of
 * lists that have the same `index`. Otherwise, the later value replaces the earlier one. The pieces are not changed,
 * because the reader has them. `joined` returns the whole value.
 */
export function continued(value: unknown, piece: unknown): unknown {
  if (piece === null || piece === undefined) return value === undefined ? piece : value;
  if (Array.isArray(piece)) return addEntries(entriesOf(value), piece);
  if (typeof value === 'string' && typeof piece === 'string') return value + piece;
  if (!isObject(value) || !isObject(piece) || value instanceof Entries) return piece;
  return addFields(value instanceof Fields ? value : new Fields(Object.entries(value)), piece);
}

/** The whole value. */
export function joined(value: unknown): unknown {
  if (value instanceof Entries) return [...value.values()].map(joined);
  if (typeof value === 'string') return toWellFormed(value);
  if (!isObject(value)) return value;
  const fields = value instanceof Fields ? [...value] : Object.entries(value);
  // Unlike assignment, safe for a field `__proto__`.
  return Object.fromEntries(fields.map(([name, field]) => [name, joined(field)]));
}

/** The entries of a list, by their index if they have one. */
class Entries extends Map<unknown, unknown> {}
/** The fields of an object. Copying them for each piece would take quadratic time. */
class Fields extends Map<string, unknown> {}

function entriesOf(value: unknown): Entries {
  return value instanceof Entries ? value : addEntries(new Entries(), Array.isArray(value) ? value : []);
}

function addEntries(entries: Entries, piece: readonly unknown[]): Entries {
  for (const entry of piece) {
    const index = (isObject(entry) ? entry.index : undefined) ?? Symbol('no index');
    entries.set(index, continued(entries.get(index), entry));
  }
  return entries;
}

function addFields(fields: Fields, piece: object): Fields {
  for (const [name, more] of Object.entries(piece)) {
    const known = fields.get(name);
    fields.set(name, REPEATED.includes(name) ? (more ?? known) : continued(known, more));
  }
  return fields;
}
