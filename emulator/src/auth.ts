import { Refusal } from './errors.js';
import type { IdSource } from './random.js';

/** What a key may do. */
export type ApiKeyKind = 'secret' | 'publishable';

/** The account's API keys: those every emulator has, and further ones for rotation. */
export class ApiKeys {
  readonly #ids: IdSource;
  readonly #kinds = new Map<string, ApiKeyKind>();
  /** A secret key: everything. */
  readonly secret: string;
  /** A publishable key: what `publishableEndpoints` names. */
  readonly publishable: string;

  constructor(ids: IdSource) {
    this.#ids = ids;
    this.secret = this.create('secret');
    this.publishable = this.create('publishable');
  }

  /** One more key. */
  create(kind: ApiKeyKind): string {
    // "local" marks it: never to be taken for a key of the real service.
    const key = `${kind === 'secret' ? 'svc_sk_' : 'svc_pk_'}local_${this.#ids.token(`key/${kind}`, 24)}`;
    this.#kinds.set(key, kind);
    return key;
  }

  /** Invalidate a key at once; tells whether there was such a key. */
  delete(key: string): boolean {
    return this.#kinds.delete(key);
  }

  /** @internal */
  kind(key: string): ApiKeyKind | undefined {
    return this.#kinds.get(key);
  }

  /** @internal */
  all(): string[] {
    return [...this.#kinds.keys()];
  }

  /** @internal Only the two first keys again; the ids have been started again, so they come out the same. */
  restore(): void {
    this.#kinds.clear();
    this.create('secret');
    this.create('publishable');
  }
}

/** A signed-in user. */
export interface Session {
  token: string;
  userId: string;
}

/** Session tokens and whose they are. */
export class Sessions {
  readonly #ids: IdSource;
  readonly #users = new Map<string, string>();
  /** The session every emulator has. */
  readonly first: Session;

  constructor(ids: IdSource) {
    this.#ids = ids;
    this.first = this.create();
  }

  /** Sign a user in; without an id a new user. */
  create(options: { userId?: string | undefined } = {}): Session {
    const userId = options.userId ?? this.#ids.next('user');
    const token = `session_local_${this.#ids.token('session', 24)}`;
    this.#users.set(token, userId);
    return { token, userId };
  }

  /** End a session: its token is no longer valid. */
  expire(token: string): boolean {
    return this.#users.delete(token);
  }

  /** @internal */
  user(token: string): string | undefined {
    return this.#users.get(token);
  }

  /** @internal */
  all(): string[] {
    return [...this.#users.keys()];
  }

  /** @internal Only the first session again; like the keys, it comes out the same. */
  restore(): void {
    this.#users.clear();
    this.create();
  }
}

/** The key kind of a Gateway request. 401 without usable authentication, 403 for a key that is not valid (A29). */
export function authenticateKey(keys: ApiKeys, header: string | null): ApiKeyKind {
  if (header === null || header.trim() === '') {
    throw new Refusal(401, 'Missing Authorization header', { param: 'Authorization', code: 'missing_authorization' });
  }
  const token = bearerToken(header, 'bearer');
  if (token === undefined) {
    throw new Refusal(401, 'The Authorization header is not of the form Bearer <API_KEY>', {
      param: 'Authorization',
      code: 'invalid_authorization',
    });
  }
  const kind = keys.kind(token);
  if (kind !== undefined) return kind;
  throw new Refusal(403, 'The API key is invalid or expired', { param: 'Authorization', code: 'invalid_api_key' });
}

/** The user of a Context API request; A30: anything wrong with the token is a 401. */
export function authenticateSession(sessions: Sessions, header: string | null, scheme: string): string {
  const token = header === null ? undefined : bearerToken(header, scheme.toLowerCase());
  const userId = token === undefined ? undefined : sessions.user(token);
  if (userId === undefined) throw new Refusal(401, 'Missing or invalid session token');
  return userId;
}

/** Does the list of endpoints (`GET /v1/presets`, `POST /v1/presets/:id/execute`) name this one? */
export function namesEndpoint(endpoints: readonly string[], method: string, path: string): boolean {
  return endpoints.some((endpoint) => {
    const [endpointMethod, endpointPath = ''] = endpoint.split(' ');
    if (endpointMethod !== method && !(method === 'HEAD' && endpointMethod === 'GET')) return false;
    const expected = endpointPath.split('/');
    const actual = path.split('/');
    return expected.length === actual.length && expected.every((part, i) => part.startsWith(':') || part === actual[i]);
  });
}

function bearerToken(header: string, scheme: string): string | undefined {
  if (scheme === '') return header.trim() || undefined;
  const space = header.indexOf(' ');
  if (space === -1 || header.slice(0, space).toLowerCase() !== scheme) return undefined;
  return header.slice(space + 1).trim() || undefined;
}
