import type { AnySchema } from './schema.js';

// What people are told of a value that is not what its description says: in the errors of the clients, and in those of the zod
// schemas. No sentence repeats the value.

/** Something else altogether. */
export function wrongKind({ kind, whole, values }: AnySchema): string {
  if (kind === 'literal') return `expected ${values.map((one) => JSON.stringify(one)).join(' or ')}`;
  if (kind === 'union') return 'expected one of the documented forms';
  return whole ? 'expected a whole number' : `expected ${kind}`;
}

export function tooSmall({ kind, least }: AnySchema): string {
  return kind === 'number' ? `expected a number of at least ${least}` : 'must not be empty';
}

export function tooLarge({ kind, most }: AnySchema): string {
  return kind === 'number' ? `expected a number of at most ${most}` : `must not be longer than ${most}`;
}

/** Not of the form that its description names. */
export function wrongForm({ expected }: AnySchema): string {
  return `expected ${expected}`;
}

export function unknownFields(names: readonly string[], known: readonly string[]): string {
  const meant = known.filter((one) => names.some((name) => plainName(name) === plainName(one)));
  return `unknown ${names.length === 1 ? 'field' : 'fields'} ${names.join(', ')}${didYouMean(meant)}`;
}

/** A name as people confuse it: whatever its case and its separators. */
export function plainName(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase();
}

/** The mend for a name that nobody knows, where some are like it. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : `; did you mean ${names.join(', ')}?`;
}
