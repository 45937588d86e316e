import * as z from 'zod/mini';
import { type RequestOptions, RequestValidationError } from '../index.js';
import { addHeaders } from '../validation/headers.js';
import { booleanOption, isFunction, option, timeOption } from '../validation/options.js';
import { type AnySchema, findIssues } from '../validation/schema-issues.js';

const isText = (value: unknown): boolean => typeof value === 'string';
const isTokens = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const text = /* @__PURE__ */ option<string>(isText, 'must be a string');
const tokens = /* @__PURE__ */ option<number>(isTokens, 'must be a whole number of tokens');
const isKey = (value: unknown) => typeof value === 'string' && value.trim() !== '';
const isTemperature = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 2;
const isSignal = (value: unknown): boolean => {
  const { aborted, addEventListener, removeEventListener } = Object(value);
  return typeof aborted === 'boolean' && isFunction(addEventListener) && isFunction(removeEventListener);
};
const signal = /* @__PURE__ */ option(isSignal, 'must be an AbortSignal, such as controller.signal');
const max_tokens = /* @__PURE__ */ option(
  (value) => isTokens(value) && value !== 0,
  'must be a whole number of tokens, at least 1',
);
const maxRetries = /* @__PURE__ */ option(
  (value) => isTokens(value) && (value as number) <= 5,
  'must be a whole number from 0 to 5',
);
const newest = /* @__PURE__ */ option(
  (value) => value === null || isText(value),
  'must be the id of a message, or null',
);

const nameOf = (tool: unknown): unknown => Object(Object(tool).function).name;
/** Tools, which `tool` has checked, or a service checks. Of two with one name, only the first would run. */
export const toolsOption = /* @__PURE__ */ option(
  (value) => Array.isArray(value) && new Set(value.map(nameOf).filter(isText)).size === value.length,
  'must be an array of tools with different names: [tool({ name, execute })]',
);

const turnOptionsSchema = /* @__PURE__ */ z.strictObject({
  signal,
  timeout: timeOption,
  deadline: timeOption,
  background: booleanOption,
  newest,
  tools: toolsOption,
  maxSteps: /* @__PURE__ */ option(isTokens, 'must be a whole number of steps'),
  temperature: /* @__PURE__ */ option(isTemperature, 'must be a number from 0 to 2'),
  max_tokens,
  maxRetries,
  streamIdleTimeout: timeOption,
  headers: /* @__PURE__ */ z.optional(/* @__PURE__ */ z.unknown()), // checked below
  idempotencyKey: /* @__PURE__ */ option(isKey, 'must be a non-empty string'),
});

export const prepareOptionsSchema = /* @__PURE__ */ z.strictObject({
  signal,
  timeout: timeOption,
  deadline: timeOption,
  maxRetries,
  max_tokens: tokens,
  newest,
  tools: toolsOption,
  instructions: text,
  edit: text,
  history: /* @__PURE__ */ option(Array.isArray, 'must be an array of { role, content }'),
});

export const searchOptionsSchema = /* @__PURE__ */ z.strictObject({
  signal,
  limit: /* @__PURE__ */ option(isTokens, 'must be a whole number of messages'),
});

export const messagesOptionsSchema = /* @__PURE__ */ z.strictObject({
  signal,
  before: text,
  limit: /* @__PURE__ */ option((value) => isTokens(value) && value !== 0, 'must be a whole number, at least 1'),
});

/** What stops any call. */
export const stopSchema = /* @__PURE__ */ z.object({ signal, timeout: timeOption, deadline: timeOption });

/** @throws {RequestValidationError} that names each bad option of a call, and says what it must be */
export function checkCallOptions(options: object, schema: AnySchema): void {
  const issues = findIssues(schema, options);
  if (issues !== undefined)
    throw new RequestValidationError(issues.map(({ path, message }) => ({ path: ['options', ...path], message })));
}

/** Checks options before the question is stored, and so before the client checks those of its request. */
export function checkTurnOptions(options: RequestOptions & { background?: boolean | undefined }): void {
  checkCallOptions(options, turnOptionsSchema);
  addHeaders({}, options.headers, 'authorization');
}
