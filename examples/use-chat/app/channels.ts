import { EventEmitter } from 'node:events';
import type { Publisher, Subscriber } from 'resumable-stream/generic';

/** Where replies are announced, in one process. Several meet in Redis. */
const shared = globalThis as { channels?: ReturnType<typeof open> };

export async function channels() {
  shared.channels ??= open();
  return shared.channels;
}

function open(): { publisher: Publisher; subscriber: Subscriber } {
  const events = new EventEmitter().setMaxListeners(0);
  const values = new Map<string, string>();
  const connect = async () => {};
  const publisher = {
    connect,
    publish: async (channel: string, message: string) => events.emit(channel, message),
    set: async (key: string, value: string) => values.set(key, value),
    get: async (key: string) => values.get(key) ?? null,
    incr: async () => 1, // only for streams that are created by their readers
  };
  const subscriber = {
    connect,
    subscribe: async (channel: string, take: (message: string) => void) => void events.on(channel, take),
    unsubscribe: async (channel: string) => events.removeAllListeners(channel),
  };
  return { publisher, subscriber };
}
