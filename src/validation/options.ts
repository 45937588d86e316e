import * as z from 'zod/mini';
import { MAX_TIMER } from '../base/runtime.js';
import { type AnySchema, findIssues } from './schema-issues.js';

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

/** What is wrong with options, in one sentence for a `ConfigurationError`; `undefined` if nothing is. */
export function findBadOptions(schema: AnySchema, options: object): string | undefined {
  const message = findIssues(schema, options)
    ?.map(({ path, message }) => `${path.join('.')} ${message}`)
    .join('; ');
  return message?.replace(/[^?.]$/, '$&.');
}
