/** Uses a schema of the project's own zod 3 for a response. Prints how many records it has read. */
import { GatewayClient } from 'context-gateway';
import { z } from 'zod';

const gateway = new GatewayClient();
const presets = await gateway.presets.list(undefined, { schema: z.array(z.object({ id: z.string() })) });
await gateway.close();
console.log(presets.length);
