import { type Clock, manualClock, systemClock } from './clock.js';
import type { Emulator } from './emulator.js';
import type { Storage } from './store/storage.js';

/** So many requests in a window of so many milliseconds. */
export interface RateLimit {
  requests: number;
  windowMs: number;
}

/** How a stream is paced. */
export interface StreamPace {
  /** Milliseconds until the first content chunk. @default 0 */
  ttft?: number | undefined;
  /** @default no limit */
  tokensPerSecond?: number | undefined;
  /** What one chunk carries. @default 'token' */
  chunkBy?: 'token' | 'word' | 'char' | undefined;
}

/** How `createEmulator` sets up the service. Everything has a plain default. */
export interface EmulatorOptions {
  /** Makes ids, keys and tokens the same on every run. @default random */
  seed?: string | number | undefined;
  /** Where time comes from. @default the system's clock */
  clock?: Clock | undefined;
  /** Short for a clock that stands at this point in time until it is advanced. */
  now?: Date | string | number | undefined;
  /** Fixed windows; a number is requests a minute. @default gateway 1000, context 300, compact 20 (A12) */
  limits?:
    | {
        gateway?: RateLimit | number | undefined;
        context?: RateLimit | number | undefined;
        compact?: RateLimit | number | undefined;
      }
    | undefined;
  /** Bytes of one uploaded file (A14). @default 32 MiB */
  maxFileSize?: number | undefined;
  /** Bytes of one JSON body. @default 8 MiB */
  maxBodySize?: number | undefined;
  /** Tokens of an answer when the request gives no `max_tokens` (A14). @default 4096 */
  maxTokens?: number | undefined;
  /** The tokens a plan includes, and the price of a million more (A25). @default 10 million, 2 */
  usage?: { includedTokens?: number | undefined; overagePricePerMillion?: number | undefined } | undefined;
  /** What a publishable key may call (A9), as `METHOD /path`. @default GETs except usage, and chat completions */
  publishableEndpoints?: readonly string[] | undefined;
  /** The header of the session token (A8); an empty scheme means the bare token. @default Authorization, Bearer */
  sessionHeader?: { name?: string | undefined; scheme?: string | undefined } | undefined;
  /** The unit of `X-RateLimit-Reset` (A13). @default 'epoch-seconds' */
  rateLimitReset?: 'epoch-seconds' | 'epoch-milliseconds' | 'delta-seconds' | undefined;
  /** Browsers: which origins may call, and whether they may read our headers. @default any origin, yes; false: no CORS */
  cors?: { origins?: '*' | readonly string[] | undefined; exposeHeaders?: boolean | undefined } | false | undefined;
  /** Milliseconds before every answer of the two API areas. @default 0 */
  latency?: number | undefined;
  /** How streams are paced. @default at once, a chunk per token */
  pace?: StreamPace | undefined;
  /** How lists are wrapped (A3): `{ data }`, a bare array, `{ presets }`/`{ integrations }`, or `{ items }`. @default 'data' */
  listForm?: 'data' | 'bare' | 'named' | 'items' | undefined;
  /** The default and the largest `limit` of the presets list (A14). @default 50, 100 */
  presetsLimit?: { default?: number | undefined; max?: number | undefined } | undefined;
  /** Puts first data in; runs at construction and after every reset. */
  setup?: ((emulator: Emulator) => void) | undefined;
  /** Where records are kept. @default in memory */
  storage?: Storage | undefined;
}

/** The options with every default filled in. */
export interface Settings {
  clock: Clock;
  limits: { gateway: RateLimit; context: RateLimit; compact: RateLimit };
  maxFileSize: number;
  maxBodySize: number;
  maxTokens: number;
  includedTokens: number;
  overagePricePerMillion: number;
  publishableEndpoints: readonly string[];
  sessionHeader: { name: string; scheme: string };
  rateLimitReset: 'epoch-seconds' | 'epoch-milliseconds' | 'delta-seconds';
  cors: { origins: '*' | readonly string[]; exposeHeaders: boolean } | undefined;
  latency: number;
  pace: { ttft: number; tokensPerSecond: number; chunkBy: 'token' | 'word' | 'char' };
  listForm: 'data' | 'bare' | 'named' | 'items';
  presetsLimit: { default: number; max: number };
}

export function resolveSettings(options: EmulatorOptions): Settings {
  const cors = options.cors;
  return {
    clock: options.clock ?? (options.now === undefined ? systemClock() : manualClock(options.now)),
    limits: {
      gateway: rateLimit('limits.gateway', options.limits?.gateway, 1000),
      context: rateLimit('limits.context', options.limits?.context, 300),
      compact: rateLimit('limits.compact', options.limits?.compact, 20),
    },
    maxFileSize: positive('maxFileSize', options.maxFileSize, 32 * 1024 * 1024),
    maxBodySize: positive('maxBodySize', options.maxBodySize, 8 * 1024 * 1024),
    maxTokens: positive('maxTokens', options.maxTokens, 4096),
    includedTokens: atLeastZero('usage.includedTokens', options.usage?.includedTokens, 10_000_000),
    overagePricePerMillion: atLeastZero('usage.overagePricePerMillion', options.usage?.overagePricePerMillion, 2),
    publishableEndpoints: options.publishableEndpoints ?? PUBLISHABLE_ENDPOINTS,
    sessionHeader: {
      name: (options.sessionHeader?.name ?? 'authorization').toLowerCase(),
      scheme: options.sessionHeader?.scheme ?? 'Bearer',
    },
    rateLimitReset: options.rateLimitReset ?? 'epoch-seconds',
    cors: cors === false ? undefined : { origins: cors?.origins ?? '*', exposeHeaders: cors?.exposeHeaders ?? true },
    latency: atLeastZero('latency', options.latency, 0),
    pace: {
      ttft: atLeastZero('pace.ttft', options.pace?.ttft, 0),
      tokensPerSecond: positive('pace.tokensPerSecond', options.pace?.tokensPerSecond, Number.POSITIVE_INFINITY),
      chunkBy: options.pace?.chunkBy ?? 'token',
    },
    listForm: options.listForm ?? 'data',
    presetsLimit: {
      default: positive('presetsLimit.default', options.presetsLimit?.default, 50),
      max: positive('presetsLimit.max', options.presetsLimit?.max, 100),
    },
  };
}

// A9
const PUBLISHABLE_ENDPOINTS = ['GET /v1/presets', 'GET /v1/integrations', 'POST /v1/chat/completions'];

function rateLimit(name: string, value: RateLimit | number | undefined, byDefault: number): RateLimit {
  if (typeof value === 'object') {
    return {
      requests: atLeastZero(`${name}.requests`, value.requests, 0),
      windowMs: positive(`${name}.windowMs`, value.windowMs, 1),
    };
  }
  return { requests: atLeastZero(name, value, byDefault), windowMs: 60_000 };
}

function positive(name: string, value: number | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (!(value > 0)) throw new RangeError(`${name} is not above zero: ${value}`);
  return value;
}

function atLeastZero(name: string, value: number | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (!(value >= 0)) throw new RangeError(`${name} is below zero: ${value}`);
  return value;
}
