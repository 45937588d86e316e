import * as z from 'zod/mini';
import { exact, id } from '../base/fields.js';
import type { Collection, Storage } from './storage.js';

/**
 * Generates ids and keys from one seed. Each prefix has its own sequence, so that new ids of one kind do not shift
 * another.
 */
export class IdSource {
  /** The position of each sequence, so that a reopened emulator continues where it stopped. */
  readonly #saved: Collection<SavedSequence>;
  readonly #sequences = new Map<string, Sequence>();
  /** Sequences whose positions are not stored. */
  readonly #transient = new Map<string, Sequence>();
  /**
   * Differs on every start, so that a reopened emulator does not repeat unsaved ids. Empty after the initial state is
   * set up.
   */
  #run: string = crypto.randomUUID();

  constructor(
    storage: Storage,
    private readonly seed: () => string,
  ) {
    this.#saved = storage.collection('sequences');
  }

  /** A new id such as `msg_k3v9...`. */
  next(prefix: string): string {
    return `${prefix}_${this.token(prefix, 16)}`;
  }

  /** The next `length` characters of this label's sequence: lower-case letters and digits. */
  token(label: string, length: number): string {
    const sequence = this.#sequence(label);
    const text = characters(sequence, length);
    this.#saved.set(label, { label, words: sequence.words() });
    return text;
  }

  /** Many new ids with one write: `save` stores the position of their sequence, before any of them is used. */
  series(prefix: string): { next(): string; save(): void } {
    const sequence = this.#sequence(prefix);
    return {
      next: () => `${prefix}_${characters(sequence, 16)}`,
      save: () => this.#saved.set(prefix, { label: prefix, words: sequence.words() }),
    };
  }

  /** A new id without a write: the position of its sequence is not stored. */
  transient(prefix: string): string {
    return `${prefix}_${characters(this.#transientSequence(prefix), 16)}`;
  }

  /** The next number in [0, 1) of this label's sequence, whose position is not stored. */
  fraction(label: string): number {
    return this.#transientSequence(label).next();
  }

  /** The result of the first call of `token` for this label, without advancing the sequence. */
  firstToken(label: string, length: number): string {
    return characters(new Sequence(hashWords(this.#source(label))), length);
  }

  /** Continues from the stored positions. */
  reload(): void {
    this.#sequences.clear();
  }

  /** Restarts the sequences whose positions are not stored. */
  restart(): void {
    this.#transient.clear();
    this.#run = '';
  }

  #transientSequence(label: string): Sequence {
    let sequence = this.#transient.get(label);
    if (sequence === undefined) {
      sequence = new Sequence(hashWords(`${this.#source(label)}${this.#run}`));
      this.#transient.set(label, sequence);
    }
    return sequence;
  }

  #sequence(label: string): Sequence {
    let sequence = this.#sequences.get(label);
    if (sequence === undefined) {
      sequence = new Sequence(this.#saved.get(label)?.words ?? hashWords(this.#source(label)));
      this.#sequences.set(label, sequence);
    }
    return sequence;
  }

  #source(label: string): string {
    return `${this.seed()}\u0000${label}`;
  }
}

const words = z.tuple([z.int(), z.int(), z.int(), z.int()]);
type Words = [number, number, number, number];

/** The stored position of one sequence. */
export interface SavedSequence {
  label: string;
  words: Words;
}

export const savedSequence = exact<SavedSequence>()(z.object({ label: id, words }));

function characters(sequence: Sequence, length: number): string {
  let text = '';
  for (let i = 0; i < length; i += 1) text += ALPHABET[Math.floor(sequence.next() * ALPHABET.length)];
  return text;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Four 32-bit words that depend on every character of the text. */
function hashWords(text: string): Words {
  let a = 1779033703;
  let b = 3144134277;
  let c = 1013904242;
  let d = 2773480762;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ code, 597399067);
    b = c ^ Math.imul(b ^ code, 2869860233);
    c = d ^ Math.imul(c ^ code, 951274213);
    d = a ^ Math.imul(d ^ code, 2716044179);
  }
  a = Math.imul(c ^ (a >>> 18), 597399067);
  b = Math.imul(d ^ (b >>> 22), 2869860233);
  c = Math.imul(a ^ (c >>> 17), 951274213);
  d = Math.imul(b ^ (d >>> 19), 2716044179);
  return [(a ^ b ^ c ^ d) >>> 0, (b ^ a) >>> 0, (c ^ a) >>> 0, (d ^ a) >>> 0];
}

/** A short stable hash of a text. */
export function hashText(text: string): string {
  const [a, b] = hashWords(text);
  return a.toString(36).padStart(7, '0') + b.toString(36).padStart(7, '0');
}

/** The generator sfc32 ("small fast counter"), seeded with four words. */
class Sequence {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor([a, b, c, d]: Words) {
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }

  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 4294967296;
  }

  words(): Words {
    // `c` may exceed 32 bits, but only its lower 32 bits are ever used.
    return [this.#a | 0, this.#b | 0, this.#c | 0, this.#d | 0];
  }
}
