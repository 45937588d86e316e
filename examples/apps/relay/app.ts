/** The page. It calls only its own server, and has no key. */
import { readChatCompletionStream } from 'context-gateway';
import { mountChat } from '../chat-ui/chat.js';

mountChat(document.body, async (messages, signal) => {
  const response = await fetch('/chat', { method: 'POST', body: JSON.stringify({ messages }), signal });
  return { stream: await readChatCompletionStream(response, { signal }) };
});
