/** An app on React Native's own environment: calls, a stream, an error and an abort through its `fetch`. */
import 'react-native/setup-env';
import { GatewayClient, NotFoundError } from 'context-gateway';
import { Platform } from 'react-native';

const { baseURL, apiKey, done, failed } = globalThis.host;

async function main() {
  const gateway = new GatewayClient({ baseURL, apiKey });
  const content = 'We decided to keep invoices in PostgreSQL. Where do we keep invoices?';
  const params = { model: 'atlas-small', messages: [{ role: 'user', content }] };
  const completion = await gateway.chat.completions.create(params);
  const plain = completion.choices[0].message.content;
  let streamed = '';
  const stream = await gateway.chat.completions.create({ ...params, stream: true });
  for await (const piece of stream.textStream) streamed += piece;
  const refused = await gateway.chat.completions.create({ ...params, model: 'none' }).catch((error) => error);
  if (!(refused instanceof NotFoundError)) throw refused;
  const left = new AbortController();
  const pending = gateway.chat.completions.create(params, { signal: left.signal }).catch((error) => error);
  left.abort();
  if ((await pending).name !== 'AbortError') throw await pending;
  await gateway.close();
  return { plain, streamed, engine: gateway.engine, os: Platform.OS };
}

main().then(done, failed);
