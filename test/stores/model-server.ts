import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A call of the model. All texts are different. */
export interface ModelCall {
  /** The page's call that caused it. */
  call: number;
  question: string;
  text: string;
  /** In milliseconds since 1970. What was stored later, its turn has not seen. */
  at: number;
}

/** Questions of a script: the model answers them without faults, and those with the second word when they are released. */
export const DIRECTED = { sure: 'Directed', slow: 'slowly' };

export interface ModelServer {
  readonly url: string;
  readonly calls: readonly ModelCall[];
  /** Lets it answer the slow questions. */
  release(): void;
  close(): void;
}

/** A model that is slow at random, fails, and cuts its replies. It notes each call before it answers. */
export async function startModel(random: () => number): Promise<ModelServer> {
  const calls: ModelCall[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy()); // the client has left
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = Date.now();
    let body = '';
    for await (const piece of request) body += piece;
    const { messages, stream } = JSON.parse(body) as { messages: { content: string }[]; stream?: boolean };
    const question = messages.at(-1)?.content ?? '';
    const text = `#${calls.length} is the reply to ${question}`;
    calls.push({ call: Number(request.headers['x-call']), question, text, at });
    const isSure = question.startsWith(DIRECTED.sure);
    await (question.includes(DIRECTED.slow) ? released : sleep(random() ** 3 * 150));
    const chance = isSure ? 1 : random();
    if (chance < 0.03) {
      response.writeHead(500).end('{"error":{"message":"It failed."}}');
      return;
    }
    const isCut = chance < 0.08;
    const head = { id: 'c', created: 1, model: 'm' };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    if (!stream) {
      const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' };
      const json = JSON.stringify({ ...head, object: 'chat.completion', choices: [choice], usage });
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': json.length });
      if (!isCut) return void response.end(json);
      response.write(json.slice(0, 50));
      response.destroy();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const pieces = text.split(/(?<= )/);
    for (const [index, content] of [...pieces, ''].entries()) {
      if (isCut && index === 3) return void response.destroy();
      const choice = { index: 0, delta: { content }, finish_reason: index === pieces.length ? 'stop' : null };
      response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [choice] })}\n\n`);
      await sleep(random() * 6);
    }
    response.end('data: [DONE]\n\n');
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    release,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
