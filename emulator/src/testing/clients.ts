import { ContextClient, GatewayClient } from 'context-gateway';
import { createEmulator, type Emulator, type EmulatorOptions } from '../emulator.js';

/** An emulator, and both SDK clients, connected in process. */
export interface EmulatedService {
  emulator: Emulator;
  /** Signed in as the first user. */
  context: ContextClient;
  /** With the secret key. */
  gateway: GatewayClient;
}

/** Creates an emulator with both clients. */
export function emulatedService(options: EmulatorOptions): EmulatedService {
  const emulator = createEmulator(options);
  // Never looked up: the requests stay in the process.
  const shared = { baseURL: 'https://emulator.test', fetch: emulator.fetch };
  return {
    emulator,
    context: new ContextClient({ ...shared, sessionToken: emulator.sessionToken }),
    gateway: new GatewayClient({ ...shared, apiKey: emulator.apiKeys.secret }),
  };
}

/** Closes everything, and ends pending calls. */
export async function closeService({ emulator, context, gateway }: EmulatedService): Promise<void> {
  await Promise.all([context.close(), gateway.close()]);
  await emulator.close();
}
