import { isWellFormed } from '../base/unicode.js';
import { badArgument, ResponseValidationError } from '../errors/validation.js';

/** The deepest nesting. More is a mistake, for which JavaScript engines throw unhelpful errors. */
const MAX_DEPTH = 500;
/** Maximum characters of one JSON body. */
const MAX_LENGTH = 64 * 1024 * 1024;

/** Serialises an argument to JSON. Throws an error with the path of a value that JSON would lose or change. */
export function encodeJson(value: unknown): string {
  /** The objects around the value that is being written, from the outside in, and the name of the next one in each. */
  const holders: object[] = [];
  const keys: string[] = [];
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, written: unknown) {
    while (holders.length > 0 && holders[holders.length - 1] !== this) holders.pop(); // Hermes 0.12 has no `at`
    if (holders.length === 0) holders.push(this);
    keys[holders.length - 1] = key;
    const problem = findNotJson(written, this, key, holders);
    if (problem !== undefined) throw badArgument(pathIn(holders, keys), problem);
    if (typeof written === 'object' && written !== null) holders.push(written);
    return written;
  });
  if (json.length > MAX_LENGTH) throw badArgument([], `the request is longer than ${MAX_LENGTH} characters of JSON`);
  return json;
}

/** Returns `value` unchanged. @throws {ResponseValidationError} when it is nested too deeply */
export function checkDepth<T>(value: T, json: string): T {
  // Each level takes two characters, so a short text (nearly every event) needs no check.
  if (json.length <= 2 * MAX_DEPTH || !isDeeper(value, MAX_DEPTH)) return value;
  throw new ResponseValidationError(`The response is nested deeper than ${MAX_DEPTH} levels.`, { body: value });
}

/** A plain loop: checking a long response takes a tenth of the time of parsing it. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const part of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof part === 'object' && isDeeper(part, levels - 1)) return true;
  }
  return false;
}

/** `written` is what `toJSON` has returned, if the field has one. */
function findNotJson(
  written: unknown,
  holder: Readonly<Record<string, unknown>>,
  key: string,
  holders: readonly object[],
): string | undefined {
  switch (typeof written) {
    case 'string':
      return isWellFormed(written) ? undefined : 'must be well-formed Unicode';
    case 'number':
      return Number.isFinite(written) ? undefined : 'must be a finite number';
    case 'boolean':
      return undefined;
    case 'object':
      if (written !== null) return findBadObject(written, holders);
      return holder[key] instanceof Date ? 'must be a valid Date' : undefined;
    case 'undefined':
      // A field that is `undefined` is absent, in JSON as in TypeScript.
      if (holders.length > 1 && !Array.isArray(holder) && holder[key] === undefined) return undefined;
  }
  return `${typeof written} cannot be sent as JSON`;
}

function findBadObject(object: object, holders: readonly object[]): string | undefined {
  if (holders.includes(object)) return 'must not contain itself';
  if (holders.length > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`;
  if (Array.isArray(object)) return undefined;
  // JSON would silently turn Map, Set, bytes, Error and boxed values into `{}`.
  const kind = Object.prototype.toString.call(object);
  if (kind !== '[object Object]') return `${kind.slice(8, -1)} cannot be sent as JSON`;
  // The same for an instance whose class has getters or private fields only.
  if (isPlain(object) || Object.keys(object).length > 0) return undefined;
  return 'has no fields of its own; pass a plain object';
}

/** Whether an object has no class: its prototype is `null`, or `Object.prototype` of any realm. */
function isPlain(object: object): boolean {
  const proto: unknown = Object.getPrototypeOf(object);
  return proto === null || Object.getPrototypeOf(proto) === null;
}

/** The path to a value. Of one that is nested too deeply, its start. */
function pathIn(holders: readonly object[], keys: readonly string[]): (string | number)[] {
  const path = holders.map((holder, level) => (Array.isArray(holder) ? Number(keys[level]) : (keys[level] ?? '')));
  return path.slice(1, path.length > MAX_DEPTH ? 6 : undefined);
}
