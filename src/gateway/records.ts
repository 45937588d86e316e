import { ResponseValidationError } from '../errors.js';
import type { AnswerForm } from '../transport/answer.js';
import { type OpenRecord, openAnswerSchema } from './schemas.js';

/** Where a list may be wrapped (A3). */
const WRAPPERS = ['data', 'presets', 'integrations', 'items'];

/** One record the interface does not describe. */
export const RECORD: AnswerForm<unknown, OpenRecord> = {
  schema: openAnswerSchema,
  pick: (body) => body as OpenRecord, // every field of it is optional or unknown
  undocumented: true,
};

/** A list of them, bare or wrapped: the caller gets one array either way. */
export const RECORDS: AnswerForm<unknown, OpenRecord[]> = {
  schema: openAnswerSchema,
  pick: listIn,
  undocumented: true,
};

function listIn(body: unknown): OpenRecord[] {
  if (Array.isArray(body)) return body;
  const wrapped = WRAPPERS.map((name) => Object(body)[name]).find(Array.isArray); // of `null` too there are no fields
  if (wrapped !== undefined) return wrapped;
  throw new ResponseValidationError(
    `The answer is no array, and has none as ${WRAPPERS.join(', ')}. Read it your way with client.request() and a schema.`,
    { issues: [{ path: [], message: 'expected a list' }], body },
  );
}
