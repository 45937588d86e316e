import * as z from 'zod/mini';
import { count, described } from '../base/fields.js';

/** A part of a text in which something was found, and the place of it there. */
export const excerpt = z.object({
  text: described('The surroundings of what was found.', z.string()),
  at: described('Its place in them.', count),
  length: count,
});
export type Excerpt = z.infer<typeof excerpt>;

/** Returns a function that finds a text in another, whatever its case, and cuts out its surroundings. */
export function finder(wanted: string): (text: string) => Excerpt | undefined {
  const expression = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i'); // linear: a literal text
  return (text) => {
    const found = expression.exec(text);
    if (found === null) return undefined;
    const start = Math.max(0, found.index - BEFORE);
    const end = Math.min(text.length, found.index + found[0].length + AFTER);
    const lead = start === 0 ? '' : '…';
    const part = text.slice(start, end).replace(/\s/g, ' ');
    return {
      text: lead + part + (end === text.length ? '' : '…'),
      at: found.index - start + lead.length,
      length: found[0].length,
    };
  };
}

const BEFORE = 40;
const AFTER = 80;
