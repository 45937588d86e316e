/** Makes a call that msw answers, without a connection. Prints the text. */
import { GatewayClient } from 'context-gateway';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';

const early = new GatewayClient({ baseURL: 'https://service.test', apiKey: 'svc_sk_0123456789' });
const server = setupServer(
  http.post('https://service.test/v1/chat/completions', () =>
    HttpResponse.json({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Mocked.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  ),
);
server.listen({ onUnhandledRequest: 'error' });
const late = new GatewayClient({ baseURL: 'https://service.test', apiKey: 'svc_sk_0123456789' });
for (const gateway of [early, late]) {
  const completion = await gateway.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  console.log(completion.choices[0].message.content);
  await gateway.close();
}
server.close();
