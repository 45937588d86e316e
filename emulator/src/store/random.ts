import type { Collection, Storage } from './storage.js';

/** Ids and keys from one seed. Each prefix has its own sequence, so that one more read does not change the next file's id. */
export class IdSource {
  /** How far each sequence has come, so that a reopened emulator goes on where it was. */
  readonly #saved: Collection<SavedSequence>;
  readonly #sequences = new Map<string, Sequence>();
  /** Of what is not kept. */
  readonly #passing = new Map<string, Sequence>();
  /** Tells one start from the next, so that a reopened emulator does not repeat the ids it gave before. Empty from the first state on. */
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

  /** So many characters of lower-case letters and digits, the next ones of this label's sequence. */
  token(label: string, length: number): string {
    const sequence = this.#sequence(label);
    const text = characters(sequence, length);
    this.#saved.set(label, { label, words: sequence.words() });
    return text;
  }

  /** A new id that is not worth a write: how far these have come is not kept. */
  passing(prefix: string): string {
    return `${prefix}_${characters(this.#passingSequence(prefix), 16)}`;
  }

  /** A number in [0, 1), the next one of this label's sequence; how far it has come is not kept. */
  fraction(label: string): number {
    return this.#passingSequence(label).next();
  }

  /** What `token` gives on its first call for this label, without counting as one. */
  firstToken(label: string, length: number): string {
    return characters(new Sequence(hashWords(this.#source(label))), length);
  }

  /** Go on from what the storage says. */
  reload(): void {
    this.#sequences.clear();
  }

  /** What is not kept begins again too. */
  restart(): void {
    this.#passing.clear();
    this.#run = '';
  }

  #passingSequence(label: string): Sequence {
    let sequence = this.#passing.get(label);
    if (sequence === undefined) {
      sequence = new Sequence(hashWords(`${this.#source(label)}${this.#run}`));
      this.#passing.set(label, sequence);
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

/** The position of one sequence, as it is stored. */
export interface SavedSequence {
  label: string;
  words: Words;
}

type Words = [number, number, number, number];

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

/** A short stable name for a text. */
export function hashText(text: string): string {
  const [a, b] = hashWords(text);
  return a.toString(36).padStart(7, '0') + b.toString(36).padStart(7, '0');
}

/** The small fast counter generator (sfc32), started from four words. */
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
    // `c` may have grown past 32 bits; its lower half is all that is ever used.
    return [this.#a | 0, this.#b | 0, this.#c | 0, this.#d | 0];
  }
}
