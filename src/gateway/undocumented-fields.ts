import { isObject } from '../transport/validation.js';

/** Repeated in every chunk, not continued. */
const REPEATED = ['id', 'type', 'index'];

/**
 * Joins a field of two chunks that the API does not document, such as `tool_calls`: texts are joined, objects field by
 * field, and entries of lists that have the same `index`. Of anything else, the later value counts.
 */
export function joined(before: unknown, added: unknown): unknown {
  if (typeof before === 'string' && typeof added === 'string') return before + added;
  if (Array.isArray(before) && Array.isArray(added)) return added.reduce(withEntry, before);
  if (isObject(before) && isObject(added)) return joinedFields(before, added);
  return before === undefined ? added : (added ?? before);
}

function joinedFields(before: Readonly<Record<string, unknown>>, added: Readonly<Record<string, unknown>>): object {
  const fields = Object.entries(added).map(([name, value]) => {
    const old = Object.hasOwn(before, name) && !REPEATED.includes(name) ? before[name] : undefined;
    return [name, joined(old, value)];
  });
  return Object.fromEntries([...Object.entries(before), ...fields]); // unlike assignment, safe for a field `__proto__`
}

function withEntry(list: readonly unknown[], entry: unknown): unknown[] {
  const index = indexOf(entry);
  const at = index === undefined ? -1 : list.findIndex((one) => indexOf(one) === index);
  return at === -1 ? [...list, entry] : list.with(at, joined(list[at], entry));
}

function indexOf(entry: unknown): unknown {
  return isObject(entry) ? entry.index : undefined;
}
