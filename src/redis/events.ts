/** What a limiter tells about Redis: once when it is gone, once when it is back. */
export type RedisLimiterEvent =
  | { readonly type: 'unavailable'; readonly cause: unknown }
  | { readonly type: 'available' };
