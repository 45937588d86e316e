import * as z from 'zod/mini';
import { badRequest, Refusal } from './errors.js';

/** The body as bytes; a 413 as soon as it is larger than allowed, without reading on. */
export async function readBytes(request: Request, limit: number, param: string): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > limit) throw tooLarge(limit, param);
  // A small announced body is read in one piece, which is much the quickest way.
  if (announced > 0 && announced <= SMALL_BODY) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit, param);
    chunks.push(chunk);
  }
  return concatenate(chunks, size);
}

/** The value of a JSON text; 400 when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('body', 'The request body is not valid JSON', 'invalid_json');
  }
}

/** The value in the form of the schema; a 400 that names the first field that is not or, when strict, is not known. */
export function checked<T>(schema: z.ZodMiniType<T>, value: unknown, strict = false): T {
  const result = z.safeParse(schema, value);
  if (result.success) {
    const unknown = strict ? unknownField(value, result.data) : undefined;
    if (unknown === undefined) return result.data;
    throw badRequest(unknown, `${unknown} is not a documented field`, 'unknown_parameter');
  }
  const issue = result.error.issues[0];
  const param = issue?.path.map(String).join('.') || 'body';
  const missing = issue !== undefined && issue.code === 'invalid_type' && valueAt(value, issue.path) === undefined;
  if (missing) throw badRequest(param, `${param} is required`, 'missing_parameter');
  throw badRequest(param, `${param} is not valid: ${describe(issue)}`);
}

/** The parts of a multipart body; 400 when it is not one. */
export async function parseMultipart(bytes: Uint8Array, contentType: string | null): Promise<FormData> {
  if (contentType === null || !/^multipart\/form-data\s*;/i.test(contentType)) {
    throw badRequest('file', 'The request must be multipart/form-data', 'invalid_content_type');
  }
  try {
    return await new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { 'content-type': contentType },
    }).formData();
  } catch {
    throw badRequest('file', 'The multipart body could not be read', 'invalid_multipart');
  }
}

/** The first field, by its path, that the schema has not taken over. */
function unknownField(given: unknown, taken: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || typeof taken !== 'object' || taken === null) return undefined;
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(taken, name)) return name;
    const inner = unknownField(value, (taken as Record<string, unknown>)[name]);
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}

function describe(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'unexpected value';
  if (issue.code === 'invalid_value') return `expected one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') return `expected ${issue.expected}`;
  if (issue.code === 'too_big') return `at most ${String(issue.maximum)}`;
  if (issue.code === 'too_small') return `at least ${String(issue.minimum)}`;
  return 'unexpected value';
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let inner: unknown = value;
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined;
    inner = (inner as Record<PropertyKey, unknown>)[key];
  }
  return inner;
}

function tooLarge(limit: number, param: string): Refusal {
  const code = param === 'file' ? 'file_too_large' : 'body_too_large';
  return new Refusal(413, `The ${param} is larger than ${limit} bytes`, { param, code });
}

function concatenate(chunks: Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

const SMALL_BODY = 1024 * 1024;
