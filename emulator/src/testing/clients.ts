import { ContextClient, GatewayClient } from 'context-gateway';
import { createEmulator, type Emulator, type EmulatorOptions } from '../emulator.js';

/** An emulator, and the clients of the SDK that talk to it in process. */
export interface EmulatedService {
  emulator: Emulator;
  /** Signed in as the first user. */
  context: ContextClient;
  /** With the secret key. */
  gateway: GatewayClient;
}

/** An emulator of its own, with both clients ready. */
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

/** Everything is let go of: what still waits ends. */
export async function closeService({ emulator, context, gateway }: EmulatedService): Promise<void> {
  await Promise.all([context.close(), gateway.close()]);
  await emulator.close();
}
