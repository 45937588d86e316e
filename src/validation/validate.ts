import { describeIssues, MAX_ISSUES, type ValidationIssue } from '../base/issues.js';
import { ResponseValidationError } from '../errors/validation.js';

/** The used part of Standard Schema (standardschema.dev, version 1), which zod, valibot and arktype implement. */
export type StandardSchema<Output> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
};

/** The result of validation with a Standard Schema. */
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: ReadonlyArray<{ readonly message: string; readonly path?: ReadonlyArray<unknown> | undefined }>;
    };

/** Whether a value is the schema of a library. */
export function isStandardSchema(value: unknown): value is StandardSchema<unknown> {
  return typeof Object(Object(value)['~standard']).validate === 'function';
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
  quote: (text: string) => string,
): Promise<T> {
  let issues: ValidationIssue[];
  try {
    const result = await schema['~standard'].validate(value);
    if (result.issues === undefined) return await result.value; // a promise may reject
    issues = result.issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => ({
      path: path.map((step) => {
        const key = (step as { key?: unknown } | null)?.key ?? step;
        return typeof key === 'number' ? key : quote(String(key));
      }),
      message: quote(message),
    }));
  } catch (cause) {
    throw new ResponseValidationError('The schema threw. Its error is the cause.', { body, cause });
  }
  throw unexpectedResponse(issues, body, 'the given schema');
}
