import type { ValidationIssue } from '../../base/issues.js';
import { isObject, ownProperties } from '../../base/objects.js';
import { fieldsOf, normalizeName, type Schema, unknownFields } from '../../base/schema-issues.js';
import { isWellFormed } from '../../base/unicode.js';
import { ConfigurationError } from '../../errors/base.js';
import { badArgument, RequestValidationError } from '../../errors/validation.js';
import type { OutgoingRequest, Upload } from '../../platform/engine.js';
import type { Base } from './base-url.js';
import { encodeJson } from './json.js';
import { uploadOptionsSchema } from './request-options.js';
import { findIssues } from './validation.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Query parameters. `undefined` values are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The facts of a request that differ between methods. */
export interface Endpoint {
  readonly method: Method;
  /** The path as documented: `/api/memory/{memoryId}`. */
  readonly path: string;
  /** The values of the `{names}` in the path. */
  readonly ids?: Readonly<Record<string, string>> | undefined;
  readonly query?: object | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The schema of the body, or of the query if there is no body. */
  readonly accepts?: Schema<object>;
  /** The body may have a field of any name, also one that looks like a mistake. */
  readonly takesAnyField?: boolean;
  /** Turns the checked body or query into the one that is sent. */
  shape?(checked: object): object;
  /** Turns the checked body into an upload, which is sent instead. */
  upload?(checked: object): Upload;
  /** The `accept` header. @default application/json */
  readonly accept?: string | undefined;
  /** The name of a separate rate limit within the area. */
  readonly bucket?: string;
  /** The default timeout of one attempt, in milliseconds. @default 60_000 */
  readonly timeout?: number | undefined;
}

/** An endpoint, or a function that checks one which the caller wrote. If it throws, the call rejects. */
export type EndpointSource = Endpoint | (() => Endpoint);

/** A complete request except for the credential, which is read for each attempt. */
export type PreparedRequest = Omit<OutgoingRequest, 'body'> & {
  /** The path, with `{names}` instead of ids. */
  readonly address: string;
  readonly body: string | undefined;
  readonly upload: Upload | undefined;
  /** The requested model, for events. */
  readonly model: unknown;
};

const MAX_ID_LENGTH = 1_024;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;
/** One or two dots, also encoded. URL parsers resolve these as relative paths. */
const DOT_SEGMENT = /^(\.|%2e){1,2}$/i;

/** Checks the arguments and serialises them once, so that later changes by the caller do not affect a retry. */
export function prepare(endpoint: Endpoint, base: Base, headers: Record<string, string>): PreparedRequest {
  const { method, accepts, body, query, ids, takesAnyField } = endpoint;
  // Check ids first: a caller who passes one object gets "presetId: expected string".
  const path = base.prefix + encodePath(endpoint.path, ids);
  const given = body ?? query;
  const checked = accepts === undefined ? {} : checkArguments(accepts, given ?? {}, takesAnyField);
  const sent = endpoint.shape === undefined ? given : endpoint.shape(checked);
  const upload = endpoint.upload?.(checked);
  assertOrigin(base, path);
  const json = body === undefined || upload !== undefined ? undefined : encodeJson(sent);
  const contentType = upload === undefined ? json && 'application/json' : upload.contentType;
  if (contentType !== undefined) headers['content-type'] = contentType;
  const search = encodeQuery(body === undefined ? (sent as object | undefined) : query); // a body is not in the URL
  const address = base.origin + base.prefix + endpoint.path;
  const model = accepts !== undefined && fieldsOf(accepts).includes('model') ? Object(checked).model : undefined;
  return { method, origin: base.origin, path: path + search, address, headers, body: json, upload, model };
}

/**
 * Checks a caller's parameters and returns a copy of their own fields: zod would report inherited ones as unknown, which
 * are never sent.
 *
 * @throws {RequestValidationError} that names each invalid field and what was expected
 */
export function checkArguments<Params extends object>(
  schema: Schema<Params>,
  given: unknown,
  takesAnyField = false,
): Params {
  const known = fieldsOf(schema);
  if (!isObject(given)) throw badArgument([], `expected an object with named fields, such as { ${known.join(', ')} }`);
  const params = ownProperties(given);
  const misplaced = takesAnyField ? [] : misplacedFields(params, known);
  const issues = misplaced.length > 0 ? misplaced : findIssues(schema, params);
  if (issues === undefined) return params as Params;
  throw new RequestValidationError(issues);
}

/** Fields that are certainly wrong: an option of the call, or another spelling of a parameter, such as `maxTokens`. */
function misplacedFields(params: Readonly<Record<string, unknown>>, known: readonly string[]): ValidationIssue[] {
  return Object.keys(params).flatMap((key) => {
    if (known.includes(key) || params[key] === undefined) return [];
    if (known.some((name) => normalizeName(name) === normalizeName(key)))
      return [{ path: [], message: unknownFields([key], known) }];
    const isOption = fieldsOf(uploadOptionsSchema).includes(key);
    return isOption ? [{ path: [key], message: 'is an option of the call: pass it in the last argument' }] : [];
  });
}

