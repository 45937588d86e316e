import { boundIssues } from '../base/issues.js';
import { isObject } from '../base/objects.js';
import { type AnySchema, findIssues, repair } from '../validation/schema-issues.js';
import { unexpectedResponse } from '../validation/validate.js';
import { errorIn, saysWhy } from './error-details.js';
import type { ServiceResponse } from './service-response.js';

/**
 * Validates a part of the response. In an optional field, `null`
 * counts as absent, and is removed.
 * @throws {APIError} for an error in a form of its own; otherwise {ResponseValidationError}
 */
export function check(
  response: ServiceResponse,
  schema: AnySchema,
  value: unknown,
  tidy?: (value: unknown) => void,
): void {
  const found = findIssues(schema, value);
  if (found === undefined) return;
  const received = JSON.stringify(value);
  tidy?.(value);
  const isChanged = repair(schema, value) || tidy !== undefined;
  if (isChanged && findIssues(schema, value) === undefined) return;
  if (isChanged) restore(value, received);
  const { redactor, call } = response.source;
  if (!call?.reportsInvalid && saysWhy(value, redactor)) throw errorIn(response, value);
  // A path can contain text from the service, such as model names.
  const quoted = (key: string | number) => (typeof key === 'string' ? redactor.quote(key) : key);
  const issues = boundIssues(found.map(({ path, message }) => ({ path: path.map(quoted), message })));
  // `null` has no fields to return.
  if (!call?.reportsInvalid || value === null) throw unexpectedResponse(issues, value);
  call.reporter?.emit({ type: 'validation', issues });
}

/** Gives a value back the fields that it had. */
function restore(value: unknown, received: string): void {
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) Reflect.deleteProperty(value, name);
  Object.assign(value, JSON.parse(received));
}
