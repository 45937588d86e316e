const LOG = 'pass the client onEvent: logTo(console), or set CONTEXT_GATEWAY_LOG=debug';
const CONNECTION = 'pass the client a dispatcher, or a fetch of your own';
const QUERY = 'pass query to client.request';
const CREDENTIAL = 'pass apiKey, or to a ContextClient sessionToken';
const ACCOUNT = 'leave it out: the key names the account';
const RESPONSE = 'call .withResponse(), whose response has requestId, status and headers';
const HEADERS = 'pass the client defaultHeaders, or the call headers';
const EVENTS = 'pass the client onEvent';
const BASE_URL = 'pass the client baseURL';
const RETRIES = 'pass the client or the call maxRetries';
const TIMEOUT = 'pass the client or the call timeout';

/**
 * Names of the openai package and other clients, and what to do here. docs/reference/openai-names.md prints them, which a test
 * compares.
 */
export const NAMES_OF_OTHERS: Readonly<Record<string, string>> = {
  logLevel: LOG,
  logger: LOG,
  debug: LOG,
  fetchOptions: CONNECTION,
  httpAgent: CONNECTION,
  httpsAgent: CONNECTION,
  agent: CONNECTION,
  httpClient: CONNECTION,
  proxy: CONNECTION,
  defaultQuery: QUERY,
  query: QUERY,
  headers: HEADERS,
  extraHeaders: HEADERS,
  authToken: CREDENTIAL,
  accessToken: CREDENTIAL,
  token: CREDENTIAL,
  organization: ACCOUNT,
  project: ACCOUNT,
  endpoint: BASE_URL,
  prefixUrl: BASE_URL,
  retries: RETRIES,
  retry: RETRIES,
  requestTimeout: TIMEOUT,
  timeoutMs: TIMEOUT,
  abortSignal: 'pass the call signal',
  hooks: EVENTS,
  interceptors: EVENTS,
  middleware: EVENTS,
  _request_id: RESPONSE,
};

const plain = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/** What to do in place of an option of another client, in whatever case. */
export function adviceFor(name: string): string | undefined {
  const known = Object.keys(NAMES_OF_OTHERS).find((one) => plain(one) === plain(name));
  return known === undefined ? undefined : NAMES_OF_OTHERS[known];
}
