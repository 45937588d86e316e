/** A plain and a streamed text through the AI SDK, in the version that is installed. Prints what came. */
import { generateText, streamText } from 'ai';
import { GatewayClient, NotFoundError } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';

const gateway = new GatewayClient();
const provider = createAiSdkProvider(gateway, { specification: process.argv[2] });
const model = provider('atlas-small');
const prompt = 'We decided to keep invoices in PostgreSQL. Where do we keep invoices?';

const { text: plain } = await generateText({ model, prompt });
const streamed = await streamText({ model, prompt }).text;

// One copy of the error classes, whichever entry throws.
const error = await generateText({ model: provider('no-such-model'), prompt }).catch((reason) => reason);
if (!(error.cause instanceof NotFoundError)) throw new Error(`the cause is another NotFoundError: ${error}`);

await gateway.close();
console.log(JSON.stringify({ plain, streamed }));