/** Puts ids into a path, each as exactly one segment. */
export function encodePath(template: unknown, ids: Readonly<Record<string, string>> | undefined): string {
  if (typeof template !== 'string') throw badArgument(['path'], 'expected string');
  if (ids === undefined) return template;
  for (const [name, id] of Object.entries(ids)) checkId(id, name); // also one that is sent in the body
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(checkId(ids[name], name)));
}

/** Checks that an id is a string that can be one path segment. */
function checkId(id: unknown, name: string): string {
  const problem = findBadId(id);
  if (problem !== undefined) throw badArgument([name], problem);
  return id as string; // checked by `findBadId`
}

function findBadId(id: unknown): string | undefined {
  if (typeof id !== 'string') return 'expected string';
  if (id.trim() === '') return 'must not be empty';
  if (id.length > MAX_ID_LENGTH) return `must not be longer than ${MAX_ID_LENGTH} characters`;
  if (DOT_SEGMENT.test(id)) return 'must not be . or .., which would change the path';
  if (CONTROL_CHARACTERS.test(id)) return 'must not contain control characters';
  if (!isWellFormed(id)) return 'must be well-formed Unicode';
  return undefined;
}

function encodeQuery(query: object | undefined): string {
  if (query === undefined) return '';
  const parts: string[] = [];
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined) continue;
    const text = String(value);
    if (!isWellFormed(text)) throw badArgument([key], 'must be well-formed Unicode');
    parts.push(`${encodeURIComponent(key)}=${encodeURIComponent(text)}`);
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

const PLAIN_PATH = /^(?:\/[\w-]+)+$/;

/** Makes sure that the credential is sent only to the configured origin and exactly this path. */
function assertOrigin(base: Base, path: string): void {
  if (PLAIN_PATH.test(path)) return; // parsing a URL takes 2 µs, and would change nothing here
  // A path of this form always parses.
  const url = /^\/[^?#{}\\]*$/.test(path) ? new URL(base.origin + path) : undefined;
  if (url?.origin === base.origin && url.pathname === path) return;
  const message = 'must be a plain, encoded path such as /v1/usage, without . and ..; pass query parameters in query';
  throw badArgument(['path'], message);
}

/** Headers that carry the credential, or frame the message and are set by the engine. */
const RESERVED = new Set([
  ...['authorization', 'proxy-authorization', 'host', 'content-length', 'content-type', 'transfer-encoding'],
  ...['connection', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect', 'cookie'],
]);
/** The reserved headers that may carry a credential. */
export const FOR_CREDENTIALS = ['authorization', 'cookie'];
/** Any HTTP token except `__proto__`, which would set the prototype of an object. */
const HEADER_NAME = /^(?!__proto__$)[!#$%&'*+.^_`|~0-9a-z-]+$/;
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Checks the user's headers and converts their names to lower case. An error names the header, never its value. */
export function checkHeaders(
  given: Readonly<Record<string, string | undefined>> | undefined,
  credentialHeader: string,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (given === undefined) return headers;
  for (const [key, value] of headerEntries(given)) {
    if (value === undefined) continue;
    const name = key.toLowerCase();
    const problem = Object.hasOwn(headers, name) ? 'is set twice' : findBadHeader(name, value, credentialHeader);
    if (problem !== undefined) throw badArgument(['headers', key], problem);
    headers[name] = value;
  }
  return headers;
}

/** Rejects a `Headers` or an array of pairs: `Object.entries` would silently lose their headers. */
function headerEntries(given: object): [string, string | undefined][] {
  if (Object.prototype.toString.call(given) === '[object Object]') return Object.entries(given);
  const message = 'must be a plain object, such as Object.fromEntries(headers)';
  throw badArgument(['headers'], message);
}

function findBadHeader(name: string, value: unknown, credentialHeader: string): string | undefined {
  if (!HEADER_NAME.test(name)) return 'is not a valid header name';
  if (name === credentialHeader)
    return 'is the header of the credential; pass the credential to the constructor instead';
  if (RESERVED.has(name)) return 'is set by the client itself';
  if (typeof value !== 'string' || !HEADER_VALUE.test(value)) return 'must be a string of printable Latin-1 characters';
  return undefined;
}

/** Checks the name of a header for a credential or an idempotency key. `also` lists reserved names that are allowed. */
export function checkHeaderName(name: unknown, option: string, also: readonly string[] = []): string {
  const lower = typeof name === 'string' ? name.toLowerCase() : '';
  const taken = (RESERVED.has(lower) && !also.includes(lower)) || lower === 'accept';
  if (!HEADER_NAME.test(lower) || taken) {
    throw new ConfigurationError(
      `${option} must be a valid header name that the client does not use, such as 'X-Session-Token'.`,
    );
  }
  return lower;
}
