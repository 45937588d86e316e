import { tryJson } from '../base/json.js';

/** The used part of a chunk. */
interface Chunk {
  readonly choices: { delta: { content?: string | null | undefined } }[];
}

/** Learning takes as long as this many recognised events save. */
const COST = 16;
/** Has no escapes, and is so short that a slice is a copy; a longer slice would keep the whole text in memory. */
const PLAIN = /^[^"\\\u0000-\u001f]{0,12}$/;
/** Replaces the content, to check that nothing else in the event depends on it. */
const PROBE = 'context-gateway probe';

/**
 * Most events of a stream differ from an earlier one only in their content. Such an event is recognised by its text:
 * the same characters before and after the content. Only the content is parsed, and nothing is validated, because the
 * earlier event was. An event of 267 bytes takes 0.6 µs instead of 1.4 on Node 20, and 0.5 instead of 1.3 on Node 24.
 */
export class RepeatedChunk<C extends Chunk> {
  #chunk: C | undefined;
  #before = '';
  #after = '';
  /** The time saved by recognising, less the time spent on learning. If events do not repeat, learning stops. */
  #saved = 4 * COST;

  /** Returns the chunk of an event that repeats the learnt one, or `undefined`. */
  recognise(data: string): C | undefined {
    const from = this.#before.length;
    const to = data.length - this.#after.length;
    // Slices and compares, because `startsWith` and `endsWith` take twice as long.
    if (
      this.#chunk === undefined ||
      to < from ||
      data.slice(0, from) !== this.#before ||
      data.slice(to) !== this.#after
    )
      return undefined;
    const inside = data.slice(from, to);
    const content = PLAIN.test(inside) ? inside : tryJson(`"${inside}"`);
    if (typeof content !== 'string') return undefined; // not exactly one string
    this.#saved += 1;
    return withContent(this.#chunk, content);
  }

  /**
   * Learns an event that was fully parsed and validated, if the place of its content is certain and nothing else
   * depends on it.
   */
  learn(data: string, chunk: C): void {
    this.#chunk = undefined; // this event did not repeat it, so later ones are not compared with it either
    const content = chunk.choices[0]?.delta.content;
    if (this.#saved < COST || !content) return;
    this.#saved -= COST;
    const written = JSON.stringify(content);
    const at = data.indexOf(written);
    if (at === -1 || at !== data.lastIndexOf(written)) return;
    const before = data.slice(0, at + 1);
    const after = data.slice(at + written.length - 1);
    const probed = before + PROBE + after;
    // With one choice and no other nested values, a copy shares nothing that its reader could change.
    if (probed.match(/[[{]/g)?.length !== 4) return;
    if (JSON.stringify(tryJson(probed)) !== JSON.stringify(withContent(chunk, PROBE))) return;
    this.#chunk = withContent(chunk, ''); // a copy, because the reader may change its chunk
    this.#before = before;
    this.#after = after;
  }
}

/** One for each stream. On Node, where a server reads many: a page decodes all chunks in one way. */
export function repeatedChunk<C extends Chunk>(): RepeatedChunk<C> | undefined {
  return new RepeatedChunk();
}

function withContent<C extends Chunk>(chunk: C, content: string): C {
  const choice = chunk.choices[0] as Chunk['choices'][number]; // there is exactly one
  return { ...chunk, choices: [{ ...choice, delta: { ...choice.delta, content } }] };
}
