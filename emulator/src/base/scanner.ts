import { BACKSLASH, Characters } from './characters.js';
import { Hidden } from './hidden.js';
import { BEGINNINGS, type Candidate, isLetter, isWordCharacter, withNext, withRestOfWord } from './keys.js';
import { plain, type Secrets } from './secrets.js';

/**
 * Finds keys and secrets in a text that comes in pieces. It reads each character once. What follows the beginning of a key is
 * unknown until it is long enough, or ends.
 */
export class Scanner {
  readonly hidden = new Hidden();
  readonly #characters: Characters;
  /** What may be a key, and has not ended. */
  #candidates: readonly Candidate[] = [];
  /** What fits of the beginnings of keys. */
  #beginning = 0;
  /** A bit for each of the last characters: whether a key cannot begin after it. */
  #words = 0;
  /** Whether a terminal would take the last characters for a colour, which ends with a letter. */
  #isControl = false;
  /** What fits of the secrets. */
  #secret = 0;
  /** Where the last characters begin, each at its number modulo the length of the longest secret. */
  readonly #starts: number[] = [];
  #count = 0;

  constructor(private readonly secrets?: Secrets | undefined) {
    this.#characters = new Characters((code, letter, from, to, level) => {
      if (code === BACKSLASH) {
        this.#words &= ~1;
        return;
      }
      if (this.#candidates.length > 0) this.#continue(code, from, to, level);
      this.#begin(code, letter, to, level);
      if (secrets !== undefined) this.#compare(secrets, code, plain(letter), { from, to });
    });
  }

  get length(): number {
    return this.#characters.length;
  }

  /** How much of the text is known. Later pieces hide nothing before this place. */
  get known(): number {
    const known = Math.min(this.#characters.read, this.#startOfSecret(), ...this.#candidates.map(({ from }) => from));
    this.hidden.shown = Math.max(this.hidden.shown, known);
    return this.hidden.shown;
  }

  push(piece: string): void {
    this.#characters.push(piece);
  }

  /** Ends the text. At the end of a cut one, what may be the beginning of a key is hidden. */
  end(isCut: boolean): void {
    if (isCut) this.cut();
    else this.#characters.finish();
    this.hidden.shown = this.length;
  }

  /** Hides what may be the beginning of a key. */
  cut(): void {
    const { length } = this;
    for (const one of this.#candidates) {
      if (one.from === Number.POSITIVE_INFINITY) continue;
      this.hidden.add(one.from, length);
      one.from = length;
      one.isSecret = true;
    }
    this.hidden.add(this.#startOfSecret(SHORTEST_BEGINNING), length);
    this.hidden.shown = length;
  }

  /** Says that a part of the text is missing here. It may have been the beginning of a key, so the rest of the word is hidden. */
  skip(): void {
    this.cut();
    this.#candidates = withRestOfWord(this.#candidates);
  }

  /** Passes a character on to what may be a key. */
  #continue(code: number, from: number, to: number, level: number): void {
    this.#candidates = this.#candidates.filter((one) => {
      const isOpen = one.read(code, from, to, level);
      if (one.to > one.from) {
        this.hidden.add(one.from, one.to);
        one.from = one.to;
      }
      return isOpen;
    });
  }

  /** Looks whether a key begins after a character. */
  #begin(code: number, letter: number, to: number, level: number): void {
    if (code === TERMINAL) this.#isControl = true;
    const isEnd = this.#isControl && isLetter(code);
    if (isEnd) this.#isControl = false;
    this.#words = (this.#words << 1) | (level === 0 && !isEnd && isWordCharacter(code) ? 1 : 0);
    this.#beginning = BEGINNINGS.next(this.#beginning, letter);
    const beginning = BEGINNINGS.found[this.#beginning];
    if (beginning === undefined) return;
    const isInWord = ((this.#words >> beginning.length) & 1) === 1;
    if (beginning.kind.isAnywhere || !isInWord) this.#candidates = withNext(this.#candidates, beginning, to, level);
  }

  /** Looks whether a character continues a secret. */
  #compare(secrets: Secrets, code: number, letter: number, { from, to }: { from: number; to: number }): void {
    // A message of an error was cut here.
    if (code === ELLIPSIS) this.hidden.add(this.#startOfSecret(SHORTEST_BEGINNING), from);
    this.#starts[this.#count % secrets.longest] = from;
    this.#count += 1;
    this.#secret = secrets.next(this.#secret, letter);
    const length = secrets.found[this.#secret];
    if (length !== undefined) this.hidden.add(this.#startOf(secrets, length), to);
  }

  /** Where the beginning of a secret stands at the end of the text, if it is long enough. */
  #startOfSecret(shortest = 1): number {
    const length = this.secrets?.depth[this.#secret] ?? 0;
    return this.secrets === undefined || length < shortest
      ? Number.POSITIVE_INFINITY
      : this.#startOf(this.secrets, length);
  }

  #startOf({ longest }: Secrets, length: number): number {
    return this.#starts[(this.#count - length) % longest] ?? Number.POSITIVE_INFINITY;
  }
}

/** What of a secret is hidden where a text is cut. */
const SHORTEST_BEGINNING = 4;
const TERMINAL = 0x1b;
const ELLIPSIS = 0x2026;
