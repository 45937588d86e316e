import {
  type ChatCompletionStream,
  type CompletionTypes,
  documented,
  type ExtendedTypes,
  GatewayClient,
  type ReadStreamOptions,
  readChatCompletionStream,
  type ServerSentEvent,
} from 'context-gateway';
import { PARAMS } from './measure.js';

/** The response of a service that streams these events. */
export const eventResponse = (body: BodyInit): Response =>
  new Response(body, { headers: { 'content-type': 'text/event-stream' } });

/** A stream of these events, without a client. */
export const streamOf = <Types extends ExtendedTypes = CompletionTypes>(
  events: string,
  options?: ReadStreamOptions<Types>,
): Promise<ChatCompletionStream<Types>> => readChatCompletionStream(eventResponse(events), options);

/** The stream of a client whose service sends this body. A `decodeChunk` may return anything, as in JavaScript. */
export function streamOfClient(
  body: BodyInit,
  decodeChunk?: (event: ServerSentEvent) => unknown,
): PromiseLike<ChatCompletionStream> {
  const fetch = async () => eventResponse(body);
  const form = decodeChunk && { completions: { ...documented, decodeChunk: decodeChunk as () => undefined } };
  const gateway = new GatewayClient({ baseURL: 'https://service.test', apiKey: 'svc_sk_test', fetch, ...form });
  return gateway.chat.completions.create(PARAMS);
}
