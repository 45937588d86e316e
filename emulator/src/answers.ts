import { type Context, type Handler, Hono } from 'hono';
import { type Area, defaultMessage, errorBody, Refusal, type RefusalDetails } from './errors.js';
import type { Exchange } from './exchange.js';

/** What every route gets from the request path. */
export interface RouteEnv {
  Bindings: { exchange: Exchange };
}

/** A context of our routes. */
export type RouteContext = Context<RouteEnv>;

/** A JSON answer. */
export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });
}

/** An error in the form of the area. */
export function errorAnswer(
  area: Area,
  status: number,
  message = defaultMessage(status),
  details: RefusalDetails = {},
): Response {
  const response = json(errorBody(area, status, message, details), status);
  // The Context API's error body has no room for the wait (A30); the Gateway documents it in the body.
  if (status === 429 && area === 'context') response.headers.set('retry-after', String(details.retryAfter ?? 1));
  return response;
}

/** An app of one area: what it does not know is a 404, and what its routes throw is left to the request path. */
export function areaRoutes(): Hono<RouteEnv> {
  const app = new Hono<RouteEnv>();
  app.notFound((c) =>
    errorAnswer(c.env.exchange.area, 404, 'This endpoint does not exist', { param: 'path', code: 'not_found' }),
  );
  app.onError((error) => {
    throw error;
  });
  return app;
}

/** Register the methods of one path; any other method is a 405. */
export function route(
  app: Hono<RouteEnv>,
  path: string,
  methods: Record<string, (c: RouteContext) => Response | Promise<Response>>,
): void {
  for (const [method, handler] of Object.entries(methods)) app.on(method, path, handler as Handler<RouteEnv>);
  const allow = Object.keys(methods).join(', ');
  app.all(path, (c) => {
    const { area, method } = c.env.exchange;
    const response = errorAnswer(area, 405, `${method} is not allowed here; allowed: ${allow}`, { param: 'method' });
    response.headers.set('allow', allow);
    return response;
  });
}

/** A path parameter that the router has matched. */
export function pathParam(c: RouteContext, name: string): string {
  return c.req.param(name) ?? '';
}

/** A query value that must be there. */
export function requiredQuery(c: RouteContext, name: string): string {
  const value = c.req.query(name);
  if (value === undefined || value === '')
    throw new Refusal(400, `${name} is required`, { param: name, code: 'missing_parameter' });
  return value;
}
