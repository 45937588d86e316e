import { type Context, Hono } from 'hono';
import * as z from 'zod/mini';
import { checked, parseJson } from '../base/checked.js';
import type { DescribedEndpoint, Endpoint } from '../base/endpoint.js';
import { HttpError } from '../base/errors.js';
import { id } from '../base/fields.js';
import { mention } from '../base/mention.js';
import { redact } from '../base/redact.js';
import { readBytes } from '../http/body.js';

/**
 * An endpoint of the control plane. What `handle` returns is sent as JSON, with the status that `responses` has;
 * a `Response` is sent as it is. Without `responses`, it only acts, and says that it did.
 */
interface ControlEndpoint<Body, Query>
  extends Omit<Endpoint<(given: Given<Body, Query>, c: Context) => unknown>, 'responses'> {
  body?: z.ZodMiniType<Body>;
  query?: z.ZodMiniType<Query>;
  responses?: DescribedEndpoint['responses'];
}

/** A request at its route. */
interface Given<Body, Query> {
  /** The `:id` of the path. */
  id: string;
  /** Another parameter of the path. */
  param(name: string): string;
  /** The JSON body. An empty one is `{}`. */
  json(): Promise<unknown>;
  /** The same, checked. Throws a 400 that names the first missing, invalid or unknown field. */
  body(): Promise<Body>;
  /** The query, checked as the body is. */
  query(): Query;
}

/** The routes of the control plane, and their descriptions. */
export class ControlRoutes {
  readonly endpoints: DescribedEndpoint[] = [];
  /** Private, so that no route can be added without a description. */
  readonly #app = new Hono({ strict: false });

  constructor() {
    this.#app.notFound((c) => c.json({ error: `there is no ${c.req.method} ${mention(c.req.path)}` }, 404));
    this.#app.onError((error, c) => {
      const status = error instanceof HttpError ? error.status : error instanceof RangeError ? 400 : 500;
      return c.json({ error: redact(error.message) }, status as 400);
    });
  }

  /** Registers an endpoint under `/_emulator`, such as `POST /clock`. */
  add<Body, Query>(name: string, { handle, responses = DONE, ...form }: ControlEndpoint<Body, Query>): void {
    const [method = '', below = ''] = name.split(' ');
    const path = PREFIX + below;
    this.endpoints.push({ method, path, ...form, responses });
    const [status] = Object.keys(responses).map(Number);
    this.#app.on(method, path, async (c) => {
      const param = (name: string): string => c.req.param(name) ?? '';
      const json = async (): Promise<unknown> =>
        parseJson(new TextDecoder().decode(await readBytes(c.req.raw, BODY_LIMIT, 'body')) || '{}');
      const given = {
        id: param('id'),
        param,
        json,
        body: async () => checked(form.body as z.ZodMiniType<Body>, await json(), true),
        query: () => checked(form.query as z.ZodMiniType<Query>, c.req.query(), true),
      };
      const result = await handle(given, c);
      return result instanceof Response ? result : c.json(responses === DONE ? { ok: true } : result, status as 200);
    });
  }

  handle(request: Request): Response | Promise<Response> {
    return this.#app.fetch(request);
  }
}

const DONE = { 200: z.object({ ok: z.literal(true) }) };

/** The response with the id of what was added. */
export const idResponse = z.object({ id });

/** The path of the control plane. */
export const PREFIX = '/_emulator';

/** A whole number in a query. */
export const wholeNumber = z.string().check(z.regex(/^\d{1,12}$/, 'a whole number'));
/** How many records a page of a list has. */
export const pageSize = z.string().check(z.regex(/^[1-9]\d{0,2}$|^1000$/, 'a whole number from 1 to 1000'));

/** Returns the record, or throws a 404. */
export function found<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new HttpError(404, `there is no such ${what}`);
  return record;
}

/** An endpoint that deletes one record, or responds with 404. */
export function deletion(
  id: string,
  what: string,
  remove: (given: Given<unknown, unknown>) => boolean | Promise<boolean>,
): ControlEndpoint<unknown, unknown> {
  return {
    id,
    summary: `Delete a ${what}`,
    handle: async (given) => {
      if (!(await remove(given))) throw new HttpError(404, `there is no such ${what}`);
    },
  };
}

const BODY_LIMIT = 256 * 1024 * 1024;
