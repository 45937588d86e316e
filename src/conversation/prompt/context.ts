import type { ContextParts, ConversationMessage, Dropped } from '../model.js';
import { type ContextLine, costsOf, frameTokens, linesOf, PREFACE } from './render.js';

/** Lines of the context, and where the newest messages begin. */
export interface Chosen {
  start: number;
  selected: readonly ContextLine[];
  tokens: number;
}

/** The lines of the context, and how many of them fit. */
export class Context {
  readonly #lines: readonly ContextLine[];
  /** The places of the messages that lines repeat, by their ids. */
  readonly #places = new Map<string | undefined, number>();
  readonly #frame: number;

  constructor(
    parts: ContextParts,
    history: readonly ConversationMessage[],
    private readonly count: (text: string) => number,
    private readonly older = 0,
  ) {
    const lines = linesOf(parts);
    const ids = new Set(lines.flatMap(({ messageId }) => messageId ?? []));
    const excluded = new Set<string | undefined>();
    for (const [at, message] of history.entries()) {
      const { id = '' } = message;
      if (ids.has(id)) this.#places.set(id, at);
      if (ids.has(id) && message.excluded === true) excluded.add(id);
    }
    this.#lines = lines.filter(({ messageId }) => !excluded.has(messageId));
    this.#frame = frameTokens('context', PREFACE, count);
  }

  /** The most valuable lines, as many as fit. Pins are required, unless the tail contains their message. */
  within(room: number, start: number): Chosen {
    const selected: ContextLine[] = [];
    const headings = new Set<string>();
    let tokens = this.#frame;
    for (const one of this.#lines.filter(this.#isBeside(start))) {
      const { line, heading } = costsOf(one);
      const more = this.count(line) + 1 + (headings.has(heading) ? 0 : this.count(heading) + 3);
      const isAllowed = tokens + more <= room && (this.older + start === 0 || one.section !== 'importantReferences');
      if (one.section !== 'pinnedMemory' && !isAllowed) break;
      tokens += more;
      headings.add(heading);
      selected.push(one);
    }
    return { start, selected, tokens: selected.length === 0 ? 0 : tokens };
  }

  /** The lines that are in neither the context nor the tail. */
  dropped(selected: readonly ContextLine[], start: number): Dropped[] {
    const chosen = new Set(selected);
    return this.#lines
      .filter((line) => !chosen.has(line))
      .filter(this.#isBeside(start))
      .map(({ section, id, text }) => ({ section, id, tokens: Math.ceil(this.count(text)), reason: 'budget' }));
  }

  #isBeside(start: number): (line: ContextLine) => boolean {
    return ({ messageId }) => (this.#places.get(messageId) ?? -1) < start;
  }
}
