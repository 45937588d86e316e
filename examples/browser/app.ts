/** A page that streams a completion with a publishable key. Run: npm run example browser */
import { APIAbortError, ContextGatewayError, GatewayClient } from 'context-gateway';

// A publishable key may be read by everybody. A secret one is refused here.
const address = new URL(location.href).searchParams;
const gateway = new GatewayClient({
  baseURL: address.get('baseURL') ?? undefined,
  apiKey: address.get('apiKey') ?? undefined,
});

const form = document.querySelector('form') as HTMLFormElement;
const output = document.querySelector('output') as HTMLOutputElement;
const stop = form.elements.namedItem('stop') as HTMLButtonElement;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const controller = new AbortController();
  stop.onclick = () => controller.abort();
  stop.disabled = false;
  output.textContent = '';
  try {
    const messages = [
      { role: 'system', content: 'We decided to keep invoices in PostgreSQL.' },
      { role: 'user', content: String(new FormData(form).get('question')) },
    ];
    const stream = await gateway.chat.completions.create(
      { model: 'atlas-small', messages, stream: true },
      { signal: controller.signal },
    );
    for await (const text of stream.textStream) output.textContent += text;
  } catch (error) {
    if (!(error instanceof ContextGatewayError)) throw error;
    output.textContent += error instanceof APIAbortError ? ' (stopped)' : `\n${error.message}`;
  } finally {
    stop.disabled = true;
  }
});
