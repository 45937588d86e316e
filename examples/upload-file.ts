/** Upload a file from disk without holding it in memory, and watch it leave. Run: npm run example upload-file */
import { GatewayClient } from 'context-gateway';
import * as z from 'zod';

await using gateway = new GatewayClient();

// The interface does not say what a file record holds; your own schema checks and types it.
const schema = z.object({ id: z.string(), bytes: z.number() });

const record = await gateway.files.upload(
  { file: { path: 'README.md' }, purpose: 'reference' },
  { schema, onProgress: (sent, total) => console.log(`${sent} of ${total} bytes`) },
);
console.log(`Stored as ${record.id}, ${record.bytes} bytes`);
