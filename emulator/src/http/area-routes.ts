import type { DescribedEndpoint, Endpoint } from '../base/endpoint.js';
import { HttpError } from '../base/errors.js';
import { mention } from '../base/mention.js';
import type { Exchange } from './exchange.js';
import { errorResponse, type PlainResponse } from './plain-response.js';

/** A request at its route. */
export interface RouteContext {
  exchange: Exchange;
  /** The parameters of the path, by name. */
  params: Readonly<Record<string, string>>;
}

type AreaHandler = (c: RouteContext) => PlainResponse | Promise<PlainResponse>;
/** The endpoints of one path, by method. */
type Methods = Record<string, Endpoint<AreaHandler>>;

/**
 * The routes of one area. There are about ten, so that a path is found by its text or, with parameters, by its parts. The
 * request path handles what routes throw.
 */
export class AreaRoutes {
  readonly endpoints: DescribedEndpoint[] = [];
  readonly #paths = new Map<string, { parts: readonly string[]; methods: Methods }>();

  /** Registers an endpoint, such as `GET /v1/usage`. Methods of its path that are not registered are a 405. */
  add(name: string, endpoint: Endpoint<AreaHandler>): void {
    const [method = '', path = ''] = name.split(' ');
    const { handle: _, ...form } = endpoint;
    this.endpoints.push({ method, path, ...form });
    const known = this.#paths.get(path);
    if (known === undefined) this.#paths.set(path, { parts: path.split('/'), methods: { [method]: endpoint } });
    else known.methods[method] = endpoint;
  }

  async handle(exchange: Exchange): Promise<PlainResponse> {
    const { area, method, path } = exchange;
    const found = this.#find(path);
    if (found === undefined) {
      const all = this.endpoints.map((one) => `${one.method} ${one.path}`).join(', ');
      const message = `There is no endpoint ${method} ${mention(path)}. This API has ${all}`;
      return errorResponse(area, 404, message, { param: 'path', code: 'not_found' });
    }
    const { methods, params } = found;
    const endpoint = Object.hasOwn(methods, method) ? methods[method] : method === 'HEAD' ? methods.GET : undefined;
    if (endpoint === undefined) {
      const allow = Object.keys(methods).join(', ');
      const response = errorResponse(area, 405, `${method} is not allowed here; allowed: ${allow}`, {
        param: 'method',
      });
      response.headers.allow = allow;
      return response;
    }
    const response = await endpoint.handle({ exchange, params });
    return method === 'HEAD' ? { ...response, body: null } : response;
  }

  #find(path: string): { methods: Methods; params: Record<string, string> } | undefined {
    const fixed = path.includes(':') ? undefined : this.#paths.get(path);
    if (fixed !== undefined) return { methods: fixed.methods, params: {} };
    const given = path.split('/');
    for (const { parts, methods } of this.#paths.values()) {
      const params = paramsIn(given, parts);
      if (params !== undefined) return { methods, params };
    }
    return undefined;
  }
}

/** The parameters that a path has, if it is one of these parts. */
export function paramsIn(given: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  if (parts.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    const text = given[i] ?? '';
    if (!part.startsWith(':')) {
      if (part !== text) return undefined;
    } else if (text === '') return undefined;
    else params[part.slice(1)] = decoded(text);
  }
  return params;
}

/** A lone % is not an escape. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The value of a path parameter. */
export function pathParam({ params }: RouteContext, name: string): string {
  return params[name] ?? '';
}

/** The query. Of a parameter that is repeated, the first value counts. */
export function queryOf({ exchange }: RouteContext): Record<string, string> {
  const { search } = new URL(exchange.request.url);
  const values: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) if (!Object.hasOwn(values, name)) values[name] = value;
  return values;
}

/** A query parameter. Throws a 400 if it is missing or empty. */
export function requiredQuery(c: RouteContext, name: string): string {
  const value = queryOf(c)[name];
  if (value === undefined || value === '')
    throw new HttpError(400, `${name} is required`, { param: name, code: 'missing_parameter' });
  return value;
}
