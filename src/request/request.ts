import type { ValidationIssue } from '../base/issues.js';
import { isObject, ownProperties } from '../base/objects.js';
import { isWellFormed } from '../base/unicode.js';
import { badArgument, RequestValidationError } from '../errors/validation.js';
import type { Asked } from '../events/events.js';
import type { OutgoingRequest, Upload } from '../platform/engine.js';
import { encodeJson } from '../validation/json.js';
import { alike } from '../validation/nearest.js';
import { fieldsOf, findIssues, type Schema, unknownName } from '../validation/schema-issues.js';
import type { Base } from './base-url.js';
import { uploadOptionsSchema } from './request-options.js';

/** The HTTP method of a request. */
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
  /** The path with its query, the text of the body and its type, as the caller has written them. They are sent unchanged. */
  readonly written?: { readonly target: string; readonly text: string | undefined; readonly type: string | undefined };
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
  /** What the events of the call say of its request. */
  readonly asked: Asked;
};

const MAX_ID_LENGTH = 1_024;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;
/** One or two dots, also encoded. URL parsers resolve these as relative paths. */
const DOT_SEGMENT = /^(\.|%2e){1,2}$/i;
const PLAIN_PATH = /^(?:\/[\w-]+)+$/;

/** Checks the arguments and serialises them once, so that later changes by the caller do not affect a retry. */
export function prepare(endpoint: Endpoint, base: Base, headers: Record<string, string>): PreparedRequest {
  const { method, accepts, body, query, ids, takesAnyField, written } = endpoint;
  // Check ids first: a caller who passes one object gets "presetId: expected string".
  const path = written?.target ?? base.prefix + encodePath(endpoint.path, ids);
  const given = body ?? query;
  const checked = accepts === undefined ? {} : checkArguments(accepts, given ?? {}, takesAnyField);
  const sent = endpoint.shape === undefined ? given : endpoint.shape(checked);
  const upload = endpoint.upload?.(checked);
  if (written === undefined) assertOrigin(base, path);
  const json = written?.text ?? (body === undefined || upload !== undefined ? undefined : encodeJson(sent));
  const usualType = upload === undefined ? json && 'application/json' : upload.contentType;
  const contentType = written === undefined ? usualType : written.type;
  if (contentType !== undefined) headers['content-type'] = contentType;
  const search = encodeQuery(body === undefined ? (sent as object | undefined) : query); // a body is not in the URL
  const address = base.origin + base.prefix + endpoint.path;
  const isOfModel = accepts !== undefined && fieldsOf(accepts).includes('model');
  const asked = askedOf(isOfModel ? checked : written === undefined ? {} : Object(body));
  return { method, origin: base.origin, target: path + search, address, headers, body: json, upload, asked };
}

/** What checked arguments ask of a model. Those without a schema of their own are not validated. */
function askedOf(checked: object): Asked {
  const { model, temperature, max_tokens, max_completion_tokens, response_format } = checked as Record<string, unknown>;
  const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  const type = Object(response_format).type;
  return {
    model: typeof model === 'string' ? model : undefined,
    temperature: numberIn(temperature),
    maxTokens: numberIn(max_tokens ?? max_completion_tokens),
    outputType: typeof type === 'string' ? (type === 'text' ? 'text' : 'json') : undefined,
  };
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
    if (alike(key, known).length > 0) return { path: [key], message: unknownName(key, known) };
    const isOption = fieldsOf(uploadOptionsSchema).includes(key);
    return isOption ? { path: [key], message: 'is an option of the call: pass it in the last argument' } : [];
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

/** Makes sure that the credential is sent only to the configured origin and exactly this path. */
function assertOrigin(base: Base, path: string): void {
  if (PLAIN_PATH.test(path)) return; // parsing a URL takes 2 µs, and would change nothing here
  // A path of this form always parses.
  const url = /^\/[^?#{}\\]*$/.test(path) ? new URL(base.origin + path) : undefined;
  if (url?.origin === base.origin && url.pathname === path) return;
  const message = 'must be a plain, encoded path such as /v1/usage, without . and ..; pass query parameters in query';
  throw badArgument(['path'], message);
}
