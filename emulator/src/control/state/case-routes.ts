import type { Context } from 'hono';
import * as z from 'zod/mini';
import packageJson from '../../../package.json' with { type: 'json' };
import { described } from '../../base/fields.js';
import { Slices } from '../../base/slices.js';
import type { RequestLog } from '../../http/log/request-log.js';
import { requestFilter, searchRequests } from '../../http/log/request-search.js';
import type { ControlRoutes } from '../control-routes.js';
import type { EmulatorParts } from '../parts.js';
import { caseForm, exportCase, type HiddenPart, openCase, openedCase } from './case.js';
import { asHar } from './har.js';
import { Mask } from './mask.js';

const exportQuery = z.object({
  ...requestFilter.shape,
  requests: z.optional(
    described('Ids, separated by commas, or `none`. By default, all that the filter finds.', z.string()),
  ),
  mask: z.optional(
    z.string().check(z.regex(/^(?:(?:keys|prompts)(?:,(?:keys|prompts))*)?$/, 'keys, prompts, or both with a comma')),
  ),
});

/** Cases and HTTP archives: requests as files. */
export function caseRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  const { log } = parts;
  const slices = new Slices();
  routes.add('GET /case', {
    id: 'exportCase',
    summary: 'Export requests with their faults, the scripted replies and all stored data, as one file',
    query: z.object({
      ...exportQuery.shape,
      state: z.optional(described('`false` leaves the stored data out.', z.enum(['true', 'false']))),
      note: z.optional(z.string()),
    }),
    responses: { 200: caseForm },
    handle: async ({ query }, c) => {
      const { mask, state, note, ...which } = query();
      const requests = await idsOf(log, which, slices);
      const options = { requests, masks: masksIn(mask), withState: state !== 'false', note };
      return asFile(c, 'case.json', exportCase(parts, options));
    },
  });
  routes.add('POST /case', {
    id: 'openCase',
    summary: 'Open an exported case: its data, faults and replies replace those that are there',
    query: z.object({
      rearm: z.optional(
        described(
          '`true`: the faults of its requests become rules for the next requests like them.',
          z.enum(['true', 'false']),
        ),
      ),
    }),
    body: caseForm,
    responses: { 200: openedCase },
    handle: async ({ json, query }) => {
      const { rearm } = query();
      return openCase(parts, await json(), rearm === 'true');
    },
  });
  routes.add('GET /har', {
    id: 'exportHar',
    summary: 'Export requests as an HTTP archive (HAR 1.2)',
    query: exportQuery,
    responses: { 200: z.object({ log: z.looseObject({ version: z.literal('1.2'), entries: z.array(z.unknown()) }) }) },
    handle: async ({ query }, c) => {
      const { mask, ...which } = query();
      const records = (await idsOf(log, which, slices)).flatMap((id) => log.find(id) ?? []);
      const hidden = new Mask(parts);
      const shown = masksIn(mask).includes('prompts') ? records.map((record) => hidden.request(record)) : records;
      return asFile(c, 'requests.har', asHar(shown, new URL(c.req.url).origin, packageJson.version));
    },
  });
}

/** The given requests, or those that the filter finds, oldest first. */
async function idsOf(
  log: RequestLog,
  { requests = '', ...filter }: z.infer<typeof exportQuery>,
  slices: Slices,
): Promise<string[]> {
  if (requests !== '') return requests === 'none' ? [] : requests.split(',');
  const found = await slices.run(searchRequests(log, { ...filter, limit: Number.POSITIVE_INFINITY }));
  return found.requests.map(({ requestId }) => requestId).reverse();
}

function masksIn(list = ''): HiddenPart[] {
  // The schema takes no other words.
  return list === '' ? [] : (list.split(',') as HiddenPart[]);
}

function asFile(c: Context, name: string, value: object): Response {
  return c.json(value, 200, { 'content-disposition': `attachment; filename="${name}"`, 'cache-control': 'no-store' });
}
