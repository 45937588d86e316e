import { Redis as Ioredis } from 'ioredis';
import { Redis as Iovalkey } from 'iovalkey';
import { createClient } from 'redis';
import type { redisLimiter } from '../../src/redis/index.js';

/** Of any library. */
export type RedisClient = Parameters<typeof redisLimiter>[0]['client'];

export const CLIENTS = ['redis', 'ioredis', 'iovalkey'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** A client of the given library, created as its README says. It connects in the background. */
export function openClient(name: ClientName, port: number): { client: RedisClient; close(): void } {
  if (name === 'redis') {
    const client = createClient({ url: `redis://127.0.0.1:${port}` });
    client.on('error', () => {}); // it reconnects by itself
    client.connect().catch(() => {});
    return { client, close: () => client.destroy() };
  }
  const client = name === 'ioredis' ? new Ioredis(port, '127.0.0.1') : new Iovalkey(port, '127.0.0.1');
  client.on('error', () => {});
  return { client, close: () => client.disconnect() };
}
