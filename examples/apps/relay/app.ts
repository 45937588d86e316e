/** The page: it knows its own server only, and no key. */
import { readChatCompletionStream } from 'context-gateway';
import { mountChat } from '../chat-ui/chat.js';

mountChat(document.body, async (messages, signal) => {
  const response = await fetch('/chat', { method: 'POST', body: JSON.stringify({ messages }), signal });
  return { stream: await readChatCompletionStream(response, { signal }) };
});
