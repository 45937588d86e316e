import type { FoundMessage } from '../model.js';
import { LONG } from './passages.js';
import { normalise } from './words.js';

/** What a message says, and who: case, signs and spaces make no difference. */
export function saidIn({ role, name = '', text }: Pick<FoundMessage, 'role' | 'name' | 'text'>): string {
  // The beginning and the length of a long message suffice.
  return `${role} ${name} ${text.length > LONG ? text.length : ''} ${normalise(text.slice(0, LONG))}`;
}

/** The same for all messages that differ only in numbers. */
export function formOf(said: string): string {
  return said.replace(/\p{N}+/gu, '0');
}

/** Each text once, with how often it is repeated. What differs from a better one only in numbers comes after the others. */
export function withoutCopies(found: readonly FoundMessage[]): FoundMessage[] {
  const once = new Map<string, FoundMessage>();
  for (const one of found) {
    const said = saidIn(one);
    const first = once.get(said);
    once.set(said, first === undefined ? one : { ...first, repeated: (first.repeated ?? 0) + 1 });
  }
  const forms = new Set<string>();
  const isNew = (said: string): boolean => forms.size < forms.add(formOf(said)).size;
  const [different, alike]: [FoundMessage[], FoundMessage[]] = [[], []];
  for (const [said, one] of once) (isNew(said) ? different : alike).push(one);
  return [...different, ...alike];
}
