/** Calls an in-process emulator as a user's tests do: a plain and a streamed call. Prints both texts. */
import { GatewayClient } from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';

const emulator = createEmulator({ seed: 'test' });
const { fetch, apiKeys } = emulator;
const gateway = new GatewayClient({ baseURL: 'https://emulator.test', apiKey: apiKeys.secret, fetch });
const ask = {
  model: 'atlas-small',
  /** @type {import('context-gateway').ChatMessage[]} */
  messages: [
    { role: 'system', content: 'We decided to keep invoices in PostgreSQL.' },
    { role: 'user', content: 'Where do we keep invoices?' },
  ],
};

const plain = await gateway.chat.completions.create(ask);
const stream = await gateway.chat.completions.create({ ...ask, stream: true });
let streamed = '';
for await (const text of stream.textStream) streamed += text;

await gateway.close();
await emulator.close();
console.log(JSON.stringify({ plain: plain.choices[0]?.message.content, streamed, engine: gateway.engine }));
