/** Ids and keys from one seed. Each prefix has its own sequence, so that one more read does not change the next file's id. */
export class IdSource {
  readonly #seed: string;
  readonly #sequences = new Map<string, () => number>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** A new id such as `msg_k3v9...`. */
  next(prefix: string): string {
    return `${prefix}_${this.token(prefix, 16)}`;
  }

  /** So many characters of lower-case letters and digits, the next ones of this label's sequence. */
  token(label: string, length: number): string {
    const random = this.#sequence(label);
    let text = '';
    for (let i = 0; i < length; i += 1) text += ALPHABET[Math.floor(random() * ALPHABET.length)];
    return text;
  }

  /** A number in [0, 1), the next one of this label's sequence. */
  fraction(label: string): number {
    return this.#sequence(label)();
  }

  /** Start every sequence again. */
  reset(): void {
    this.#sequences.clear();
  }

  #sequence(label: string): () => number {
    let random = this.#sequences.get(label);
    if (random === undefined) {
      random = randomSequence(`${this.#seed}\u0000${label}`);
      this.#sequences.set(label, random);
    }
    return random;
  }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Four 32-bit words that depend on every character of the text. */
export function hashWords(text: string): [number, number, number, number] {
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

/** The small fast counter generator (sfc32) on the hash of the seed. */
function randomSequence(seed: string): () => number {
  let [a, b, c, d] = hashWords(seed);
  return () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 4294967296;
  };
}
