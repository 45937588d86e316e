/** The same chat with nothing but node:http. */
import { createServer, type Server } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Conversation } from 'context-gateway/conversation';

export function chatServer(conversation: (id: string) => Conversation): Server {
  return createServer(async (req, res) => {
    const left = new AbortController();
    res.once('close', () => left.abort());
    const [, , id = '', action] = (req.url ?? '').split('/');
    const { text, messageId } = JSON.parse((await req.toArray()).join('') || '{}');
    const options = { signal: left.signal };
    const one = conversation(id);
    const reply =
      action === 'regenerate'
        ? one.regenerate(options)
        : action === 'edit'
          ? one.edit(messageId, text, options)
          : one.stream(text, options);
    const response = await reply.toResponse();
    res.writeHead(response.status, Object.fromEntries(response.headers));
    // TypeScript 5 does not know that a web stream is iterable.
    const body = (response.body ?? []) as unknown as AsyncIterable<Uint8Array>;
    await pipeline(body, res).catch(() => {}); // the visitor left
  });
}
