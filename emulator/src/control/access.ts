import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../base/loopback.js';

/** Why the control plane rejects a request. */
export interface AccessDenied {
  status: 401 | 403 | 429;
  reason: string;
}

/**
 * Decides who may use the control plane. Without a token, only this machine may, whatever address the emulator listens
 * on, and only by a loopback name: the Host header reveals a page whose name was made to resolve to loopback (DNS
 * rebinding). With a token, anyone who has it may. Of web pages, only the emulator's own may, in both cases.
 */
export class ControlAccess {
  readonly #token: string | undefined;
  /** Wrong tokens by caller, in the current minute of real time. */
  readonly #wrong = new Map<string, number>();
  #minute = 0;
  readonly #now: () => number;

  /** `now` is real time: no one may advance the clock past a brake. */
  constructor(token: string | undefined, now: () => number = Date.now) {
    this.#now = now;
    if (token !== undefined && !/^[\x21-\x7e]{8,}$/.test(token)) {
      throw new RangeError('controlToken must have at least 8 characters: printable ASCII without spaces');
    }
    this.#token = token;
  }

  /** Whether the control plane requires a token. */
  get hasToken(): boolean {
    return this.#token !== undefined;
  }

  /** Why the request is rejected; undefined if it is allowed. `caller` is the remote address; undefined in process. */
  check(request: Request, caller: string | undefined): AccessDenied | undefined {
    const { protocol, host: named } = new URL(request.url);
    const host = request.headers.get('host') ?? named;
    if (this.#token === undefined && caller !== undefined) {
      // Checked by address, because a remote caller can send any Host header.
      if (!isLoopback(caller)) return forbidden(`the control plane accepts requests from this machine only; ${OPEN}`);
      if (!isLoopback(host)) return forbidden(`the control plane accepts loopback names only; ${OPEN}`);
    }
    if (!isOwnPage(request.headers, `${protocol}//${host}`)) {
      return forbidden('the control plane accepts requests from its own pages only');
    }
    if (this.#token === undefined) return undefined;
    if (this.isBraked(caller)) return BRAKED;
    if (this.#hasValidToken(request.headers)) return undefined;
    // A page that is not signed in yet has none.
    if (request.headers.has('authorization')) this.#countWrong(caller);
    return { status: 401, reason: 'the control plane requires the control token: Authorization: Bearer TOKEN' };
  }

  /** The Set-Cookie header that keeps a page signed in; undefined for a wrong token. */
  signIn(given: string, caller: string | undefined): string | undefined {
    if (this.#token === undefined) return undefined;
    if (!isEqual(given, this.#token)) {
      this.#countWrong(caller);
      return undefined;
    }
    return `${cookieOf(this.#token)}; Path=/_emulator; HttpOnly; SameSite=Strict`;
  }

  /** Whether a caller has sent so many wrong tokens that it must wait. */
  isBraked(caller: string | undefined): boolean {
    const minute = Math.floor(this.#now() / 60_000);
    if (minute !== this.#minute) this.#wrong.clear();
    this.#minute = minute;
    return (this.#wrong.get(caller ?? '') ?? 0) >= MOST_WRONG;
  }

  #countWrong(caller = ''): void {
    this.#wrong.set(caller, (this.#wrong.get(caller) ?? 0) + 1);
  }

  #hasValidToken(headers: Headers): boolean {
    const token = this.#token ?? '';
    const [, given] = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '') ?? [];
    if (given !== undefined) return isEqual(given, token);
    const cookies = (headers.get('cookie') ?? '').split(/; */);
    return cookies.some((cookie) => isEqual(cookie, cookieOf(token)));
  }
}

/** Guesses per minute and caller. */
const MOST_WRONG = 20;
const BRAKED: AccessDenied = { status: 429, reason: 'too many wrong control tokens; wait a minute' };
const OPEN = 'start the emulator with --control-token to open it to others';

/** Whether a request comes from the emulator's own page or from no page at all, by its Origin and Sec-Fetch-Site. */
function isOwnPage(headers: Headers, own: string): boolean {
  const site = headers.get('sec-fetch-site') ?? 'none';
  if (site !== 'none' && site !== 'same-origin') return false;
  const origin = headers.get('origin');
  // Behind an HTTPS proxy the origin differs, but Sec-Fetch-Site is still same-origin.
  return origin === null || site === 'same-origin' || origin.toLowerCase() === own.toLowerCase();
}

/**
 * The cookie holds a hash of the token, because browsers also send it to other ports of the host. The name depends on
 * the token, so that signing in to one emulator does not sign out of another on the same host.
 */
function cookieOf(token: string): string {
  const value = createHash('sha256').update(`inspector ${token}`).digest('base64url');
  return `context-gateway-emulator-${value.slice(0, 8)}=${value}`;
}

/** Compares in constant time. */
function isEqual(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function forbidden(reason: string): AccessDenied {
  return { status: 403, reason };
}
