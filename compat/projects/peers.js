/** Uses each entry with the peer that is installed: `peers.js <specification of the provider>`. */
import assert from 'node:assert';
import { generateText, streamText } from 'ai';
import { GatewayClient, NotFoundError } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';
import { observeCalls } from 'context-gateway/otel';

const gateway = new GatewayClient({ onEvent: observeCalls() });

const provider = createAiSdkProvider(gateway, { specification: process.argv[2] });
const asked = { model: provider('atlas-small'), prompt: 'We keep invoices in PostgreSQL. Where do we keep invoices?' };
const { text } = await generateText(asked);
assert.match(text, /PostgreSQL/);
let streamed = '';
for await (const piece of streamText(asked).textStream) streamed += piece;
assert.strictEqual(streamed, text);
// All entries share one copy of the error classes.
const { cause } = await generateText({ ...asked, model: provider('no-such-model') }).catch((error) => error);
assert(cause instanceof NotFoundError, `the cause: ${cause}`);
await gateway.close();
