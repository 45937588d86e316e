import { ConfigurationError } from '../index.js';
import { isFunction, misspelled } from '../validation/options.js';

/** The used part of an ioredis or iovalkey client. */
type IoredisLike = {
  eval(script: string, keys: number, ...args: string[]): Promise<unknown>;
  evalsha(sha: string, keys: number, ...args: string[]): Promise<unknown>;
};

/** The used part of a node-redis client. */
type NodeRedisLike = {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
};

/** The used part of a Valkey GLIDE client, for a single server or a cluster. */
type GlideLike = {
  customCommand(args: string[]): Promise<unknown>;
};

/** Your Redis or Valkey client: `redis`, `ioredis`, `iovalkey` or `@valkey/valkey-glide`. You connect and close it. */
export type RedisClient = IoredisLike | NodeRedisLike | GlideLike;

/** Runs a script with its keys and arguments. */
export type Run = (keys: string[], args: string[]) => Promise<unknown>;
/** The words of Redis, and of GLIDE. */
const UNKNOWN_SCRIPT = /^NOSCRIPT|NoScriptError/;

/** Runs `script` by its hash, or in full if the server does not know it, such as after a restart. */
export function runnerOf(client: RedisClient, script: string): Run {
  const evaluate = evaluatorOf(client);
  let sha: Promise<string> | undefined;
  return async (keys, args) => {
    sha ??= hexDigest('SHA-1', script);
    try {
      return await evaluate('evalsha', await sha, keys, args);
    } catch (error) {
      if (!(error instanceof Error && UNKNOWN_SCRIPT.test(error.message))) throw error;
      return evaluate('eval', script, keys, args);
    }
  };
}

/** Runs a script: with `eval` in full, with `evalsha` by its hash. */
type Evaluate = (command: 'eval' | 'evalsha', script: string, keys: string[], args: string[]) => Promise<unknown>;

function evaluatorOf(client: RedisClient): Evaluate {
  const has = (...names: string[]): boolean => names.every((name) => isFunction(Object(client)[name]));
  if (has('eval', 'evalSha')) {
    const redis = client as NodeRedisLike; // checked above
    return (command, script, keys, args) =>
      redis[command === 'eval' ? 'eval' : 'evalSha'](script, { keys, arguments: args });
  }
  if (has('eval', 'evalsha')) {
    const redis = client as IoredisLike; // checked above
    return (command, script, keys, args) => redis[command](script, keys.length, ...keys, ...args);
  }
  if (has('customCommand')) {
    const glide = client as GlideLike; // checked above
    return (command, script, keys, args) =>
      glide.customCommand([command.toUpperCase(), script, String(keys.length), ...keys, ...args]);
  }
  throw new ConfigurationError(
    `client must be a client of redis, ioredis, iovalkey or @valkey/valkey-glide: redisLimiter({ client: createClient(), name }).${misspelled(client, ['eval', 'evalSha', 'evalsha', 'customCommand'])}`,
  );
}

export async function hexDigest(algorithm: 'SHA-1' | 'SHA-256', text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
