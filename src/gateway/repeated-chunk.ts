import type { ChatCompletionChunk } from './schemas.js';

/** Stands where a content was, to see that nothing else in the event depends on it. */
const PROBE = 'context-gateway probe';
const CONTENT = '"content":';
/** A content that is not written as it reads. */
const NOT_PLAIN = /["\\\u0000-\u001f]/;
/** A stream of so few events is over before learning pays. */
export const TOO_EARLY = 8;
/** Events that are read the long way before another one is learnt by heart, where learning did not pay: at most this many. */
const LONGEST_PAUSE = 1_024;

/**
 * Most events of a stream differ from the one before in their content and in nothing else. Such an event is recognised by its
 * text: the same characters before the content and after it. Of it the content alone is parsed, and nothing is checked, because
 * the one it repeats was, and a probe has shown that this content is `choices[0].delta.content`. Measured on Node 20: 0.7 µs
 * instead of 1.9 for an event of 293 bytes, all in all. Any other event goes the whole way.
 */
export class RepeatedChunk {
  #head = '';
  #tail = '';
  #chunk: ChatCompletionChunk | undefined;
  #hits = 0;
  #pause = 0;
  /** Events that pass by before one is learnt. */
  #skip = TOO_EARLY;

  /** The chunk of an event that repeats the last one, or `undefined`. */
  recognise(data: string): ChatCompletionChunk | undefined {
    const chunk = this.#chunk;
    if (chunk === undefined) return undefined;
    const from = this.#head.length;
    const to = data.length - this.#tail.length;
    // Cut and compared: `startsWith` and `endsWith` take twice as long.
    if (to < from || data.slice(0, from) !== this.#head || data.slice(to) !== this.#tail) return undefined;
    // Also where the content needs no reading: a slice would keep the whole text it was cut from for as long as the content.
    const content = stringOf(data.slice(from, to));
    if (content === undefined) return undefined;
    this.#hits += 1;
    return withContent(chunk, content);
  }

  /** Learns an event that was read and checked the long way, unless that has not paid lately. */
  learn(data: string, chunk: ChatCompletionChunk): void {
    if (this.#hits > 0) this.#pause = 0;
    this.#chunk = undefined; // not repeated by the next one: the ones after it are not compared with it either
    if (this.#skip > 0) {
      this.#skip -= 1;
      return;
    }
    this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2 + 1);
    this.#skip = this.#pause;
    this.#hits = 0;
    const place = placeOfContent(data, chunk);
    if (place === undefined) return;
    this.#head = data.slice(0, place.from);
    this.#tail = data.slice(place.to);
    this.#chunk = withContent(chunk, ''); // the caller may change its own
  }
}

/** What stands between the quotes of a JSON string, read; `undefined` where it is not the inside of exactly one string. */
function stringOf(inside: string): string | undefined {
  try {
    return JSON.parse(`"${inside}"`);
  } catch {
    return undefined;
  }
}

/** Where the one choice's content stands in the event's text, if that is certain. */
function placeOfContent(data: string, chunk: ChatCompletionChunk): { from: number; to: number } | undefined {
  const [choice, ...others] = chunk.choices;
  if (choice === undefined || others.length > 0 || choice.finish_reason || !isFlat(chunk, 'choices')) return undefined;
  const { content } = choice.delta;
  if (!content || NOT_PLAIN.test(content) || !isFlat(choice, 'delta') || !isFlat(choice.delta, 'content'))
    return undefined;
  const at = data.indexOf(CONTENT);
  if (at === -1 || data.includes(CONTENT, at + 1)) return undefined;
  const from = data.indexOf('"', at + CONTENT.length) + 1;
  const to = from + content.length;
  if (data.slice(from, to) !== content || data[to] !== '"') return undefined;
  const probe: unknown = JSON.parse(`${data.slice(0, from)}${PROBE}${data.slice(to)}`);
  const same = JSON.stringify(probe) === JSON.stringify(withContent(chunk, PROBE));
  return same ? { from, to } : undefined;
}

/** Whether copying an object copies all of it: nothing but plain values, apart from one field. */
function isFlat(object: object, except: string): boolean {
  return Object.entries(object).every(([key, value]) => key === except || typeof value !== 'object' || value === null);
}

function withContent(chunk: ChatCompletionChunk, content: string): ChatCompletionChunk {
  const choice = chunk.choices[0] as ChatCompletionChunk['choices'][number]; // there is exactly one
  return { ...chunk, choices: [{ ...choice, delta: { ...choice.delta, content } }] };
}
