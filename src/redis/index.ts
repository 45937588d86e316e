export { redisLimiter } from './limiter.js';
