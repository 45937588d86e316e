export type { IoredisLike, NodeRedisLike, RedisClient, ScriptArguments } from './client.js';
export type { RedisLimiterEvent } from './events.js';
export { type RedisLimiterOptions, redisLimiter } from './limiter.js';
