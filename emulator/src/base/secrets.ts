import { BACKSLASH, Characters } from './characters.js';
import { Matcher } from './matcher.js';

/** Secrets that are known by their text, such as those that a request was sent with. */
export type Secrets = Matcher<number>;

/** Secrets to be found in a text, however their characters are written there. Short ones would be found in other words. */
export function secretsFrom(texts: Iterable<string>): Secrets | undefined {
  const secrets = [...texts].flatMap(spellings).filter((codes) => codes.length >= SHORTEST_SECRET);
  if (secrets.length === 0) return undefined;
  return new Matcher(
    secrets.map((codes) => {
      // Most of it suffices: the text may be cut.
      const most = Math.max(SHORTEST_PART, Math.ceil(codes.length * 0.75));
      return { codes, found: (length) => (length >= most ? length : undefined) };
    }),
  );
}

/** A header has bytes, and a text characters. */
function spellings(text: string): number[][] {
  const all = [text, Buffer.from(text, 'latin1').toString(), Buffer.from(text).toString('latin1')];
  return [...new Set(all)].map((one) => {
    const letters: number[] = [];
    const characters = new Characters((_, letter) => letter !== BACKSLASH && letters.push(plain(letter)));
    characters.push(one);
    characters.finish();
    return letters;
  });
}

/** In forms, + stands for a space. */
export function plain(letter: number): number {
  return letter === 0x2b ? 0x20 : letter;
}

const SHORTEST_SECRET = 8;
const SHORTEST_PART = 6;
