/** A route of Nitro: a completion and a streamed one. Nitro defines its functions as globals. */
import { GatewayClient } from 'context-gateway';

export default defineEventHandler(async (event) => {
  const gateway = new GatewayClient(getQuery(event));
  const content = 'We decided to keep invoices in PostgreSQL. Where do we keep invoices?';
  const params = { model: 'atlas-small', messages: [{ role: 'user', content }] };
  const completion = await gateway.chat.completions.create(params);
  const plain = completion.choices[0].message.content;
  let streamed = '';
  const stream = await gateway.chat.completions.create({ ...params, stream: true });
  for await (const piece of stream.textStream) streamed += piece;
  await gateway.close();
  return { plain, streamed, engine: gateway.engine };
});
