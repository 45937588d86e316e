/** The same chat with nothing but node:http. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { toErrorResponse } from 'context-gateway';
import { type Conversation, toResponse } from 'context-gateway/conversation';

export function chatServer(conversation: (id: string) => Conversation): Server {
  return createServer(async (req, res) => {
    const left = new AbortController();
    res.once('close', () => left.abort());
    // An error that is not caught here ends the process.
    const response = await reply(req, left.signal).catch(toErrorResponse);
    res.writeHead(response.status, Object.fromEntries(response.headers));
    // TypeScript 5 does not know that a web stream is iterable.
    const body = (response.body ?? []) as unknown as AsyncIterable<Uint8Array>;
    await pipeline(body, res).catch(() => {}); // the visitor left
  });

  async function reply(req: IncomingMessage, signal: AbortSignal): Promise<Response> {
    const [, , id = '', action] = (req.url ?? '').split('/');
    // The page may send anything. A body without text is a 400.
    const { text, messageId } = Object(await json(req).catch(() => undefined));
    const input = typeof text === 'string' ? text : '';
    const one = conversation(id);
    const onError = console.error;
    if (action === 'regenerate') return toResponse(one.regenerate({ signal }), { onError });
    if (action === 'edit') return toResponse(one.edit(messageId, input, { signal }), { onError });
    return toResponse(one.stream(input, { signal }), { onError });
  }
}
