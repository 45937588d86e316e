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

/** Arguments as the caller gave them. @throws {RequestValidationError} naming each field and what it has to be */
export function checkArguments(schema: AnySchema, value: unknown): void {
  const issues = findIssues(schema, value);
  if (issues !== undefined) throw new RequestValidationError(issues);
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

/** Checks an undocumented body with the caller's own schema. */
export async function applySchema<T>(
  schema: StandardSchema<T>,
  body: unknown,
  clean: (text: string) => string,
): Promise<T> {
  const result = await validated(schema, body);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({
    path: (path ?? []).map((step) =>
      pathKey(typeof step === 'object' && step !== null ? (step as { key: unknown }).key : step, clean),
    ),
    message: clean(message),
  }));
  throw unexpectedAnswer(issues, body, 'what the given schema takes (it checks the whole body)');
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

function pathKey(key: unknown, clean: (text: string) => string): string | number {
  return typeof key === 'number' ? key : clean(String(key));
}
