import { type Context, Hono } from 'hono';
import type { DescribedEndpoint, Endpoint } from '../base/endpoint.js';
import { HttpError } from '../base/errors.js';
import type { Exchange } from './exchange.js';
import { errorResponse, type PlainResponse } from './plain-response.js';

interface RouteEnv {
  Bindings: { exchange: Exchange };
}

/** The Hono context of a route. */
export type RouteContext = Context<RouteEnv>;

type AreaHandler = (c: RouteContext) => PlainResponse | Promise<PlainResponse>;

/**
 * The routes of one area. Hono finds the handler and passes its `PlainResponse` through, in place of a `Response`. The request
 * path handles what routes throw.
 */
export class AreaRoutes {
  readonly endpoints: DescribedEndpoint[] = [];
  readonly #app = new Hono<RouteEnv>();
  /** All paths, for any method. A second router, because Hono is much slower for a path with two handlers. */
  readonly #paths = new Hono<RouteEnv>();

  constructor() {
    for (const app of [this.#app, this.#paths]) {
      app.onError((error) => {
        throw error;
      });
    }
    this.#app.notFound((c) => this.#paths.fetch(c.req.raw, c.env));
    this.#paths.notFound(
      handlerOf((c) => {
        const message = `There is no endpoint ${c.req.method} ${c.req.path}; see the calls in the README`;
        return errorResponse(c.env.exchange.area, 404, message, { param: 'path', code: 'not_found' });
      }),
    );
  }

  /** Registers the methods of one path. Any other method is a 405. */
  route(path: string, methods: Record<string, Endpoint<AreaHandler>>): void {
    for (const [method, { handle, ...form }] of Object.entries(methods)) {
      this.endpoints.push({ method, path, ...form });
      this.#app.on(method, path, handlerOf(handle));
    }
    const allow = Object.keys(methods).join(', ');
    this.#paths.all(
      path,
      handlerOf((c) => {
        const { area, method } = c.env.exchange;
        const response = errorResponse(area, 405, `${method} is not allowed here; allowed: ${allow}`, {
          param: 'method',
        });
        response.headers.allow = allow;
        return response;
      }),
    );
  }

  async handle(exchange: Exchange): Promise<PlainResponse> {
    const response: PlainResponse | Response = await this.#app.fetch(exchange.request, { exchange });
    // For HEAD, Hono creates a `Response` of its own without a body.
    if (!(response instanceof Response)) return response;
    return { status: response.status, headers: Object.fromEntries(response.headers), body: null };
  }
}

/** Hono's types require a `Response`, but Hono only passes the value through. */
function handlerOf(handler: AreaHandler): (c: RouteContext) => Response {
  return handler as unknown as (c: RouteContext) => Response;
}

/** The value of a path parameter. */
export function pathParam(c: RouteContext, name: string): string {
  return c.req.param(name) ?? '';
}

/** A query parameter. Throws a 400 if it is missing or empty. */
export function requiredQuery(c: RouteContext, name: string): string {
  const value = c.req.query(name);
  if (value === undefined || value === '')
    throw new HttpError(400, `${name} is required`, { param: name, code: 'missing_parameter' });
  return value;
}
