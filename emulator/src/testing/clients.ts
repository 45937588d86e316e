import * as sdk from 'context-gateway';
import packageJson from '../../package.json' with { type: 'json' };
import { createEmulator, type Emulator, type EmulatorOptions } from '../emulator.js';

/** An emulator, and both SDK clients, connected in process. */
export interface EmulatedService {
  emulator: Emulator;
  /** Signed in as the first user. */
  context: sdk.ContextClient;
  /** With the secret key. */
  gateway: sdk.GatewayClient;
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
  // npm installs any version of it.
  const { version } = packageJson;
  const { ContextClient, GatewayClient }: Partial<typeof sdk> = sdk;
  if (ContextClient === undefined || GatewayClient === undefined)
    throw new Error(
      `The fixtures of context-gateway-emulator ${version} need context-gateway ${version}, and another is installed: npm install context-gateway@${version}.`,
    );
  return { context: new ContextClient({ ...shared, sessionToken }), gateway: new GatewayClient({ ...shared, apiKey }) };
}

/** Closes everything, and ends pending calls. */
export async function closeService({ emulator, context, gateway }: EmulatedService): Promise<void> {
  await Promise.all([context.close(), gateway.close()]);
  await emulator.close();
}
