import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../base/loopback.js';

/** Why a request does not get to the control plane. */
export interface AccessRefusal {
  status: 401 | 403;
  reason: string;
}

/**
 * Who may use the control plane. Without a token only this machine may, whatever the emulator listens on, and only by loopback names:
 * a page whose name was made to resolve to loopback gives itself away by its Host header. With a token those who have it may, from
 * anywhere. Of all pages only its own, either way.
 */
export class ControlAccess {
  readonly #token: string | undefined;

  constructor(token: string | undefined) {
    if (token !== undefined && !/^[\x21-\x7e]{8,}$/.test(token)) {
      throw new RangeError('controlToken must have at least 8 characters: printable ASCII without spaces');
    }
    this.#token = token;
  }

  /** Does the control plane ask for a token? */
  get hasToken(): boolean {
    return this.#token !== undefined;
  }

  /** Why the request is refused, if it is. `caller` is where it comes from, unless it came in process. */
  refusal(request: Request, caller: string | undefined): AccessRefusal | undefined {
    const { protocol, host: named } = new URL(request.url);
    const host = request.headers.get('host') ?? named;
    if (this.#token === undefined && caller !== undefined) {
      // A caller from elsewhere can write any name into the Host header.
      if (!isLoopback(caller)) return forbidden(`the control plane accepts requests from this machine only; ${OPEN}`);
      if (!isLoopback(host)) return forbidden(`the control plane accepts loopback names only; ${OPEN}`);
    }
    if (!isOwnPage(request.headers, `${protocol}//${host}`)) {
      return forbidden('the control plane accepts no pages but its own');
    }
    if (this.#token === undefined || this.#knowsToken(request.headers)) return undefined;
    return { status: 401, reason: 'the control plane requires its token: Authorization: Bearer TOKEN' };
  }

  /** The header that keeps a page signed in; undefined when it is not the token. */
  signIn(given: string): string | undefined {
    if (this.#token === undefined || !isEqual(given, this.#token)) return undefined;
    return `${cookieOf(this.#token)}; Path=/_emulator; HttpOnly; SameSite=Strict`;
  }

  #knowsToken(headers: Headers): boolean {
    const token = this.#token ?? '';
    const [, given] = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '') ?? [];
    if (given !== undefined) return isEqual(given, token);
    const cookies = (headers.get('cookie') ?? '').split(/; */);
    return cookies.some((cookie) => isEqual(cookie, cookieOf(token)));
  }
}

const OPEN = 'start the emulator with --control-token to open it to others';

/** A page elsewhere says so in its Origin, and browsers say it in Sec-Fetch-Site. */
function isOwnPage(headers: Headers, own: string): boolean {
  const site = headers.get('sec-fetch-site') ?? 'none';
  if (site !== 'none' && site !== 'same-origin') return false;
  const origin = headers.get('origin');
  // Behind a proxy that speaks HTTPS the origin is another, but the browser knows its own page.
  return origin === null || site === 'same-origin' || origin.toLowerCase() === own.toLowerCase();
}

/**
 * What the browser keeps in place of the token: programs on other ports of this host are sent it too. The name is the token's own, so
 * that signing in to one of several emulators on a host keeps the others.
 */
function cookieOf(token: string): string {
  const value = createHash('sha256').update(`inspector ${token}`).digest('base64url');
  return `context-gateway-emulator-${value.slice(0, 8)}=${value}`;
}

/** In a time that tells nothing of either. */
function isEqual(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function forbidden(reason: string): AccessRefusal {
  return { status: 403, reason };
}
