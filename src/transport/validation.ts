import {
  describeIssues,
  MAX_ISSUES,
  RequestValidationError,
  ResponseValidationError,
  type ValidationIssue,
} from '../errors.js';
import { findIssues } from './matches.js';
import type { AnySchema } from './schema.js';

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

/**
 * Parameters as the caller gave them. `options` has the options of the call, which are easily put among them, `ids` the
 * arguments before them.
 *
 * @throws {RequestValidationError} naming each field and what it has to be
 */
export function checkArguments(schema: AnySchema, given: object, options: readonly object[], ids?: object): void {
  const issues = findIssues(schema, given);
  if (issues === undefined) return;
  const isMisplaced = (key: string): boolean =>
    schema.strict && !schema.keys.includes(key) && options.some((table) => Object.hasOwn(table, key));
  const misplaced = Object.keys(given).filter(isMisplaced);
  throw new RequestValidationError(
    misplaced.length === 0 ? issues : misplaced.map((key) => ({ path: [key], message: isAnOption(ids) })),
  );
}

/** What is said of an option among the parameters. */
export function isAnOption(ids?: object): string {
  return `is an option of the call: pass it in the ${ids === undefined ? 'second' : 'third'} argument`;
}

/** Issues of an answer as an error that still holds it. */
export function unexpectedAnswer(
  issues: readonly ValidationIssue[],
  body: unknown,
  expected = 'what is documented',
): ResponseValidationError {
  const message = `The answer is not ${expected}: ${describeIssues(issues)}`;
  return new ResponseValidationError(message, { issues, body });
}

/** Checks with the caller's own schema what a method gives. `body` is the whole answer. */
export async function applySchema<T>(
  schema: StandardSchema<T>,
  value: unknown,
  body: unknown,
  clean: (text: string) => string,
): Promise<T> {
  const result = await validated(schema, value, body);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({
    path: (path ?? []).map((step) =>
      pathKey(typeof step === 'object' && step !== null ? (step as { key: unknown }).key : step, clean),
    ),
    message: clean(message),
  }));
  throw unexpectedAnswer(issues, body, 'what the given schema takes');
}

/** A mistake in the caller's schema costs nobody the answer. */
async function validated<T>(schema: StandardSchema<T>, value: unknown, body: unknown): Promise<StandardResult<T>> {
  try {
    return await schema['~standard'].validate(value);
  } catch (cause) {
    throw new ResponseValidationError('The schema failed while it checked the answer. Its error is the cause.', {
      body,
      cause,
    });
  }
}

function pathKey(key: unknown, clean: (text: string) => string): string | number {
  return typeof key === 'number' ? key : clean(String(key));
}
