/** Streams a reply into the page. */
// A copy of `node_modules/context-gateway/dist/browser.js` beside this file.
import { ContextGatewayError, GatewayClient } from './context-gateway.js';

const address = new URL(location.href).searchParams;
const gateway = new GatewayClient({ baseURL: address.get('baseURL'), apiKey: address.get('apiKey') });
const form = document.querySelector('form');
const reply = document.querySelector('p');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  reply.textContent = '';
  form.ariaBusy = 'true';
  try {
    const messages = [{ role: 'user', content: form.question.value }];
    const stream = await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true });
    for await (const text of stream.textStream) reply.textContent += text;
  } catch (error) {
    if (!(error instanceof ContextGatewayError)) throw error;
    reply.textContent = error.message;
  } finally {
    form.ariaBusy = 'false';
  }
});
form.ariaBusy = 'false';
