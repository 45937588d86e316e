import * as z from 'zod/mini';
import { describeIssues, RequestValidationError, ResponseValidationError, type ValidationIssue } from '../errors.js';
import { type Guard, guardOf } from './guard.js';

/** A schema of ours. What it accepts is handed on as it came, so that nothing a newer service adds is lost. */
export type Schema<T> = z.core.$ZodType<T>;

/** The part of the Standard Schema interface (standardschema.dev, version 1) that is used here; zod, valibot and arktype have it. */
export interface StandardSchema<Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a Standard Schema says of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: ReadonlyArray<{ readonly message: string; readonly path?: ReadonlyArray<unknown> | undefined }>;
    };

/** What was worked out once for each schema: nothing that a call could change. */
const GUARDS = new WeakMap<Schema<unknown>, Guard>();

/** What is wrong with a value, if anything. */
export function findIssues(schema: Schema<unknown>, value: unknown): ValidationIssue[] | undefined {
  let guard = GUARDS.get(schema);
  if (guard === undefined) {
    guard = guardOf(schema);
    GUARDS.set(schema, guard);
  }
  if (guard(value)) return undefined;
  const result = z.safeParse(schema, value, { error: describeIssue });
  if (result.success) return undefined;
  return result.error.issues.map(({ path, message }) => ({ path: path.map(pathKey), message }));
}

/** Arguments as the caller gave them. @throws {RequestValidationError} naming each field and what it has to be */
export function checkArguments(schema: Schema<unknown>, value: unknown): void {
  const issues = findIssues(schema, value);
  if (issues !== undefined) throw new RequestValidationError(issues);
}

/** Issues of an answer as an error that still holds it. */
export function unexpectedAnswer(issues: readonly ValidationIssue[], body: unknown): ResponseValidationError {
  return new ResponseValidationError(`The answer is not what is documented: ${describeIssues(issues)}`, {
    issues,
    body,
  });
}

/** Checks an undocumented body with the caller's own schema. */
export async function applySchema<T>(schema: StandardSchema<T>, body: unknown): Promise<T> {
  const result = await validated(schema, body);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map(({ path, message }) => ({
    path: (path ?? []).map((step) =>
      pathKey(typeof step === 'object' && step !== null ? (step as { key: unknown }).key : step),
    ),
    message,
  }));
  throw unexpectedAnswer(issues, body);
}

/** A mistake in the caller's schema costs nobody the answer. */
async function validated<T>(schema: StandardSchema<T>, body: unknown): Promise<StandardResult<T>> {
  try {
    return await schema['~standard'].validate(body);
  } catch (cause) {
    throw new ResponseValidationError('The schema failed while it checked the answer. Its error is the cause.', {
      body,
      cause,
    });
  }
}

function pathKey(key: unknown): string | number {
  return typeof key === 'number' ? key : String(key);
}

/** Our own words, because the small zod has none: what is expected, never what was given. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected === 'int' ? 'a whole number' : issue.expected}`;
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'unrecognized_keys':
      return `unknown ${issue.keys.length === 1 ? 'field' : 'fields'} ${issue.keys.join(', ')}`;
    case 'too_small':
      return isNumeric(issue.origin)
        ? `expected a number ${issue.inclusive ? 'of at least' : 'above'} ${issue.minimum}`
        : 'must not be empty';
    case 'too_big':
      return isNumeric(issue.origin)
        ? `expected a number of at most ${issue.maximum}`
        : `must not be longer than ${issue.maximum}`;
    case 'invalid_format':
      return `expected ${issue.format}`;
    case 'not_multiple_of':
      return 'expected a whole number';
    case 'invalid_union':
      return 'expected one of the documented forms';
    default:
      return 'is not valid';
  }
}

/** Texts and lists have a length, numbers have a value. */
function isNumeric(origin: string): boolean {
  return origin === 'number' || origin === 'int';
}
