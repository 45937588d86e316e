import * as z from 'zod/mini';
import { isObject } from '../base/objects.js';
import { ResponseValidationError } from '../errors/validation.js';
import type { ResponseSpec } from '../response/service-response.js';

/** A record that the API does not document. Pass a `schema` to validate and type it. */
export type OpenRecord = {
  id?: string | undefined;
  name?: string | undefined;
  [field: string]: unknown;
};

/** The fields that may hold a list. */
const WRAPPERS = ['data', 'presets', 'integrations', 'items'];

const NAMES = ['id', 'name'] as const;

/** The fields are undocumented, so the check goes no further. */
const openResponseSchema = /* @__PURE__ */ z.custom<unknown>(
  isRecordOrList,
  'expected an array, or an object whose id and name are strings',
);
const RECORD: ResponseSpec<unknown, unknown> = {
  schema: openResponseSchema,
  unwrap: recordIn,
  undocumented: true,
};
const RECORDS: ResponseSpec<unknown, unknown> = { ...RECORD, unwrap: listIn };

/** One undocumented record. `T` is the type of the caller's schema, or the method's default. */
export function record<T>(): ResponseSpec<unknown, T> {
  return RECORD as ResponseSpec<unknown, T>;
}

/** A list of records. Returns the array, whether bare or wrapped. */
export function records<T>(): ResponseSpec<unknown, T> {
  return RECORDS as ResponseSpec<unknown, T>;
}

/** In an optional field, `null` counts as absent. */
function recordIn(body: unknown): unknown {
  for (const name of NAMES) if (isObject(body) && body[name] === null) delete body[name];
  return body;
}

function listIn(body: unknown): unknown[] {
  if (Array.isArray(body)) return body;
  const wrapped = WRAPPERS.map((name) => Object(body)[name]).find(Array.isArray); // `null` has no fields
  if (wrapped !== undefined) return wrapped;
  throw new ResponseValidationError(
    `The response is not an array, and has no array in ${WRAPPERS.join(', ')}. Use client.request() with a schema to read it.`,
    { issues: [{ path: [], message: 'expected an array' }], body },
  );
}

function isRecordOrList(body: unknown): boolean {
  if (!isObject(body)) return Array.isArray(body);
  return NAMES.every((name) => typeof (body[name] ?? '') === 'string');
}
