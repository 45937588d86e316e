import { ConfigurationError, type RateLimiter } from '../index.js';
import { Availability, type RedisLimiterEvent } from './availability.js';
import { Bucket, type Shared } from './bucket.js';
import { hexDigest, type RedisClient, runnerOf } from './client.js';
import { SCRIPT } from './script.js';
import { systemTime } from './time.js';

/** Options of `redisLimiter`. All times are milliseconds. */
export interface RedisLimiterOptions {
  /** A connected client of `redis`, `ioredis` or `iovalkey`; Redis 6.2 or Valkey. It stays yours: the limiter never closes it. */
  client: RedisClient;
  /**
   * What the limit belongs to: the account for the Gateway, the user for the Context API. The same in every process that shares
   * the limit. Redis sees a salted hash of it.
   */
  name: string;
  /**
   * How long Redis may take for an answer. After that, and until it answers again, every process keeps to its own share.
   * @default 500
   */
  timeout?: number | undefined;
  /**
   * How many processes share the limit, for as long as Redis has not told: it counts them.
   * @default 1
   */
  processes?: number | undefined;
  /** Told when Redis is gone and when it is back. Without it, the first is a `process.emitWarning`, where there is one. */
  onEvent?: ((event: RedisLimiterEvent) => void) | undefined;
}

const DEFAULT_TIMEOUT = 500;
/** In every key and hash, so that they mean nothing elsewhere. */
const SALT = 'context-gateway/redis';

/**
 * A limiter for `pacing` that all processes share through Redis: together they use the service's limit to its edge, and none
 * takes it from the others. Each call asks Redis once, in one round trip with the calls that come with it; what its response says
 * is told with the next question, or by itself where no call follows.
 *
 * @throws {ConfigurationError} when an option cannot work
 */
export function redisLimiter(options: RedisLimiterOptions): RateLimiter {
  const { client, name, timeout = DEFAULT_TIMEOUT, processes = 1, onEvent } = checked(options);
  const listener = onEvent ?? warnOnce(client);
  const shared: Shared = {
    time: systemTime,
    availability: new Availability(systemTime, timeout, (event) => tell(listener, event)),
    run: runnerOf(client, SCRIPT),
    process: crypto.randomUUID(),
    processes,
  };
  let hash: Promise<string> | undefined;
  const keysOf = async (bucket: string): Promise<string[]> => {
    hash ??= hexDigest('SHA-256', `${SALT}\n${name}`);
    // The braces keep both keys on one node of a cluster.
    const key = `context-gateway:{${(await hash).slice(0, 32)}}:${bucket}`;
    return [key, `${key}:processes`];
  };
  const buckets = new Map<string, Bucket>();
  const bucketOf = (named: string): Bucket => {
    const bucket = buckets.get(named) ?? new Bucket(shared, keysOf(named));
    buckets.set(named, bucket);
    return bucket;
  };
  return {
    admit: (bucket) => bucketOf(bucket).admit(),
    release: (bucket, observed) => bucketOf(bucket).release(observed),
    hold: (bucket) => bucketOf(bucket).hold(),
  };
}

function checked(options: RedisLimiterOptions): RedisLimiterOptions {
  // Read as it comes from users: it may be anything.
  const { name, timeout, processes, onEvent } = (options ?? {}) as Partial<Record<keyof RedisLimiterOptions, unknown>>;
  if (typeof name !== 'string' || name.trim() === '')
    throw new ConfigurationError('name must say what the limit belongs to, such as { name: "production" }.');
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0 && timeout <= 60_000))
    throw new ConfigurationError('timeout must be a number of milliseconds above 0 and at most 60_000.');
  if (processes !== undefined && !(Number.isInteger(processes) && (processes as number) > 0))
    throw new ConfigurationError('processes must be a whole number from 1 on.');
  if (onEvent !== undefined && typeof onEvent !== 'function')
    throw new ConfigurationError('onEvent must be a function.');
  return options;
}

/** What a listener throws, now or later, is its own affair. */
function tell(onEvent: (event: RedisLimiterEvent) => unknown, event: RedisLimiterEvent): void {
  (async () => onEvent(event))().catch(() => {});
}

/** Clients whose limiters have warned: an app with a limiter for each user has one Redis, and gets one warning. */
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
      const message = `redisLimiter gets no answer from Redis${why}. Until it does, this process keeps to its own share of the rate limit.`;
      process?.emitWarning?.(message, 'ContextGatewayWarning');
    }
  };
}
