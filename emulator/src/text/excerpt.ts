/** A part of a text in which something was found, and the place of it there. */
export interface Excerpt {
  text: string;
  at: number;
  length: number;
}

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
