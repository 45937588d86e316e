import type { FaultRule } from '../faults/rule.js';
import type { RequestRecord } from '../http/log/request-record.js';
import { clientsFor, type EmulatedService } from './clients.js';

/** Where the shared emulator is. Without options, the variables that `exec` sets. */
export interface ScopeOptions {
  /** @default CONTEXT_GATEWAY_BASE_URL */
  url?: string | undefined;
  /** @default CONTEXT_GATEWAY_API_KEY */
  apiKey?: string | undefined;
  /** @default CONTEXT_GATEWAY_SESSION_TOKEN */
  sessionToken?: string | undefined;
  /** The token of an emulator that has one. */
  controlToken?: string | undefined;
}

/** A part of a shared emulator, for one test alone. */
export interface EmulatorScope {
  url: string;
  /** To be sent by your program, so that its requests belong to this test: `{ 'x-emulator-scope': … }`. */
  headers: Record<string, string>;
  /** A `fetch` that sends them. */
  fetch: typeof fetch;
  context: EmulatedService['context'];
  gateway: EmulatedService['gateway'];
  /** The last 1,000 requests of this test, oldest first. */
  requests(): Promise<RequestRecord[]>;
  /** Adds a fault for requests of this test. */
  addFault(rule: FaultRule): Promise<void>;
  /** Calls the control plane: `control('POST', '/conversations', { … })`. */
  control(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Closes the clients, and ends the scope. */
  close(): Promise<void>;
}

/** Opens a scope of a shared emulator. Throws if there is no address. */
export function openScope({
  url = process.env.CONTEXT_GATEWAY_BASE_URL,
  apiKey,
  sessionToken,
  controlToken,
}: ScopeOptions = {}): EmulatorScope {
  if (url === undefined)
    throw new Error(
      'A scope needs a shared emulator: set url, or run the tests with context-gateway-emulator exec "COMMAND"',
    );
  const name = crypto.randomUUID();
  const headers = { 'x-emulator-scope': name };
  const send: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    request.headers.set('x-emulator-scope', name);
    return fetch(request);
  };
  const control = async (method: string, path: string, body?: unknown, within: object = headers): Promise<unknown> => {
    const response = await fetch(`${url}/_emulator${path}`, {
      method,
      headers: { ...within, ...(controlToken !== undefined && { authorization: `Bearer ${controlToken}` }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (response.ok) return response.json();
    throw new Error(`${method} /_emulator${path} failed with ${response.status}: ${await response.text()}`);
  };
  const shared = { baseURL: url, fetch: send, dangerouslyAllowHTTP: true };
  const { context, gateway } = clientsFor(shared, { apiKey, sessionToken });
  return {
    url,
    headers,
    fetch: send,
    context,
    gateway,
    control,
    requests: () => control('GET', '/requests?limit=1000') as Promise<RequestRecord[]>,
    addFault: async (rule) => void (await control('POST', '/faults', rule)),
    close: async () => {
      await Promise.all([context.close(), gateway.close()]);
      // The scope does not know itself.
      await control('DELETE', `/scopes/${name}`, undefined, {});
    },
  };
}
