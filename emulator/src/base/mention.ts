import { redact } from './redact.js';
import { startOf } from './start-of.js';

/** A text that names something, as ids, roles, times, models and paths are written. A field may have another, such as prose. */
export const NAME = /^[\w.:/+@~-]*$/;

/** How a message mentions what a caller gave: a name as it is, any other text in double quotes, where a mask hides it. */
export function mention(given: string): string {
  const name = cut(redact(given), MOST_NAME);
  return NAME.test(name) ? name : JSON.stringify(name);
}

/** How a message repeats what another program said: in double quotes. */
export function quote(said: string): string {
  return JSON.stringify(cut(redact(said), MOST_QUOTED));
}

/** The beginning of a text. The log hides what may be a part of a secret before the `…`. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : `${startOf(text, most)}…`;
}

const MOST_NAME = 100;
const MOST_QUOTED = 500;
