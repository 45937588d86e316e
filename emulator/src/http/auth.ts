import { HttpError } from '../base/errors.js';
import type { ApiKeyInfo, ApiKeys } from '../store/api-keys.js';
import type { Sessions } from '../store/sessions.js';
import { paramsIn } from './area-routes.js';

/** The key of a Gateway request. Throws a 401 without a bearer token, and a 403 for an invalid key (A29). */
export function authenticateKey(keys: ApiKeys, sessions: Sessions, header: string | null): ApiKeyInfo {
  if (header === null || header.trim() === '') {
    throw new HttpError(401, 'Missing Authorization header', { param: 'Authorization', code: 'missing_authorization' });
  }
  const token = bearerToken(header, 'bearer');
  if (token === undefined) {
    throw new HttpError(401, 'The Authorization header must be Bearer <API_KEY>', {
      param: 'Authorization',
      code: 'invalid_authorization',
    });
  }
  const key = keys.get(token);
  if (key !== undefined && keys.isExpired(key)) {
    throw new HttpError(403, 'The API key has expired', { param: 'Authorization', code: 'expired_api_key' });
  }
  if (key !== undefined) return key;
  if (sessions.user(token) !== undefined) {
    const message = 'This is a session token, which is for /api only. /v1 needs an API key, such as svc_sk_...';
    throw new HttpError(403, message, { param: 'Authorization', code: 'invalid_api_key' });
  }
  throw new HttpError(403, 'The API key is invalid or expired', { param: 'Authorization', code: 'invalid_api_key' });
}

/** The user of a Context API request. A30: any problem with the token is a 401. */
export function authenticateSession(sessions: Sessions, header: string | null, scheme: string): string {
  const token = header === null ? undefined : bearerToken(header, scheme.toLowerCase());
  const userId = token === undefined ? undefined : sessions.user(token);
  if (userId !== undefined) return userId;
  const message = /^svc_[sp]k_/.test(token ?? '')
    ? 'This is an API key, which is for /v1 only. /api needs the session token of a user'
    : 'Missing or invalid session token';
  throw new HttpError(401, message, { code: 'invalid_session' });
}

/** Whether a list of endpoints (`GET /v1/presets`, `POST /v1/presets/:id/execute`) contains this one. */
export function namesEndpoint(endpoints: readonly string[], method: string, path: string): boolean {
  const actual = path.split('/');
  return endpoints.some((endpoint) => {
    const [endpointMethod, endpointPath = ''] = endpoint.split(' ');
    const isMethod = endpointMethod === method || (method === 'HEAD' && endpointMethod === 'GET');
    return isMethod && paramsIn(actual, endpointPath.split('/')) !== undefined;
  });
}

function bearerToken(header: string, scheme: string): string | undefined {
  if (scheme === '') return header.trim() || undefined;
  const space = header.indexOf(' ');
  if (space === -1 || header.slice(0, space).toLowerCase() !== scheme) return undefined;
  return header.slice(space + 1).trim() || undefined;
}
