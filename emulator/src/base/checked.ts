import * as z from 'zod/mini';
import { badRequest } from './errors.js';
import { parseJsonText } from './json.js';
import { mention } from './mention.js';
import type { Sliced } from './slices.js';

/** Parses JSON. Throws a 400 if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    throw badRequest('body', `The request body is ${(error as SyntaxError).message}`, 'invalid_json');
  }
}

/**
 * Parses a value with a schema. Throws a 400 that names the first invalid field or, if `strict`, the first unknown one.
 */
export function checked<T>(schema: z.ZodMiniType<T>, value: unknown, strict = false): T {
  const result = z.safeParse(schema, value);
  if (result.success) {
    const unknown = strict ? unknownField(value, result.data) : undefined;
    if (unknown === undefined) return result.data;
    throw badRequest(unknown, `${mention(unknown)} is not a documented field`, 'unknown_parameter');
  }
  const issue = result.error.issues[0];
  const param = issue?.path.map(String).join('.') || 'body';
  const missing = issue !== undefined && issue.code === 'invalid_type' && valueAt(value, issue.path) === undefined;
  if (missing) {
    const other = strict ? misspelt(schema, value) : undefined;
    const hint = other === undefined ? '' : `; ${mention(other)} is not a documented field, did you mean ${param}?`;
    throw badRequest(param, `${mention(param)} is required${hint}`, 'missing_parameter');
  }
  throw badRequest(param, `${mention(param)} is not valid: ${describe(issue)}`);
}

/** Like a strict `checked` of each entry of a list, in slices. `refuse` throws the error for the whole list. */
export function* checkedList<T>(item: z.ZodMiniType<T>, list: readonly unknown[], refuse: () => void): Sliced<T[]> {
  const taken: T[] = [];
  for (const value of list) {
    yield;
    const { success, data } = z.safeParse(item, value);
    // Now the error is worth the time: it names the place in the list.
    if (!success || unknownField(value, data) !== undefined) refuse();
    else taken.push(data);
  }
  return taken;
}

/** The first field that an object's schema does not have. */
function misspelt(schema: z.ZodMiniType, value: unknown): string | undefined {
  const shape = (schema as Partial<z.ZodMiniObject>).shape ?? {};
  return Object.keys(Object(value)).find((name) => !Object.hasOwn(shape, name));
}

/** The path of the first field that the schema dropped. */
function unknownField(given: unknown, taken: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || typeof taken !== 'object' || taken === null) return undefined;
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(taken, name)) return name;
    const inner = unknownField(value, (taken as Record<string, unknown>)[name]);
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}

function describe(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'unexpected value';
  if (issue.code === 'custom' || issue.code === 'invalid_format') return issue.message;
  if (issue.code === 'invalid_key') return describe(issue.issues[0]);
  if (issue.code === 'invalid_value') return oneOf(issue.values);
  if (issue.code === 'invalid_union' && 'options' in issue) return oneOf(issue.options);
  if (issue.code === 'invalid_type') return `expected ${issue.expected}`;
  if (issue.code === 'too_big') return `at most ${String(issue.maximum)}`;
  if (issue.code === 'too_small') return `at least ${String(issue.minimum)}`;
  return 'unexpected value';
}

/** Names the values that a field takes. */
function oneOf(values: readonly unknown[]): string {
  return `expected one of ${values.filter((value) => value !== undefined).join(', ')}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let inner: unknown = value;
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined;
    inner = (inner as Record<PropertyKey, unknown>)[key];
  }
  return inner;
}
