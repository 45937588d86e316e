import {
  type ChatCompletionStream,
  GatewayClient,
  readChatCompletionStream,
  type ServerSentEvent,
} from 'context-gateway';
import { PARAMS } from './measure.js';

/** The response of a service that streams these events. */
export const eventResponse = (body: BodyInit): Response =>
  new Response(body, { headers: { 'content-type': 'text/event-stream' } });

/** A stream of these events, without a client. */
export const streamOf = (
  events: string,
  options?: Parameters<typeof readChatCompletionStream>[1],
): Promise<ChatCompletionStream> => readChatCompletionStream(eventResponse(events), options);

/** The stream of a client whose service sends this body. A `decodeChunk` may return anything, as in JavaScript. */
export function streamOfClient(
  body: BodyInit,
  decodeChunk?: (event: ServerSentEvent) => unknown,
): PromiseLike<ChatCompletionStream> {
  const fetch = async () => eventResponse(body);
  const decode = decodeChunk && { decodeChunk: decodeChunk as () => undefined };
  const gateway = new GatewayClient({ baseURL: 'https://service.test', apiKey: 'svc_sk_test', fetch, ...decode });
  return gateway.chat.completions.create(PARAMS);
}
