/** A chat page that calls the Gateway with a publishable key. Run: npm run example browser-chat */
import { GatewayClient } from 'context-gateway';
import { mountChat } from '../chat-ui/chat.js';

// A publishable key may be read by everyone who opens the page. A secret key is rejected here.
const address = new URL(location.href).searchParams;
const gateway = new GatewayClient({
  baseURL: address.get('baseURL') ?? undefined,
  apiKey: address.get('apiKey') ?? undefined,
  maxRetryAfter: 2_000, // someone is waiting: rather show the countdown
});

mountChat(document.body, async (messages, signal) => {
  const completion = gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true }, { signal });
  const { data: stream, response } = await completion.withResponse();
  return { stream, ...(response.rateLimit && { limit: response.rateLimit }) };
});
