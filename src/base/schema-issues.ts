import type { core, ZodMiniType } from 'zod/mini';
import * as z from '#zod';
import { ownWords } from './fields.js';
import { MAX_ISSUES, type ValidationIssue } from './issues.js';

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
  const { error } = z.safeParse(schema, value, { error: messageFor });
  return error?.issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    if (issue.code === 'unrecognized_keys' && describe !== undefined)
      return issue.keys.map((key) => ({ path: [key], message: describe(key) }));
    return [{ path: pathIn(schema, issue.path), message: issue.message }];
  });
}

/** A cache. Every call reads the names; computing them each time took 3 % of a call. */
const fieldNames = new WeakMap<AnySchema, readonly string[]>();

/** The names of the fields that a schema allows. */
export function fieldsOf(schema: AnySchema): readonly string[] {
  let names = fieldNames.get(schema);
  if (names === undefined) {
    const { shape = {} } = partsOf(schema);
    names = Object.keys(shape).filter((key) => partsOf(shape[key]).innerType?._zod.def.type !== 'never');
    fieldNames.set(schema, names);
  }
  return names;
}

type RawIssue = core.$ZodRawIssue;

/** The message for one issue. It never contains the value. */
function messageFor(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return wrongKind(partsOf(issue.inst).format === 'safeint' ? 'a whole number' : issue.expected, issue.input);
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
    case 'unrecognized_keys':
      return unknownFields(issue.keys, fieldsOf(issue.inst as AnySchema));
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

/** The path to a field. Ends before a key that is text of a conversation. */
function pathIn(schema: AnySchema, path: readonly PropertyKey[]): (string | number)[] {
  const shown: (string | number)[] = [];
  let at: core.$ZodType | undefined = schema;
  for (const key of path) {
    at = partOf(at, key);
    if (at === undefined) break;
    shown.push(key as string | number); // no field is named by a symbol
  }
  return shown;
}

function partOf(schema: core.$ZodType, key: PropertyKey): core.$ZodType | undefined {
  const { innerType, shape, element, keyType, valueType } = partsOf(schema);
  if (innerType !== undefined) return partOf(innerType, key);
  return shape?.[key as string] ?? element ?? (keyType === ownWords ? undefined : valueType);
}

interface Parts {
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

/** Reads the parts of any schema. Each kind of schema has some of them; zod's types list them for one kind only. */
export function partsOf(schema: unknown): Parts {
  return (schema as core.$ZodType)._zod.def as Parts;
}
