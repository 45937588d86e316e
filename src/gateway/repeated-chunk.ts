import { tryJson } from '../transport/json.js';
import type { ChatCompletionChunk } from './schemas.js';

/** Learning takes as long as so many recognised events save. */
const COST = 16;
/** Reads as it is written, and is short enough for a slice to be a copy: a longer one would keep the whole text it was cut from. */
const PLAIN = /^[^"\\\u0000-\u001f]{0,12}$/;
/** Stands where a content was, to see that nothing else in the event depends on it. */
const PROBE = 'context-gateway probe';

/**
 * Most events of a stream differ from an earlier one in their content and in nothing else. Such an event is recognised by its
 * text: the same characters before the content and after it. Of it the content alone is parsed, and nothing is checked, because
 * the event it repeats was. An event of 267 bytes takes 0.6 µs instead of 1.4 on Node 20, and 0.5 instead of 1.3 on Node 24.
 */
export class RepeatedChunk {
  #chunk: ChatCompletionChunk | undefined;
  #before = '';
  #after = '';
  /** What recognising has saved, less what learning took: where events do not repeat, learning ends. */
  #saved = 4 * COST;

  /** The chunk of an event that repeats the one that was learnt, or `undefined`. */
  recognise(data: string): ChatCompletionChunk | undefined {
    const from = this.#before.length;
    const to = data.length - this.#after.length;
    // Cut and compared: `startsWith` and `endsWith` take twice as long.
    if (
      this.#chunk === undefined ||
      to < from ||
      data.slice(0, from) !== this.#before ||
      data.slice(to) !== this.#after
    )
      return undefined;
    const inside = data.slice(from, to);
    const content = PLAIN.test(inside) ? inside : tryJson(`"${inside}"`);
    if (typeof content !== 'string') return undefined; // not the inside of exactly one string
    this.#saved += 1;
    return withContent(this.#chunk, content);
  }

  /** Learns an event that was read and checked the long way, if it is certain where its content stands and that nothing else depends on it. */
  learn(data: string, chunk: ChatCompletionChunk): void {
    this.#chunk = undefined; // not repeated by this event: those after it are not compared with it either
    const content = chunk.choices[0]?.delta.content;
    if (this.#saved < COST || !content) return;
    this.#saved -= COST;
    const written = JSON.stringify(content);
    const at = data.indexOf(written);
    if (at === -1 || at !== data.lastIndexOf(written)) return;
    const before = data.slice(0, at + 1);
    const after = data.slice(at + written.length - 1);
    const probed = before + PROBE + after;
    // Of one choice, and with nothing nested elsewhere, a copy shares nothing that its reader could change.
    if (probed.match(/[[{]/g)?.length !== 4) return;
    if (JSON.stringify(tryJson(probed)) !== JSON.stringify(withContent(chunk, PROBE))) return;
    this.#chunk = withContent(chunk, ''); // the reader may change its own
    this.#before = before;
    this.#after = after;
  }
}

function withContent(chunk: ChatCompletionChunk, content: string): ChatCompletionChunk {
  const choice = chunk.choices[0] as ChatCompletionChunk['choices'][number]; // there is exactly one
  return { ...chunk, choices: [{ ...choice, delta: { ...choice.delta, content } }] };
}
