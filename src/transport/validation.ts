import type { core, ZodMiniType } from 'zod/mini';
import { matches } from '#platform';
import * as z from '#zod';
import { describeIssues, MAX_ISSUES, type ValidationIssue } from '../errors/issues.js';
import { RequestValidationError, ResponseValidationError } from '../errors/validation.js';
import { ownWords } from './fields.js';

/** The schema of an argument, a response or an option. */
export type Schema<T> = ZodMiniType<T>;
export type AnySchema = ZodMiniType;

/** The used part of Standard Schema (standardschema.dev, version 1), which zod, valibot and arktype implement. */
export interface StandardSchema<Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The result of validation with a Standard Schema. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: ReadonlyArray<{ readonly message: string; readonly path?: ReadonlyArray<unknown> | undefined }>;
    };

/**
 * Returns the issues of a value, at most as many as an error keeps, or `undefined` if it is valid. `describe` writes
 * the message for a field that the schema does not have.
 */
export function findIssues(
  schema: AnySchema,
  value: unknown,
  describe?: (key: string) => string,
): ValidationIssue[] | undefined {
  // Nearly every value is valid, so a check without copies and messages comes first. An invalid value is checked twice.
  if (matches(schema, value)) return undefined;
  const { error } = z.safeParse(schema, value, { error: wordsOf });
  return error?.issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    if (issue.code === 'unrecognized_keys' && describe !== undefined)
      return issue.keys.map((key) => ({ path: [key], message: describe(key) }));
    return [{ path: pathIn(schema, issue.path), message: issue.message }];
  });
}

/**
 * Checks a caller's parameters. `options` is the schema of the call's options, which callers sometimes pass among the
 * parameters. `ids` are the arguments before them.
 *
 * @throws {RequestValidationError} that names each invalid field and what was expected
 */
export function checkArguments(schema: AnySchema, given: object, options: AnySchema, ids?: object): void {
  const issues = findIssues(schema, given);
  if (issues === undefined) return;
  const known = fieldsOf(schema);
  const isStrict = partsOf(schema).catchall?._zod.def.type === 'never';
  const isMisplaced = (key: string): boolean => isStrict && !known.includes(key) && fieldsOf(options).includes(key);
  const misplaced = Object.keys(given).filter(isMisplaced);
  throw new RequestValidationError(
    misplaced.length === 0 ? issues : misplaced.map((key) => ({ path: [key], message: isAnOption(ids) })),
  );
}

/** The message for an option that was passed among the parameters. */
export function isAnOption(ids?: object): string {
  return `is an option of the call: pass it in the ${ids === undefined ? 'second' : 'third'} argument`;
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

/** Reads a field of parsed JSON. Ignores inherited fields, which a polluted `Object.prototype` may add. */
export function ownField(body: object, name: string): unknown {
  return Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type RawIssue = core.$ZodRawIssue;

/** The message for one issue. It never contains the value. */
function wordsOf(issue: RawIssue): string {
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
  const meant = known.filter((one) => names.some((name) => plainName(name) === plainName(one)));
  return `unknown ${names.length === 1 ? 'field' : 'fields'} ${names.join(', ')}${didYouMean(meant)}`;
}

/** A name without case and separators, to recognise misspelt names. */
export function plainName(name: string): string {
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
function partsOf(schema: unknown): Parts {
  return (schema as core.$ZodType)._zod.def as Parts;
}

/** An error for an unexpected response, which keeps its body. */
export function unexpectedResponse(
  issues: readonly ValidationIssue[],
  body: unknown,
  expected = 'the documentation',
): ResponseValidationError {
  const message = `The response does not match ${expected}: ${describeIssues(issues)}`;
  return new ResponseValidationError(message, { issues, body });
}

/**
 * Validates a method's return value with the caller's own schema. `body` is the whole response body, which the error
 * keeps so that a mistake in the schema does not lose it.
 */
export async function applySchema<T>(
  schema: StandardSchema<T>,
  value: unknown,
  body: unknown,
  clean: (text: string) => string,
): Promise<T> {
  let issues: ValidationIssue[];
  try {
    const result = await schema['~standard'].validate(value);
    if (result.issues === undefined) return result.value;
    issues = result.issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => ({
      path: path.map((step) => {
        const key = (step as { key?: unknown } | null)?.key ?? step;
        return typeof key === 'number' ? key : clean(String(key));
      }),
      message: clean(message),
    }));
  } catch (cause) {
    throw new ResponseValidationError('The schema threw. Its error is the cause.', { body, cause });
  }
  throw unexpectedResponse(issues, body, 'the given schema');
}
