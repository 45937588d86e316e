import type { Clock } from '../base/clock.js';
import { HttpError } from '../base/errors.js';
import type { Stores } from '../store/stores.js';
import { authenticateKey, authenticateSession, namesEndpoint } from './auth.js';
import type { Exchange } from './exchange.js';
import type { LogEntry } from './log/log-entry.js';
import type { PlainResponse } from './plain-response.js';
import type { RateLimiter, RateState } from './rate-limit.js';

/** The unit of `X-RateLimit-Reset` (A13). */
export type RateLimitReset = (typeof RATE_LIMIT_RESETS)[number];
/** All units of `X-RateLimit-Reset`. */
export const RATE_LIMIT_RESETS = ['epoch-seconds', 'epoch-milliseconds', 'delta-seconds'] as const;

/** The settings of the admission. */
export interface AdmissionSettings {
  clock: Clock;
  publishableEndpoints: readonly string[];
  sessionHeader: { name: string; scheme: string };
  rateLimitReset: RateLimitReset;
}

/** Authenticates callers, and counts their requests and tokens. */
export class Admission {
  constructor(
    private readonly stores: Stores,
    private readonly settings: AdmissionSettings,
    private readonly limiter: RateLimiter,
  ) {}

  /** Throws unless the caller may send this request now. */
  admit(exchange: Exchange): void {
    if (exchange.area === 'context') this.#admitToContext(exchange);
    else this.#admitToGateway(exchange);
  }

  /** Counts the tokens of a completion, once they are known. */
  spendTokens({ tokens, isOfPlayground }: LogEntry): void {
    const rule = this.stores.account.tokenLimit;
    if (rule === undefined || tokens === undefined) return;
    this.limiter.spend(bucketOf('tokens', isOfPlayground), rule, tokens.prompt + tokens.completion);
  }

  /** Adds the headers of the limit, which every response of the Gateway has. */
  addRateHeaders(headers: PlainResponse['headers'], { area, rate }: Exchange): void {
    if (area !== 'gateway') return;
    const state = rate ?? this.limiter.peek('gateway', this.stores.account.limit('gateway'));
    headers['x-ratelimit-limit'] = String(state.limit);
    headers['x-ratelimit-remaining'] = String(state.remaining);
    headers['x-ratelimit-reset'] = String(this.#resetValue(state));
  }

  #admitToContext(exchange: Exchange): void {
    const { name, scheme } = this.settings.sessionHeader;
    exchange.userId = authenticateSession(this.stores.sessions, exchange.request.headers.get(name), scheme);
    const kind = exchange.path === '/api/context/compact' ? 'compact' : 'context';
    const bucket = `${kind} ${exchange.userId}`;
    const state = this.limiter.take(bucket, this.stores.account.limit(kind));
    if (!state.allowed) throw this.#rateLimited(exchange, bucket, state);
  }

  #admitToGateway(exchange: Exchange): void {
    const { account, apiKeys, sessions } = this.stores;
    const rule = account.limit('gateway');
    try {
      exchange.key = authenticateKey(apiKeys, sessions, exchange.request.headers.get('authorization'));
    } catch (error) {
      // Requests without a valid key do not count towards the account's limit.
      exchange.rate = this.limiter.take('gateway without key', rule);
      throw exchange.rate.allowed ? error : this.#rateLimited(exchange, 'gateway without key', exchange.rate);
    }
    exchange.entry.isOfPlayground = exchange.key?.name === PLAYGROUND;
    const bucket = bucketOf('gateway', exchange.entry.isOfPlayground);
    exchange.rate = this.limiter.take(bucket, rule);
    if (!exchange.rate.allowed) throw this.#rateLimited(exchange, bucket, exchange.rate);
    if (!account.gatewayAccess) {
      const message = `The ${account.plan.id} plan has no Gateway access; it comes with the Agency plan`;
      throw new HttpError(403, message, { param: 'Authorization', code: 'plan_without_gateway' });
    }
    const { key, method, path } = exchange;
    if (key?.kind === 'publishable' && !namesEndpoint(this.settings.publishableEndpoints, method, path)) {
      throw new HttpError(403, 'This endpoint needs a secret key', {
        param: 'Authorization',
        code: 'insufficient_permissions',
      });
    }
    this.#admitTokens(exchange);
  }

  /** Refuses a completion once the tokens of the window are used. The last one may exceed them: its size is not known before. */
  #admitTokens(exchange: Exchange): void {
    const rule = this.stores.account.tokenLimit;
    if (rule === undefined || !namesEndpoint(COMPLETING, exchange.method, exchange.path)) return;
    const bucket = bucketOf('tokens', exchange.entry.isOfPlayground);
    const state = this.limiter.peek(bucket, rule);
    if (!state.allowed) throw this.#rateLimited(exchange, bucket, state);
  }

  #rateLimited({ entry }: Exchange, name: string, state: RateState): HttpError {
    const { limit: allowed, asked, windowMs, resetAt } = state;
    const unit = name.startsWith('tokens') ? 'tokens' : 'requests';
    entry.limit = { name, unit, allowed, asked, windowMs, endsAt: new Date(resetAt).toISOString() };
    return new HttpError(429, 'Rate limit exceeded', {
      code: 'rate_limit_error',
      retryAfter: this.limiter.retryAfter(state),
    });
  }

  #resetValue({ resetAt }: RateState): number {
    const { rateLimitReset, clock } = this.settings;
    if (rateLimitReset === 'epoch-milliseconds') return resetAt;
    if (rateLimitReset === 'delta-seconds') return Math.max(0, Math.ceil((resetAt - clock.now()) / 1000));
    return Math.ceil(resetAt / 1000);
  }
}

/** The name of the key that the inspector's playground creates. What it sends must not use up an app's limits. */
const PLAYGROUND = 'Playground';

function bucketOf(kind: 'gateway' | 'tokens', isOfPlayground = false): string {
  return isOfPlayground ? `${kind} playground` : kind;
}

/** The endpoints that use tokens. */
const COMPLETING = ['POST /v1/chat/completions', 'POST /v1/presets/:presetId/execute'];
