import * as z from '#zod';
import { ResponseValidationError } from '../errors/validation.js';
import { isObject } from '../transport/arguments/validation.js';
import { completionFacts } from '../transport/response/completion-facts.js';
import type { ResponseSpec } from '../transport/response/service-response.js';
import type { OpenRecord } from './schemas.js';

/** The fields that may hold a list. */
const WRAPPERS = ['data', 'presets', 'integrations', 'items'];

const NAMES = ['id', 'name'] as const;

/** The fields are undocumented, so the check goes no further. */
const openResponseSchema = /* @__PURE__ */ z.custom<unknown>(
  isRecordOrList,
  'expected an array, or an object whose id and name are strings',
);

/** One undocumented record. */
export const RECORD: ResponseSpec<unknown, OpenRecord> = {
  schema: openResponseSchema,
  unwrap: recordIn,
  facts: completionFacts,
  undocumented: true,
};

/** A list of records. Returns the array, whether bare or wrapped. */
export const RECORDS: ResponseSpec<unknown, OpenRecord[]> = {
  schema: openResponseSchema,
  unwrap: listIn,
  undocumented: true,
};

/** In an optional field, `null` counts as absent. */
function recordIn(body: unknown): OpenRecord {
  for (const name of NAMES) if (isObject(body) && body[name] === null) delete body[name];
  return body as OpenRecord; // every field of it is optional or unknown
}

function listIn(body: unknown): OpenRecord[] {
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
