import type { Excerpt as Found } from '../../src/text/excerpt.js';

/** A place where the emulator found something. */
export type Match = Found & { in?: string };

/** What surrounds a match, with the match marked. */
export function Excerpt({ match: { text, at, length }, where }: { match: Match; where: string }) {
  return (
    <small class="excerpt">
      <span class="soft">{where}</span> {text.slice(0, at)}
      <mark>{text.slice(at, at + length)}</mark>
      {text.slice(at + length)}
    </small>
  );
}
