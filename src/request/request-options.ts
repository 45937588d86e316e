import * as z from 'zod/mini';
import { isObject, ownProperties } from '../base/objects.js';
import { badArgument, RequestValidationError } from '../errors/validation.js';
import { functionOption, isFunction, option, timeOption } from '../validation/options.js';
import { type AnySchema, findIssues } from '../validation/schema-issues.js';
import { isStandardSchema, type StandardSchema } from '../validation/validate.js';
import { checkedElsewhere, commonOptions } from './client-options.js';

/** Options of one call, always the last argument. They override the client's options. All times are milliseconds. */
export interface RequestOptions {
  /** Aborts the call, including its waits, retries and stream. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt. @see ClientOptions.timeout */
  timeout?: number | undefined;
  /** Milliseconds for the whole call. @default none */
  deadline?: number | undefined;
  /** The longest wait for the next event of a stream, in milliseconds. @default 120_000 */
  streamIdleTimeout?: number | undefined;
  /** Attempts after the first one, 0 to 5. @default 2 */
  maxRetries?: number | undefined;
  /** Headers of this request. They override the client's `defaultHeaders`; `null` leaves one of those out. */
  headers?: Headers | Readonly<Record<string, string | null | undefined>> | undefined;
  /**
   * Sent with every attempt, so that a service that supports it does the work only once. It is not documented whether
   * the service does, so the client still does not retry a POST whose response was lost. To retry it yourself, use the
   * same key.
   */
  idempotencyKey?: string | undefined;
}

/**
 * For responses that the API does not document: `schema` (zod, valibot, arktype or any Standard Schema) validates and
 * types what the method returns.
 */
export type SchemaOptions<T> = RequestOptions & {
  schema?: StandardSchema<T> | undefined;
};

const signal = /* @__PURE__ */ option<AbortSignal>(isSignal, 'must be an AbortSignal, such as controller.signal');

/** Options of `readChatCompletionStream`. */
export const readStreamOptionsSchema = /* @__PURE__ */ z.strictObject({
  signal,
  streamIdleTimeout: timeOption,
  decodeChunk: functionOption,
});

export const requestOptionsSchema = /* @__PURE__ */ z.strictObject({
  ...commonOptions,
  signal,
  headers: checkedElsewhere,
  idempotencyKey: /* @__PURE__ */ option<string>(
    (value) => typeof value === 'string' && value.trim() !== '',
    'must be a non-empty string',
  ),
});

const standardSchema = /* @__PURE__ */ z.custom<StandardSchema<unknown>>(
  isStandardSchema,
  'must be a Standard Schema (zod, valibot, arktype)',
);

/** Options of calls whose response is not documented. */
export const schemaOptionsSchema = /* @__PURE__ */ z.strictObject({
  schema: /* @__PURE__ */ z.optional(standardSchema),
  ...requestOptionsSchema.shape,
});

/** Options of a call that needs a schema. */
export const parseOptionsSchema = /* @__PURE__ */ z.strictObject({
  ...schemaOptionsSchema.shape,
  schema: standardSchema,
});

/** Options of uploads. */
export const uploadOptionsSchema = /* @__PURE__ */ z.strictObject({
  schema: schemaOptionsSchema.shape.schema,
  onProgress: functionOption,
  ...requestOptionsSchema.shape,
});

/** The options of a call without options. Shared, because creating the object takes 1 % of a call. */
const NO_OPTIONS: object = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ Object.create(null));

/** Copies and checks the options of one call. @throws {RequestValidationError} */
export function checkRequestOptions<Options extends RequestOptions>(
  given: Options | undefined,
  schema: AnySchema,
): Options {
  if (given === undefined) return NO_OPTIONS as Options; // the cast is true because every option is optional
  if (!isObject(given)) throw badArgument(['options'], 'expected an object, such as { signal }');
  const options = ownProperties(given);
  const issues = findIssues(schema, options);
  if (issues === undefined) return options;
  throw new RequestValidationError(issues.map(({ path, message }) => ({ path: ['options', ...path], message })));
}

/** A structural check, so that signals of polyfills and other realms work too. */
function isSignal(value: unknown): boolean {
  const signal = value as Partial<AbortSignal> | null;
  return (
    typeof signal?.aborted === 'boolean' &&
    isFunction(signal.addEventListener) &&
    isFunction(signal.removeEventListener)
  );
}
