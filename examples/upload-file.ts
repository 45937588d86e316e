/** Upload a file from disk, without holding it in memory, and print the progress. Run: npm run example upload-file */
import { GatewayClient } from 'context-gateway';
import * as z from 'zod';

await using gateway = new GatewayClient();

// The API does not document the file record. Your own schema validates and types it.
const schema = z.object({ id: z.string(), bytes: z.number() });

const record = await gateway.files.upload(
  { file: { path: 'README.md' }, purpose: 'reference' },
  { schema, onProgress: (sent, total) => console.log(`${sent} of ${total} bytes`) },
);
console.log(`Stored as ${record.id}, ${record.bytes} bytes`);
