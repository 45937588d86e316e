/** The six performance targets of this package, checked against the figures of the same run. */
import { median } from './measure.js';

const US = 'context-gateway';

/** `item` must have been measured. `of` returns one figure per round. */
const MARKS = [
  cheaper('plain-1k-16', 'a plain call: undici by hand ÷ ours', 'by-hand', 0.9),
  cheaper('plain-1k-16', 'a plain call: openai ÷ ours', 'openai', 8),
  cheaper('streams-varied-1', 'an event that differs everywhere: undici by hand ÷ ours', 'by-hand', 0.8),
  cheaper('streams-many-1', 'an event whose content differs: openai ÷ ours', 'openai', 6),
  cheaper('first', 'a stream to its first chunk: openai ÷ ours', 'openai', 3),
  { item: 'cold', text: 'importing the package: ms over an empty process', most: 25, of: (rows) => rows[US].imported },
];

/** The marks of the measured items: `{ text, required, measured, lowest, highest, met }`. */
export function judge(figures) {
  return MARKS.filter(({ item }) => figures.has(item)).map(({ item, text, least, most, of }) => {
    const rounds = of(figures.get(item));
    const measured = median(rounds);
    const met = least === undefined ? measured <= most : measured >= least;
    const required = least === undefined ? `≤ ${most}` : `≥ ${least}`;
    return { text, required, measured, lowest: Math.min(...rounds), highest: Math.max(...rounds), met };
  });
}

/** The CPU time of the other contestant divided by ours, per round. */
function cheaper(item, text, other, least) {
  const of = (rows) => rows[other].cpu.map((cpu, round) => cpu / rows[US].cpu[round]);
  return { item, text, least, of };
}
