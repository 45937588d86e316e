import * as z from 'zod/mini';
import { isObject } from '../base/objects.js';
import { MAX_TIMER } from '../base/runtime.js';
import { ConfigurationError } from '../errors/base.js';
import { nearest } from './nearest.js';
import { type AnySchema, findIssues, unknownName } from './schema-issues.js';

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

export const countOption = /* @__PURE__ */ option<number>(
  (value) => Number.isInteger(value) && (value as number) > 0,
  'must be a whole number, at least 1',
);

/** What is wrong with options, in one sentence for a `ConfigurationError`; `undefined` if nothing is. */
export function findBadOptions(schema: AnySchema, options: object): string | undefined {
  const message = findIssues(schema, options)
    ?.map(({ path, message }) => `${path.join('.')} ${message}`)
    .join('; ');
  return message?.replace(/[^?.]$/, '$&.');
}

/** Makes a check of the options of a function. It throws a `ConfigurationError` that names all invalid ones. */
/* @__NO_SIDE_EFFECTS__ */
export function optionsCheck(shape: Readonly<Record<string, AnySchema>>): (options: object) => void {
  const schema = z.strictObject(shape);
  return (options) => {
    if (!isObject(options)) throw new ConfigurationError('The options must be an object.');
    const problem = findBadOptions(schema, options);
    if (problem !== undefined) throw new ConfigurationError(problem);
  };
}

/** Which functions of an object are misspelled, for the end of a message that says what it must have. */
export function misspelled(value: unknown, known: readonly string[]): string {
  const missing = known.filter((name) => !(name in Object(value)));
  if (missing.length === 0) return ''; // as nearly always: a server opens a conversation for each request
  const names = new Set<string>();
  for (let part = Object(value); part !== null; part = Object.getPrototypeOf(part))
    for (const name of Object.getOwnPropertyNames(part)) names.add(name);
  const wrong = [...names].filter((name) => !known.includes(name) && nearest(name, missing, 4).length > 0);
  return wrong.map((name) => ` ${name} ${unknownName(name, missing)}`).join('');
}
