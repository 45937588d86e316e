import type { GatewaySettings } from './api/gateway-routes.js';
import { manualClock, systemClock } from './base/clock.js';
import type { Pace } from './completions/stream.js';
import type { ServiceSettings } from './http/service.js';
import type { ServiceOptions } from './options.js';
import { type AccountSettings, type RateLimit, resolvePlan } from './store/account.js';
import type { SummarizerName } from './store/conversation-records.js';

/** The options with all defaults filled in. */
export interface Settings extends AccountSettings, ServiceSettings, GatewaySettings {
  pace: Pace;
  maxTokens: number;
  summarizer: SummarizerName;
  controlToken: string | undefined;
}

/** Fills in the defaults. Throws a RangeError that names an invalid option. */
export function resolveSettings(options: ServiceOptions): Settings {
  const cors = options.cors;
  return {
    clock: options.clock ?? (options.now === undefined ? systemClock() : manualClock(options.now)),
    plan: resolvePlan(options.plan ?? 'agency'),
    limits: {
      gateway: rateLimit('limits.gateway', options.limits?.gateway),
      context: rateLimit('limits.context', options.limits?.context),
      compact: rateLimit('limits.compact', options.limits?.compact),
      tokens: rateLimit('limits.tokens', options.limits?.tokens),
    },
    maxFileSize: positive('maxFileSize', options.maxFileSize, 32 * 1024 * 1024),
    maxBodySize: positive('maxBodySize', options.maxBodySize, 8 * 1024 * 1024),
    maxTokens: positive('maxTokens', options.maxTokens, 4096),
    includedTokens: atLeastZero('usage.includedTokens', options.usage?.includedTokens, undefined),
    overagePricePerMillion: atLeastZero(
      'usage.overagePricePerMillion',
      options.usage?.overagePricePerMillion,
      undefined,
    ),
    publishableEndpoints: options.publishableEndpoints ?? PUBLISHABLE_ENDPOINTS,
    sessionHeader: {
      name: headerName('sessionHeader.name', options.sessionHeader?.name ?? 'authorization'),
      scheme: options.sessionHeader?.scheme ?? 'Bearer',
    },
    rateLimitReset: options.rateLimitReset ?? 'epoch-seconds',
    cors:
      cors === false ? undefined : { origins: corsOrigins(cors?.origins), exposeHeaders: cors?.exposeHeaders ?? true },
    latency: atLeastZero('latency', options.latency, 0),
    pace: {
      ttft: atLeastZero('pace.ttft', options.pace?.ttft, 0),
      tokensPerSecond: positive('pace.tokensPerSecond', options.pace?.tokensPerSecond, Number.POSITIVE_INFINITY),
      chunkBy: options.pace?.chunkBy ?? 'token',
      splitBytes: positive('pace.splitBytes', options.pace?.splitBytes, Number.POSITIVE_INFINITY),
      lineEnd: options.pace?.lineEnd ?? 'lf',
      heartbeat: positive('pace.heartbeat', options.pace?.heartbeat, Number.POSITIVE_INFINITY),
    },
    strict: options.strict ?? false,
    controlToken: options.controlToken,
    summarizer: options.summarizer ?? 'extractive',
    listForm: options.listForm ?? 'data',
    presetsLimit: {
      default: positive('presetsLimit.default', options.presetsLimit?.default, 50),
      max: positive('presetsLimit.max', options.presetsLimit?.max, 100),
    },
  };
}

// A9
const PUBLISHABLE_ENDPOINTS = ['GET /v1/presets', 'GET /v1/integrations', 'POST /v1/chat/completions'];

function headerName(option: string, name: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new RangeError(`${option} is not a valid header name: ${name}`);
  return name.toLowerCase();
}

function corsOrigins(origins: '*' | readonly string[] | undefined): '*' | readonly string[] | undefined {
  for (const origin of Array.isArray(origins) ? origins : []) {
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/i.test(origin)) {
      throw new RangeError(`cors.origins: ${origin} is not an origin such as https://app.example.com`);
    }
  }
  return origins;
}

function rateLimit(name: string, value: RateLimit | number | undefined): RateLimit | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object') {
    return {
      requests: atLeastZero(`${name}.requests`, value.requests, 0),
      windowMs: positive(`${name}.windowMs`, value.windowMs, 1),
    };
  }
  return { requests: atLeastZero(name, value, 0), windowMs: 60_000 };
}

function positive(name: string, value: number | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (!(value > 0)) throw new RangeError(`${name} must be above 0, got ${value}`);
  return value;
}

function atLeastZero<T extends number | undefined>(name: string, value: number | undefined, byDefault: T): number | T {
  if (value === undefined) return byDefault;
  if (!(value >= 0)) throw new RangeError(`${name} must not be negative, got ${value}`);
  return value;
}
