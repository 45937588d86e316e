import type { core, ZodMiniType } from 'zod/mini';
import * as z from 'zod/mini';
import { adviceFor, matches } from '#platform';
import { MAX_ISSUES, type ValidationIssue } from '../base/issues.js';
import { isObject } from '../base/objects.js';
import { conversationText } from './fields.js';
import { alike, nearest } from './nearest.js';

/** The schema of an argument, a response or an option. */
export type Schema<T> = ZodMiniType<T>;
export type AnySchema = ZodMiniType;
const ID = /(?:^|_)id$|Id$/;
const ROUNDED = /^created$|tokens$/i;

/** Returns the issues of a value, at most as many as an error keeps, or `undefined` if it is valid. */
export function findIssues(schema: AnySchema, value: unknown): ValidationIssue[] | undefined {
  // Nearly every value is valid, so a check without copies and messages comes first.
  if (matches(schema, value)) return undefined;
  let found: readonly core.$ZodIssue[];
  try {
    const { error } = z.safeParse(schema, value, { error: messageFor }); // Rspack keeps all of zod for `z.safeParse(…).error?.`
    found = error?.issues ?? [];
  } catch {
    return [{ path: [], message: 'has too many mistakes' }]; // zod throws a `RangeError` at about 100,000
  }
  const issues = found.slice(0, MAX_ISSUES).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return { path: shownPath(schema, issue.path), message: issue.message };
    // zod also reads what is inherited: what was added to Object.prototype is no mistake of this value.
    const unknown = issue.keys.filter((key) => !Object.keys(Object.prototype).includes(key));
    return unknown.map((key) => ({ path: [key], message: unknownName(key, fieldsOf(schema)) }));
  });
  return issues.length === 0 ? undefined : issues.slice(0, MAX_ISSUES);
}

/** A path without the keys that are text of a conversation. */
function shownPath(schema: core.$ZodType, path: readonly PropertyKey[]): (string | number)[] {
  const shown: (string | number)[] = [];
  let part: core.$ZodType | undefined = schema;
  for (const step of path) {
    let definition: Partial<Definition> = part === undefined ? {} : definitionOf(part);
    while (definition.innerType !== undefined) definition = definitionOf(definition.innerType);
    const { shape, element, keyType, valueType } = definition;
    if (keyType !== conversationText) shown.push(typeof step === 'number' ? step : String(step));
    part = shape?.[String(step)] ?? element ?? valueType;
  }
  return shown;
}

/**
 * Changes what is invalid and has a clear meaning: `null` in an optional field counts as absent, an id may be a number, a number may
 * be text, and times and counts of tokens are rounded. Returns whether something was changed. Called only for invalid values, so that valid
 * ones cost nothing.
 */
export function repair(schema: core.$ZodType, value: unknown): boolean {
  const { innerType, shape = {}, element, valueType } = definitionOf(schema);
  if (innerType !== undefined) return repair(innerType, value);
  let found = false;
  if (Array.isArray(value) && element !== undefined) {
    for (const item of value) found = repair(element, item) || found;
  } else if (isObject(value)) {
    for (const [key, field] of Object.entries(value)) {
      const part = Object.hasOwn(shape, key) ? shape[key] : valueType;
      if (part === undefined) continue;
      const read = converted(part, key, field);
      if (field === null && isOptional(part)) found = Reflect.deleteProperty(value, key) || found;
      else if (read !== field) found = Reflect.set(value, key, read) || found;
      else found = repair(part, field) || found;
    }
  }
  return found;
}

/** A value as the schema wants it, if it is clear what it means. */
function converted(schema: core.$ZodType, name: string, value: unknown): unknown {
  const { type, innerType } = definitionOf(schema);
  if (innerType !== undefined) return converted(innerType, name, value);
  // Other whole numbers have lost digits: they would be the id of something else.
  if (type === 'string' && Number.isSafeInteger(value) && ID.test(name)) return String(value);
  if (type !== 'number') return value;
  const number = typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || number < 0 || !ROUNDED.test(name)) return number;
  return name === 'created' ? Math.floor(number) : Math.min(Math.floor(number), Number.MAX_SAFE_INTEGER);
}

/** Whether a field may be absent, and may not be `null`. */
function isOptional(schema: core.$ZodType): boolean {
  const { type, innerType } = definitionOf(schema);
  return type === 'optional' && definitionOf(innerType).type !== 'nullable';
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
      return `expected a number of at least ${issue.minimum}`;
    case 'too_big':
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

/** The message for a name that is not among the known ones. It suggests the right spelling or our own name, or lists them. */
export function unknownName(name: string, known: readonly string[]): string {
  const advice = adviceFor(name);
  const meant = advice === undefined ? nearest(name, known, 4) : alike(name, known);
  if (meant.length > 0) return `is unknown; did you mean ${meant.join(', ')}?`;
  return `is unknown; ${advice ?? `expected one of ${known.join(', ')}`}`;
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
