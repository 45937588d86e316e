import { createResumableStreamContext } from 'resumable-stream/generic';
import { channels } from './channels';

// On a server without processes that are suspended. On others: waitUntil: after, from next/server.
const streams = async () => createResumableStreamContext({ waitUntil: null, ...(await channels()) });
const keyOf = (conversationId: string) => `reply:${conversationId}`;
const EX = 86_400; // seconds

/** Begins a reply that goes on when its page leaves. The signal is aborted by `stop`, in any process. */
export async function begin(conversationId: string) {
  const { publisher, subscriber } = await channels();
  const id = crypto.randomUUID();
  const stop = new AbortController();
  await subscriber.subscribe(`stop:${id}`, () => stop.abort());
  await publisher.set(keyOf(conversationId), id, { EX });
  const end = { flush: async () => void (await subscriber.unsubscribe(`stop:${id}`)) };
  return {
    signal: stop.signal,
    /** Reads the stream to its end, and keeps it as long as that takes. */
    consumeSseStream: async ({ stream }: { stream: ReadableStream<string> }) => {
      await (await streams()).createNewResumableStream(id, () => stream.pipeThrough(new TransformStream(end)));
    },
  };
}

/** The reply that is being written, from its start. Nothing if it has ended, or its process has. */
export async function resume(conversationId: string): Promise<ReadableStream<string> | undefined> {
  const id = await idOf(conversationId);
  if (id === '') return undefined;
  try {
    return (await (await streams()).resumeExistingStream(id)) ?? undefined;
  } catch {
    const isNewest = (await idOf(conversationId)) === id; // otherwise a new reply has begun meanwhile
    if (isNewest) await (await channels()).publisher.set(keyOf(conversationId), '', { EX }); // its process is gone
    return undefined;
  }
}

export async function isRunning(conversationId: string): Promise<boolean> {
  const reply = await resume(conversationId);
  await reply?.cancel();
  return reply !== undefined;
}

/** For a second tab: `stop` stops the newest reply, so there is one at a time. */
export function refuseSecond(): Response {
  const message = 'A reply is being written, perhaps in another tab. Press Again when it has ended.';
  return Response.json({ error: { message } }, { status: 409 });
}

export async function stop(conversationId: string): Promise<void> {
  await (await channels()).publisher.publish(`stop:${await idOf(conversationId)}`, '');
}

async function idOf(conversationId: string): Promise<string> {
  return String((await (await channels()).publisher.get(keyOf(conversationId))) ?? '');
}
