import type { FoundMessage } from '../model.js';
import { LONG } from './passages.js';
import { normalise } from './words.js';

/** Each text once, with how often it is repeated. What differs from a better one only in numbers comes after the others. */
export function withoutCopies(found: readonly FoundMessage[]): FoundMessage[] {
  const once = new Map<string, FoundMessage>();
  for (const one of found) {
    const { role, name = '', text } = one;
    // The beginning and the length of a long message suffice.
    const said = `${role} ${name} ${text.length > LONG ? text.length : ''} ${normalise(text.slice(0, LONG))}`;
    const first = once.get(said);
    once.set(said, first === undefined ? one : { ...first, repeated: (first.repeated ?? 0) + 1 });
  }
  const forms = new Set<string>();
  const isNew = (said: string): boolean => forms.size < forms.add(said.replace(/\p{N}+/gu, '0')).size;
  const [different, alike]: [FoundMessage[], FoundMessage[]] = [[], []];
  for (const [said, one] of once) (isNew(said) ? different : alike).push(one);
  return [...different, ...alike];
}
