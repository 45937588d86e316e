import * as z from 'zod/mini';
import { MAX_TIMER } from './runtime.js';
import { type AnySchema, didYouMean, fieldsOf, issuesOf, normalizeName } from './schema-issues.js';

/** A zod schema of an option: its check, and the message if the check fails. */
/* @__NO_SIDE_EFFECTS__ */
export function option<T>(fits: (value: unknown) => boolean, message: string) {
  return z.optional(z.custom<T>(fits, message));
}

export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isTime = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= MAX_TIMER;

/** Milliseconds. */
export const timeOption = /* @__PURE__ */ option<number>(
  isTime,
  `must be a number of milliseconds above 0 and at most ${MAX_TIMER}`,
);
export const functionOption = /* @__PURE__ */ option<never>(isFunction, 'must be a function');
export const booleanOption = /* @__PURE__ */ option<boolean>(
  (value) => typeof value === 'boolean',
  'must be true or false',
);
export const undocumentedOption = /* @__PURE__ */ option<'send'>((value) => value === 'send', "must be 'send'");

/** What is wrong with options, in one sentence for a `ConfigurationError`; `undefined` if nothing is. */
export function findBadOptions(schema: AnySchema, options: object, owner: string): string | undefined {
  const issues = issuesOf(schema, options, (key) => unknownOption(key, schema, owner));
  const message = issues?.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
  return message?.replace(/[^?.]$/, '$&.');
}

/** The message for an option that does not exist. It suggests the right spelling, or lists the options that exist. */
export function unknownOption(key: string, schema: AnySchema, owner: string): string {
  const names = fieldsOf(schema);
  const meant = names.filter((name) => normalizeName(name) === normalizeName(key));
  return `is not an option of ${owner}${didYouMean(meant) || ` (it takes ${names.join(', ')})`}`;
}
