/** Passes a bad argument, whose error needs every step of the validation. Prints its name. */
import { GatewayClient } from 'context-gateway';

const gateway = new GatewayClient();
const error = await gateway.chat.completions.create({ model: 'atlas-small', messages: [] }).catch((cause) => cause);
await gateway.close();
console.log(error.name);
