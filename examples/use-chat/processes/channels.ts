import { createClient } from 'redis';
import type { Publisher, Subscriber } from 'resumable-stream/generic';

const shared = globalThis as { channels?: ReturnType<typeof open> };

/** Where processes announce replies. Connects at the first reply, not when the app is built. */
export function channels() {
  shared.channels ??= open();
  return shared.channels;
}

async function open(): Promise<{ publisher: Publisher; subscriber: Subscriber }> {
  const publisher = createClient({ url: process.env.REDIS_URL ?? 'redis://localhost' });
  const subscriber = publisher.duplicate();
  for (const client of [publisher, subscriber]) client.on('error', console.error); // an error without a listener ends the process
  await Promise.all([publisher.connect(), subscriber.connect()]);
  return { publisher, subscriber };
}
