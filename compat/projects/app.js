/** A page that streams a completion with a publishable key and writes the text into its title. */
import { ContextGatewayError, GatewayClient } from 'context-gateway';

const address = new URL(location.href).searchParams;
const messages = [
  { role: 'system', content: 'We decided to keep invoices in PostgreSQL.' },
  { role: 'user', content: 'Where do we keep invoices?' },
];

async function main() {
  try {
    const gateway = new GatewayClient({ baseURL: address.get('baseURL'), apiKey: address.get('apiKey') });
    const stream = await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true });
    let text = '';
    for await (const piece of stream.textStream) text += piece;
    document.title = text;
  } catch (error) {
    document.title = `${error instanceof ContextGatewayError ? 'refused' : 'broken'}: ${error}`;
  }
}

main();
