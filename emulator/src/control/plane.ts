import type { Context, Hono } from 'hono';
import { parseJson, readBytes } from '../body.js';
import { Refusal } from '../errors.js';

/** The app of the control plane. */
export type Plane = Hono;

/** The JSON body of a control request; an empty one is `{}`. */
export async function bodyOf(c: Context): Promise<unknown> {
  return parseJson(new TextDecoder().decode(await readBytes(c.req.raw, BODY_LIMIT, 'body')) || '{}');
}

/** The record, or a 404. */
export function found<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new Refusal(404, `there is no such ${what}`);
  return record;
}

const BODY_LIMIT = 256 * 1024 * 1024;
