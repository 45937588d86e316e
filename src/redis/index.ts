export type { RedisLimiterEvent } from './availability.js';
export type { GlideLike, IoredisLike, NodeRedisLike, RedisClient, ScriptArguments } from './client.js';
export { type RedisLimiterOptions, redisLimiter } from './limiter.js';
