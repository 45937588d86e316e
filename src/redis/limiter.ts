import { ignoreErrors } from '../base/ignore-errors.js';
import { systemRuntime } from '../base/runtime.js';
import { ConfigurationError, type RateLimiter } from '../index.js';
import { forwardRuntime } from '../rate-limit/forward-runtime.js';
import { countOption, functionOption, option, optionsCheck } from '../validation/options.js';
import { Availability, type RedisLimiterEvent } from './availability.js';
import { hexDigest, type RedisClient, runnerOf } from './client.js';
import { type LimiterState, RedisBucket } from './redis-bucket.js';
import { SCRIPT } from './script.js';

/** Options of `redisLimiter`. All times are milliseconds. */
type RedisLimiterOptions = {
  /**
   * A connected client of `redis`, `ioredis`, `iovalkey` or `@valkey/valkey-glide`, for Valkey or Redis 6.2 or later.
   * The limiter never closes the client.
   */
  client: RedisClient;
  /**
   * The owner of the limit: your account for the Gateway, the user for the Context API. Use the same name in every
   * process that shares the limit. Redis sees only a salted hash of it.
   */
  name: string;
  /**
   * How long to wait for Redis. After that, and until Redis responds again, each process keeps to its own share of the
   * limit.
   * @default 500
   */
  timeout?: number | undefined;
  /**
   * How many processes share the limit. Used only until Redis has counted them.
   * @default 1
   */
  processes?: number | undefined;
  /** Called when Redis fails and when it is back. @default failures go to `process.emitWarning`, where it exists */
  onEvent?: ((event: RedisLimiterEvent) => void) | undefined;
};

const check = /* @__PURE__ */ optionsCheck({
  client: /* @__PURE__ */ option(() => true, ''), // looked at below
  name: /* @__PURE__ */ option((value) => typeof value === 'string', 'must be a string'),
  timeout: /* @__PURE__ */ option(
    (value) => typeof value === 'number' && value > 0 && value <= 60_000,
    'must be a number of milliseconds above 0 and at most 60_000',
  ),
  processes: countOption,
  onEvent: functionOption,
});

/**
 * Creates a limiter for `pacing` that several processes share through Redis. Together they use the whole limit, and
 * each gets its share. Each call waits for one round trip to Redis, which concurrent calls of a process share.
 *
 * @throws {ConfigurationError} when an option is invalid
 *
 * @example
 * ```ts
 * const client = await createClient({ url: 'redis://localhost:6379' }).connect();
 * const gateway = new GatewayClient({ pacing: redisLimiter({ client, name: 'my-app' }) });
 * ```
 */
export function redisLimiter(options: RedisLimiterOptions): RateLimiter {
  check(Object(options));
  const { client, name = '', timeout = 500, processes = 1, onEvent } = Object(options) as RedisLimiterOptions;
  if (name.trim() === '')
    throw new ConfigurationError('name is missing: pass the owner of the limit, such as { name: "production" }.');
  const listener = onEvent ?? warnOnce(client);
  const runtime = forwardRuntime(systemRuntime);
  const state: LimiterState = {
    runtime,
    availability: new Availability(runtime, timeout, (event) => ignoreErrors(() => listener(event))),
    run: runnerOf(client, SCRIPT),
    process: crypto.randomUUID(),
    processes,
    timeout,
  };
  const keysOf = async (bucket: string): Promise<string[]> => {
    // Salted, so that it means nothing elsewhere.
    const hash = await hexDigest('SHA-256', `context-gateway/redis\n${name}`);
    // The braces keep both keys on one node of a cluster.
    const key = `context-gateway:{${hash.slice(0, 32)}}:${bucket}`;
    return [key, `${key}:processes`];
  };
  const buckets = new Map<string, RedisBucket>();
  return {
    acquire(bucket) {
      const queue = buckets.get(bucket) ?? new RedisBucket(state, keysOf(bucket));
      buckets.set(bucket, queue);
      return queue.acquire();
    },
  };
}

/** Clients whose limiters have warned. An app with a limiter for each user but one Redis gets one warning. */
const warned = new WeakSet<object>();

function warnOnce(client: object) {
  return (event: RedisLimiterEvent): void => {
    if (event.type === 'available') warned.delete(client);
    else if (!warned.has(client)) {
      warned.add(client);
      const { process } = globalThis as { process?: { emitWarning?: (message: string, name: string) => void } };
      const why =
        event.cause instanceof Error
          ? ` (${event.cause.message.split('\n', 1)[0]?.slice(0, 200).replace(/\.$/, '')})`
          : '';
      const message = `redisLimiter cannot reach Redis${why}. Until it can, this process keeps to its own share of the rate limit.`;
      process?.emitWarning?.(message, 'ContextGatewayWarning');
    }
  };
}
