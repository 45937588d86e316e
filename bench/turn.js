/** A conversation in SQLite whose model replies at once, so that what is measured is how a turn is prepared and stored. */
import { GatewayClient } from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
import { sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';

const COMPLETION = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Noted.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 4000, completion_tokens: 1, total_tokens: 4001 },
};
/** The open conversations, by their number of messages. */
const opened = new Map();

/** Returns a function that asks about one of so many messages, with a new object each time, as a server does. */
export async function openConversation(count) {
  if (!opened.has(count)) opened.set(count, await create(count));
  return opened.get(count);
}

async function create(count) {
  const messages = Array.from({ length: count }, (_, at) => messageAt(at));
  const stored = sqliteStore(new Database(':memory:'));
  await stored.migrate();
  await stored.append('talk', messages, { edits: 0 });
  // Stores nothing more, so that all turns have the same messages.
  const store = { load: stored.load, append: (_, added) => added.length, setExcluded: () => {} };
  const gateway = new GatewayClient({
    ...{ baseURL: 'https://gateway.test', apiKey: 'pk', pacing: false },
    fetch: async () => Response.json(COMPLETION),
  });
  let turn = 0;
  return () => {
    const words = messages[(turn * 7919) % count].content.split(' ');
    turn += 1;
    const conversation = createConversation({ gateway, model: 'm', conversationId: 'talk', store });
    return conversation.send(`What about ${words.slice(0, 6).join(' ')}?`);
  };
}

/** About 90 characters, with words as common and as rare as those of a language without its stop words. */
function messageAt(at) {
  const words = Array.from({ length: 18 }, (_, k) => {
    const random = Math.abs(Math.sin(at * 25 + k + 1) * 1e4) % 1;
    return `w${Math.floor(50 * 400 ** random).toString(36)}`;
  });
  const createdAt = new Date(Date.UTC(2025, 0, 1) + at * 3.6e6).toISOString();
  return { id: `m${at}`, role: at % 2 === 0 ? 'user' : 'assistant', content: words.join(' '), createdAt };
}
