/** LangChain with the gateway's address: a text and a streamed one. */
import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({
  model: 'atlas-small',
  apiKey: process.env.CONTEXT_GATEWAY_API_KEY,
  configuration: { baseURL: `${process.env.CONTEXT_GATEWAY_BASE_URL}/v1` },
});
const question = 'We decided to keep invoices in PostgreSQL. Where do we keep invoices?';
const { content: plain } = await model.invoke(question);
let streamed = '';
for await (const { content } of await model.stream(question)) streamed += content;
console.log(JSON.stringify({ plain, streamed }));
