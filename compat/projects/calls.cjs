/** Makes a plain and a streamed call in a CommonJS project, and prints both texts, and what it sends through. */
const { GatewayClient } = require('context-gateway');
const { chatCompletionSchema } = require('context-gateway/schemas');

const messages = [
  { role: 'system', content: 'We decided to keep invoices in PostgreSQL.' },
  { role: 'user', content: 'Where do we keep invoices?' },
];

async function main() {
  const gateway = new GatewayClient();
  const plain = await gateway.chat.completions.create({ model: 'atlas-small', messages });
  const stream = await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true });
  let streamed = '';
  for await (const text of stream.textStream) streamed += text;

  const { engine } = gateway;
  await gateway.close();
  console.log(
    JSON.stringify({ plain: chatCompletionSchema.parse(plain).choices[0].message.content, streamed, engine }),
  );
}

main();
