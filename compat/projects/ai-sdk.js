/** Generates a plain and a streamed text with the installed version of the AI SDK, and prints both. */
import { generateText, streamText } from 'ai';
import { GatewayClient, NotFoundError } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';

const gateway = new GatewayClient();
const provider = createAiSdkProvider(gateway, { specification: process.argv[2] });
const model = provider('atlas-small');
const prompt = 'We decided to keep invoices in PostgreSQL. Where do we keep invoices?';

const { text: plain } = await generateText({ model, prompt });
const streamed = await streamText({ model, prompt }).text;

// All entries must share one copy of the error classes.
const error = await generateText({ model: provider('no-such-model'), prompt }).catch((reason) => reason);
if (!(error.cause instanceof NotFoundError)) throw new Error(`the cause is another NotFoundError: ${error}`);

await gateway.close();
console.log(JSON.stringify({ plain, streamed }));
