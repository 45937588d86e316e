import * as z from 'zod/mini';
import { isBrowser } from '#platform';
import type { Runtime } from '../base/runtime.js';
import type { ClientState } from '../call/call.js';
import { ServiceClient } from '../call/client.js';
import {
  type ClientOptions,
  type Credential,
  checkClientOptions,
  checkedElsewhere,
  clientOptions,
} from '../request/client-options.js';
import { type CredentialKind, credentialReader } from '../request/credential.js';
import { functionOption } from '../validation/options.js';
import type { DecodeChunk } from '../wire/decode-chunk.js';
import { Chat } from './chat.js';
import { gatewayFetch } from './fetch.js';
import { Files } from './files.js';
import { Integrations } from './integrations.js';
import { Presets } from './presets.js';
import { Usage } from './usage.js';

/** Options of a `GatewayClient`. */
export interface GatewayClientOptions extends ClientOptions {
  /**
   * The API key, or a function that returns it, so that keys can be rotated without a restart. Use secret keys
   * (`svc_sk_`) on servers only, and publishable keys (`svc_pk_`) in browsers.
   * @default the environment variable `CONTEXT_GATEWAY_API_KEY`
   */
  apiKey?: Credential | undefined;
  /** Reads streams whose events have another form. @default events are read as chunks of the form `chat.completion.chunk` */
  decodeChunk?: DecodeChunk | undefined;
}

const optionsSchema = /* @__PURE__ */ z.strictObject({
  apiKey: checkedElsewhere,
  decodeChunk: functionOption,
  ...clientOptions,
});

/** The kind of an API key, by its prefix. */
export type KeyType = 'secret' | 'publishable' | 'unknown';

/**
 * The Gateway API (`/v1`): chat completions, presets, files, integrations, usage.
 *
 * @throws {ConfigurationError} when an option is invalid; the message says how to fix it
 *
 * @example
 * ```ts
 * const gateway = new GatewayClient({ baseURL: 'https://gateway.example.com', apiKey: 'svc_sk_…' });
 * const fromEnvironment = new GatewayClient(); // CONTEXT_GATEWAY_BASE_URL, CONTEXT_GATEWAY_API_KEY
 * ```
 */
export class GatewayClient extends ServiceClient<GatewayClientOptions> {
  /** Chat completions, whole or streamed. */
  readonly chat: Chat;
  /** Stored templates. */
  readonly presets: Presets;
  /** File uploads. */
  readonly files: Files;
  /** Connected integrations and their actions. */
  readonly integrations: Integrations;
  /** Token usage. */
  readonly usage: Usage;
  /**
   * A `fetch` for the clients of other packages: their requests get this client's credential, retries, rate limit and
   * deadline, and a stream that is cut off ends with an error. What fails comes out as a response with `x-should-retry: false`,
   * so switch their retries off.
   *
   * A request that is not for `/v1` of `baseURL` is a 400, and sent nowhere.
   *
   * @throws {ClientClosedError} after `close()`
   * @throws the reason of its signal when a request is aborted
   *
   * @example
   * ```ts
   * import OpenAI from 'openai';
   * const baseURL = `${process.env.CONTEXT_GATEWAY_BASE_URL}/v1`;
   * const openai = new OpenAI({ baseURL, apiKey: 'unused', maxRetries: 0, fetch: gateway.fetch });
   * ```
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly #key: { type: KeyType };

  /** @internal With a tag, Vue does not wrap it in a proxy, behind which private fields cannot be read. */
  get [Symbol.toStringTag](): string {
    return 'GatewayClient';
  }

  constructor(options?: GatewayClientOptions);
  /** @internal */
  constructor(options?: GatewayClientOptions, shared?: ClientState, runtime?: Runtime);
  constructor(given: GatewayClientOptions = {}, shared?: ClientState, runtime?: Runtime) {
    const options = checkClientOptions(given, optionsSchema, 'apiKey');
    const key = { type: 'unknown' as KeyType };
    const kind = keyKind(options.dangerouslyAllowBrowser === true, key);
    const authorize = credentialReader(options.apiKey, kind, (value) => `Bearer ${value}`);
    const area = {
      name: 'gateway',
      credentialHeader: 'authorization',
      authorize,
      explain: (status: number) => explain(status, key.type),
    } as const;
    super(options, area, shared, runtime);
    this.#key = key;
    const { transport } = this;
    this.chat = new Chat(transport, options.decodeChunk);
    this.presets = new Presets(transport);
    this.files = new Files(transport);
    this.integrations = new Integrations(transport);
    this.usage = new Usage(transport);
    this.fetch = gatewayFetch(transport, this.chat.completions);
  }

  /** The kind of the API key, by its prefix. If `apiKey` is a function, the kind of the key it returned last. */
  get keyType(): KeyType {
    return this.#key.type;
  }
}

function keyKind(browserAllowed: boolean, key: { type: KeyType }): CredentialKind {
  return {
    option: 'apiKey',
    variable: 'CONTEXT_GATEWAY_API_KEY',
    findProblem: (value) => {
      key.type = keyTypeOf(value);
      if (/^svc_[sp]k_$/.test(value)) return 'is a prefix without a key';
      if (key.type === 'publishable' || browserAllowed || !isBrowser()) return undefined;
      return (
        'must not be a secret key in a browser, where everyone can read it. Use a publishable key (svc_pk_), ' +
        'or call from your server. For tests: dangerouslyAllowBrowser'
      );
    },
  };
}

function keyTypeOf(key: string): KeyType {
  if (key.startsWith('svc_sk_')) return 'secret';
  return key.startsWith('svc_pk_') ? 'publishable' : 'unknown';
}

/** How to fix a 401 or 403. The service decides which endpoints a publishable key may call. */
function explain(status: number, type: KeyType): string | undefined {
  if (status === 401) return 'Check apiKey: the service does not accept it.';
  if (status === 411) return 'Pass the size of the stream, or a Blob.';
  if (status !== 403) return undefined;
  if (type === 'publishable')
    return 'If the key is valid, this endpoint does not accept publishable keys: call it from your server, with a secret key.';
  if (type === 'unknown') return 'Check apiKey: it begins with neither svc_sk_ nor svc_pk_.';
  return 'Check that the key is valid and has access to this endpoint, and that the account has Gateway access.';
}
