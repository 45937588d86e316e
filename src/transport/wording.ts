import type { AnySchema } from './schema.js';

// What people are told of a value that is not what its description says: in the errors of the clients, and in those of the zod
// schemas. No sentence repeats the value.

/** Something else altogether. Of the value no more is told than what kind it is. */
export function wrongKind({ kind, whole, values }: AnySchema, value: unknown): string {
  const got = kindOf(value);
  if (kind === 'union') return 'expected one of the documented forms';
  const wanted = kind === 'literal' ? values.map((one) => JSON.stringify(one)).join(' or ') : kind;
  const sameKind = got === (kind === 'literal' ? typeof values[0] : kind);
  return `expected ${whole ? 'a whole number' : wanted}${sameKind ? '' : `, got ${got}`}`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return String(value);
  return Array.isArray(value) ? 'array' : typeof value;
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

/** A hint for an unknown name, where known ones are like it. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : `; did you mean ${names.join(', ')}?`;
}
