import * as z from 'zod/mini';
import { json, type PlainResponse } from '../http/plain-response.js';

/** How lists are wrapped (A3). */
export type ListForm = (typeof LIST_FORMS)[number];
/** All ways to wrap lists. */
export const LIST_FORMS = ['data', 'bare', 'named', 'items'] as const;

/** The list of `GET`: the option `listForm` decides how it is wrapped (A3). */
export function list(form: ListForm, name: 'presets' | 'integrations', records: unknown[]): PlainResponse {
  if (form === 'bare') return json(records);
  if (form === 'named') return json({ [name]: records });
  return form === 'items' ? json({ items: records }) : json({ object: 'list', data: records });
}

/** The schema of a list in this form. */
export function listSchema(form: ListForm, name: 'presets' | 'integrations', record: z.ZodMiniType): z.ZodMiniType {
  const records = z.array(record);
  if (form === 'bare') return records;
  if (form === 'named') return z.object({ [name]: records });
  if (form === 'items') return z.object({ items: records });
  return z.object({ object: z.literal('list'), data: records });
}
