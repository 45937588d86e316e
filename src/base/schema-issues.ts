import type { core, ZodMiniType } from 'zod/mini';
import * as z from '#zod';
import { conversationText } from './fields.js';
import { MAX_ISSUES, type ValidationIssue } from './issues.js';
import { isObject, ownField } from './objects.js';

/** The schema of an argument, a response or an option. */
export type Schema<T> = ZodMiniType<T>;
export type AnySchema = ZodMiniType;

/**
 * Returns the issues of a value, at most as many as an error keeps, or `undefined` if it is valid. `describe` writes
 * the message for a field that the schema does not have.
 */
export function issuesOf(
  schema: AnySchema,
  value: unknown,
  describe?: (key: string) => string,
): ValidationIssue[] | undefined {
  const issues: ValidationIssue[] = [];
  for (const issue of issuesIn(schema, value, describe)) {
    issues.push(issue);
    if (issues.length === MAX_ISSUES) break;
  }
  return issues.length === 0 ? undefined : issues;
}

/**
 * Looks into invalid parts only, one issue at a time. zod itself would collect all issues first, and throw a
 * `RangeError` at about 100,000.
 */
function* issuesIn(
  schema: core.$ZodType,
  value: unknown,
  describe?: (key: string) => string,
): Generator<ValidationIssue, undefined> {
  let found = false;
  for (const { steps, schema: partSchema, value: part } of partsIn(schema, value)) {
    if (isValid(partSchema as AnySchema, part)) continue;
    found = true;
    for (const { path, message } of issuesIn(partSchema, part)) yield { path: [...steps, ...path], message };
  }
  const unknown = unknownKeys(schema, value);
  if (describe !== undefined) for (const key of unknown) yield { path: [key], message: describe(key) };
  else if (unknown.length > 0) yield { path: [], message: unknownFields(unknown, fieldsOf(schema as AnySchema)) };
  if (found || unknown.length > 0) return;
  // All parts are valid, so only the few issues of the value itself are left.
  const { error } = z.safeParse(schema as AnySchema, value, { error: messageFor });
  for (const { message } of error?.issues ?? []) yield { path: [], message };
}

/** Not zod's `validate`, because a page's own zod may be older than 4.5, which has it. */
function isValid(schema: AnySchema, value: unknown): boolean {
  try {
    return z.safeParse(schema, value).success;
  } catch {
    return false; // a `RangeError`: too many issues
  }
}

interface Part {
  /** From the value to this part. */
  readonly steps: readonly (string | number)[];
  readonly schema: core.$ZodType;
  readonly value: unknown;
}

/** The parts of a value that have a schema. A key that is text of a conversation is in no path. */
function* partsIn(schema: core.$ZodType, value: unknown): Generator<Part, undefined> {
  const { innerType, shape, element, keyType, valueType } = definitionOf(schema);
  if (innerType !== undefined) yield { steps: [], schema: innerType, value };
  else if (element !== undefined && Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield { steps: [at], schema: element, value: item };
  } else if (isObject(value)) {
    for (const [key, field] of Object.entries(shape ?? {})) yield { steps: [key], schema: field, value: value[key] };
    if (valueType === undefined) return;
    for (const [key, field] of Object.entries(value)) {
      yield { steps: keyType === conversationText ? [] : [key], schema: valueType, value: field };
    }
  }
}

function unknownKeys(schema: core.$ZodType, value: unknown): string[] {
  const { shape, catchall } = definitionOf(schema);
  if (shape === undefined || catchall?._zod.def.type !== 'never' || !isObject(value)) return [];
  return Object.keys(value).filter((key) => !Object.hasOwn(shape, key));
}

/**
 * Removes each `null` from an optional field, where it counts as absent. Returns whether there was one. Called only for
 * invalid values, so that valid ones cost nothing.
 */
export function removeNulls(schema: core.$ZodType, value: unknown): boolean {
  let found = false;
  if (isObject(value)) {
    for (const [key, field] of Object.entries(definitionOf(schema).shape ?? {})) {
      const { type, innerType } = definitionOf(field);
      const counts = type === 'optional' && definitionOf(innerType).type !== 'nullable';
      if (counts && ownField(value, key) === null) found = Reflect.deleteProperty(value, key) || found;
    }
  }
  for (const part of partsIn(schema, value)) found = removeNulls(part.schema, part.value) || found;
  return found;
}

/** A cache. Every call reads the names; computing them each time took 3 % of a call. */
const fieldNames = new WeakMap<AnySchema, readonly string[]>();

/** The names of the fields that a schema allows. */
export function fieldsOf(schema: AnySchema): readonly string[] {
  let names = fieldNames.get(schema);
  if (names === undefined) {
    names = Object.keys(definitionOf(schema).shape ?? {});
    fieldNames.set(schema, names);
  }
  return names;
}

type RawIssue = core.$ZodRawIssue;

/** The message for one issue. It never contains the value. */
function messageFor(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return wrongKind(definitionOf(issue.inst).format === 'safeint' ? 'a whole number' : issue.expected, issue.input);
    case 'invalid_value':
      return wrongKind(
        issue.values.map((one) => JSON.stringify(one)).join(' or '),
        issue.input,
        typeof issue.values[0],
      );
    case 'too_small':
      return issue.origin === 'number' ? `expected a number of at least ${issue.minimum}` : 'must not be empty';
    case 'too_big':
      if (issue.origin === 'string') return `must not be longer than ${issue.maximum}`;
      return issue.origin === 'int' ? 'expected a whole number' : `expected a number of at most ${issue.maximum}`;
    default:
      return 'is not valid';
  }
}

/** The message for a value of the wrong type. It names only the value's type, never the value. */
function wrongKind(wanted: string, value: unknown, kind = wanted.includes('number') ? 'number' : wanted): string {
  const got = kindOf(value);
  return `expected ${wanted}${got === kind ? '' : `, got ${got}`}`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return String(value);
  return Array.isArray(value) ? 'array' : typeof value;
}

function unknownFields(names: readonly string[], known: readonly string[]): string {
  const meant = known.filter((one) => names.some((name) => normalizeName(name) === normalizeName(one)));
  return `unknown ${names.length === 1 ? 'field' : 'fields'} ${names.join(', ')}${didYouMean(meant)}`;
}

/** A name without case and separators, to recognise misspelt names. */
export function normalizeName(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase();
}

/** Suggests names similar to an unknown one, if there are any. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : `; did you mean ${names.join(', ')}?`;
}

interface Definition {
  readonly type: string;
  /** The wrapped schema of an optional or nullable one. */
  readonly innerType?: core.$ZodType;
  readonly shape?: Readonly<Record<string, core.$ZodType>>;
  readonly element?: core.$ZodType;
  readonly keyType?: core.$ZodType;
  readonly valueType?: core.$ZodType;
  readonly format?: string;
  /** The schema of all other fields. `never` for a strict object. */
  readonly catchall?: core.$ZodType;
}

/** Reads the definition of any schema. Each kind of schema has some of these fields; zod's types list them for one kind only. */
function definitionOf(schema: unknown): Definition {
  return (schema as core.$ZodType)._zod.def as Definition;
}
