/** Get a reply in JSON, parsed and validated. Run: npm run example json-reply */
import { GatewayClient, ResponseValidationError } from 'context-gateway';
import * as z from 'zod';

await using gateway = new GatewayClient(); // address and key from the environment

const Export = z.object({ format: z.string(), hour: z.number() });

try {
  const { parsed } = await gateway.chat.completions.parse(
    {
      model: 'atlas-large',
      messages: [
        { role: 'system', content: '{ "format": "Parquet", "hour": 2 }' },
        { role: 'user', content: 'Which format? Reply with JSON only.' },
      ],
    },
    { schema: Export },
  );
  console.log(`${parsed.format}, at ${parsed.hour}:00`);
} catch (error) {
  if (!(error instanceof ResponseValidationError)) throw error;
  console.error(`The reply is not as asked: ${error.message}`);
}
