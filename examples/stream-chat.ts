/** Print a streamed completion while it arrives. Run: npm run example stream-chat */
import { GatewayClient, StreamTruncatedError } from 'context-gateway';

await using gateway = new GatewayClient(); // address and key from the environment

const stream = await gateway.chat.completions.create({
  model: 'atlas-large',
  messages: [
    { role: 'system', content: 'The export is written as Parquet. It runs every night at two.' },
    { role: 'user', content: 'How is the export written?' },
  ],
  stream: true,
});

try {
  for await (const text of stream.textStream) process.stdout.write(text);
  const { usage, choices } = await stream.finalCompletion();
  console.log(`\n${usage?.total_tokens} tokens, ended by ${choices[0]?.finish_reason}`);
} catch (error) {
  if (!(error instanceof StreamTruncatedError)) throw error;
  console.error(`\nThe stream broke off after: ${error.partial?.choices[0]?.message.content}`);
}
