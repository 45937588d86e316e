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
    ...clientsFor(shared, { apiKey: emulator.apiKeys.secret, sessionToken: emulator.sessionToken }),
  };
}

/** Both clients of an emulator. Without credentials, they read the environment. */
export function clientsFor(
  shared: { baseURL: string; fetch: typeof fetch; dangerouslyAllowHTTP?: boolean },
  { apiKey, sessionToken }: { apiKey?: string | undefined; sessionToken?: string | undefined },
): Pick<EmulatedService, 'context' | 'gateway'> {
  return { context: new ContextClient({ ...shared, sessionToken }), gateway: new GatewayClient({ ...shared, apiKey }) };
}

/** Closes everything, and ends pending calls. */
export async function closeService({ emulator, context, gateway }: EmulatedService): Promise<void> {
  await Promise.all([context.close(), gateway.close()]);
  await emulator.close();
}
