import { isWellFormed } from '../../base/unicode.js';
import { badArgument, type RequestValidationError, ResponseValidationError } from '../../errors/validation.js';

/** The deepest nesting. More is a mistake, for which JavaScript engines throw unhelpful errors. */
const MAX_DEPTH = 500;
/** Maximum characters of one JSON body. */
const MAX_LENGTH = 64 * 1024 * 1024;

/** Serialises an argument to JSON. Throws an error with the path of a value that JSON would lose or change. */
export function encodeJson(value: unknown): string {
  assertJson(value, [], []);
  const json = JSON.stringify(value);
  if (json.length > MAX_LENGTH) throw badArgument([], `the request is longer than ${MAX_LENGTH} characters of JSON`);
  return json;
}

/** Parses JSON. Returns `undefined` for invalid JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

type Path = (string | number)[];

function assertJson(value: unknown, path: Path, above: object[]): void {
  switch (typeof value) {
    case 'string':
      if (!isWellFormed(value)) throw notJson(path, 'must be well-formed Unicode');
      return;
    case 'number':
      if (!Number.isFinite(value)) throw notJson(path, 'must be a finite number');
      return;
    case 'boolean':
      return;
    case 'object':
      if (value !== null) assertJsonObject(value, path, above);
      return;
    default:
      throw notJson(path, `${typeof value} cannot be sent as JSON`);
  }
}

function assertJsonObject(given: object, path: Path, above: object[]): void {
  if (above.includes(given)) throw notJson(path, 'must not contain itself');
  if (above.length >= MAX_DEPTH) throw notJson(path.slice(0, 5), `must not be nested deeper than ${MAX_DEPTH} levels`);
  above.push(given);
  if (given instanceof Date && Number.isNaN(given.getTime())) throw notJson(path, 'must be a valid Date');
  const object = inJson(given, path);
  if (typeof object !== 'object' || object === null) {
    assertJson(object, path, above);
  } else if (Array.isArray(object)) {
    for (let at = 0; at < object.length; at += 1) assertField(object[at], at, path, above);
  } else {
    // JSON would silently turn Map, Set, bytes, Error and boxed values into `{}`.
    const kind = Object.prototype.toString.call(object);
    if (kind !== '[object Object]') throw notJson(path, `${kind.slice(8, -1)} cannot be sent as JSON`);
    const keys = Object.keys(object);
    // The same for an instance whose class has getters or private fields only.
    if (keys.length === 0 && !isPlain(object)) throw notJson(path, 'has no fields of its own; pass a plain object');
    for (const key of keys) {
      const field = (object as Record<string, unknown>)[key];
      // A field that is `undefined` is absent, in JSON as in TypeScript.
      if (field !== undefined) assertField(field, key, path, above);
    }
  }
  above.pop();
}

/** What JSON contains for an object. `toJSON` gets the name of the field, and is not called again on its own result. */
function inJson(object: object, path: Path): unknown {
  if (!('toJSON' in object) || typeof object.toJSON !== 'function') return object;
  return object.toJSON(String(path.at(-1) ?? ''));
}

/** Whether an object has no class: its prototype is `null`, or `Object.prototype` of any realm. */
function isPlain(object: object): boolean {
  const proto: unknown = Object.getPrototypeOf(object);
  return proto === null || Object.getPrototypeOf(proto) === null;
}

/** Checks one field. All levels share one `path`, which is copied only for an issue. */
function assertField(value: unknown, key: string | number, path: Path, above: object[]): void {
  path.push(key);
  assertJson(value, path, above);
  path.pop();
}

function notJson(path: Path, message: string): RequestValidationError {
  return badArgument([...path], message);
}
