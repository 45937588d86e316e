export type { RedisLimiterEvent } from './availability.js';
export type { IoredisLike, NodeRedisLike, RedisClient, ScriptArguments } from './client.js';
export { type RedisLimiterOptions, redisLimiter } from './limiter.js';
