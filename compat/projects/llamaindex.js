/** LlamaIndex with the gateway's address: a text and a streamed one. */
import { OpenAI } from '@llamaindex/openai';

const model = new OpenAI({
  model: 'atlas-small',
  apiKey: process.env.CONTEXT_GATEWAY_API_KEY,
  baseURL: `${process.env.CONTEXT_GATEWAY_BASE_URL}/v1`,
});
const content = 'We decided to keep invoices in PostgreSQL. Where do we keep invoices?';
const messages = [{ role: 'user', content }];
const { message } = await model.chat({ messages });
let streamed = '';
for await (const { delta } of await model.chat({ messages, stream: true })) streamed += delta;
console.log(JSON.stringify({ plain: message.content, streamed }));
