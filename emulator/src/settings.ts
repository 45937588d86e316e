import { type Clock, manualClock, systemClock } from './clock.js';
import type { ServiceOptions } from './options.js';
import type { RateLimit } from './rate-limit.js';
import { type AccountSettings, resolvePlan } from './store/account.js';

/** A stream's pace with every default filled in. */
export interface Pace {
  ttft: number;
  tokensPerSecond: number;
  chunkBy: 'token' | 'word' | 'char';
  splitBytes: number;
  lineEnd: 'lf' | 'crlf' | 'cr';
  heartbeat: number;
}

/** The options with every default filled in. */
export interface Settings extends AccountSettings {
  clock: Clock;
  maxFileSize: number;
  maxBodySize: number;
  maxTokens: number;
  publishableEndpoints: readonly string[];
  sessionHeader: { name: string; scheme: string };
  rateLimitReset: 'epoch-seconds' | 'epoch-milliseconds' | 'delta-seconds';
  cors: { origins: '*' | readonly string[]; exposeHeaders: boolean } | undefined;
  latency: number;
  pace: Pace;
  strict: boolean;
  summarizer: 'extractive' | 'upstream';
  listForm: 'data' | 'bare' | 'named' | 'items';
  presetsLimit: { default: number; max: number };
}

/** The settings an emulator works by; a RangeError names the option that cannot be. */
export function resolveSettings(options: ServiceOptions): Settings {
  const cors = options.cors;
  return {
    clock: options.clock ?? (options.now === undefined ? systemClock() : manualClock(options.now)),
    plan: resolvePlan(options.plan ?? 'agency'),
    limits: {
      gateway: rateLimit('limits.gateway', options.limits?.gateway),
      context: rateLimit('limits.context', options.limits?.context),
      compact: rateLimit('limits.compact', options.limits?.compact),
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
      splitBytes: positive('pace.splitBytes', options.pace?.splitBytes, Number.POSITIVE_INFINITY),
      lineEnd: options.pace?.lineEnd ?? 'lf',
      heartbeat: positive('pace.heartbeat', options.pace?.heartbeat, Number.POSITIVE_INFINITY),
    },
    strict: options.strict ?? false,
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
  if (!(value > 0)) throw new RangeError(`${name} is not above zero: ${value}`);
  return value;
}

function atLeastZero<T extends number | undefined>(name: string, value: number | undefined, byDefault: T): number | T {
  if (value === undefined) return byDefault;
  if (!(value >= 0)) throw new RangeError(`${name} is below zero: ${value}`);
  return value;
}
