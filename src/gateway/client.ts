import * as z from 'zod/mini';
import { isBrowser } from '#platform';
import { functionOption, undocumentedOption } from '../base/options.js';
import type { Runtime } from '../base/runtime.js';
import {
  type ClientOptions,
  type Credential,
  checkClientOptions,
  checkedElsewhere,
  clientOptions,
} from '../transport/arguments/client-options.js';
import { type CredentialKind, credentialReader } from '../transport/arguments/credential.js';
import type { Shared } from '../transport/call/call.js';
import { ServiceClient } from '../transport/client.js';
import { Chat } from './chat.js';
import { formOf, type Undocumented } from './extended.js';
import { Files } from './files.js';
import { Integrations } from './integrations.js';
import { type MapOptions, type MapResult, map } from './map.js';
import { Presets } from './presets.js';
import type { DecodeChunk } from './stream/chunk.js';
import { Usage } from './usage.js';

/** Options of a `GatewayClient`. */
export interface GatewayClientOptions<Sent extends Undocumented = undefined> extends ClientOptions {
  /**
   * The API key, or a function that returns it, so that keys can be rotated without a restart. Use secret keys
   * (`svc_sk_`) on servers only, and publishable keys (`svc_pk_`) in browsers.
   * @default the environment variable `CONTEXT_GATEWAY_API_KEY`
   */
  apiKey?: Credential | undefined;
  /** Decodes stream events that are not in the `chat.completion.chunk` form. */
  decodeChunk?: DecodeChunk | undefined;
  /**
   * `'send'`: completions take and return what the API does not document, in the form that OpenAI documents: tools,
   * images, JSON formats, sampling parameters. The service may ignore or reject them.
   * @default only what is documented is typed and validated
   */
  undocumented?: Sent | undefined;
}

const optionsSchema = /* @__PURE__ */ z.strictObject({
  apiKey: checkedElsewhere,
  decodeChunk: functionOption,
  undocumented: undocumentedOption,
  ...clientOptions,
});

/** The kind of an API key, by its prefix. */
export type KeyType = 'secret' | 'publishable' | 'unknown';

/**
 * The Gateway API (`/v1`): chat completions, presets, files, integrations, usage. With `undocumented: 'send'`, its type
 * is `GatewayClient<'send'>`.
 *
 * @throws {ConfigurationError} when an option is invalid; the message says how to fix it
 *
 * @example
 * ```ts
 * const gateway = new GatewayClient({ baseURL: 'https://gateway.example.com', apiKey: 'svc_sk_…' });
 * const fromEnvironment = new GatewayClient(); // CONTEXT_GATEWAY_BASE_URL, CONTEXT_GATEWAY_API_KEY
 * ```
 */
export class GatewayClient<Sent extends Undocumented = undefined> extends ServiceClient<GatewayClientOptions<Sent>> {
  /** Chat completions, whole or streamed. */
  readonly chat: Chat<Sent>;
  /** Stored templates. */
  readonly presets: Presets;
  /** File uploads. */
  readonly files: Files;
  /** Connected integrations and their actions. */
  readonly integrations: Integrations;
  /** Token usage. */
  readonly usage: Usage;
  readonly #key: { type: KeyType };
  readonly #undocumented: Sent | undefined;

  constructor(options?: GatewayClientOptions<Sent>);
  /** @internal */
  constructor(options?: GatewayClientOptions<Sent>, shared?: Shared, runtime?: Runtime);
  constructor(given: GatewayClientOptions<Sent> = {}, shared?: Shared, runtime?: Runtime) {
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
    this.#undocumented = options.undocumented;
    const { transport } = this;
    this.chat = new Chat(transport, formOf(options.undocumented), options.decodeChunk);
    this.presets = new Presets(transport);
    this.files = new Files(transport);
    this.integrations = new Integrations(transport);
    this.usage = new Usage(transport);
  }

  /** The kind of the API key, by its prefix. If `apiKey` is a function, the kind of the key it returned last. */
  get keyType(): KeyType {
    return this.#key.type;
  }

  /** The option `undocumented`. */
  get undocumented(): Sent | undefined {
    return this.#undocumented;
  }

  /**
   * Runs a batch: calls `call` for each item, and yields `{ item, result }` or `{ item, error }` in order of completion.
   * A failed call does not end the batch. Pass the `signal` on, so that leaving the loop aborts the calls in flight.
   * The calls wait in the client's queue while its rate limit is used up (see `pacing`). Items are read as calls end, so
   * they may be a generator.
   *
   *
   * @example
   * ```ts
   * const questions = ['Ferries leave at nine. When do ferries leave?', 'The pier is red. Which colour is the pier?'];
   * const ask = (content: string, signal: AbortSignal) =>
   *   gateway.chat.completions.create({ model: 'atlas-small', messages: [{ role: 'user', content }] }, { signal });
   * for await (const { item, result, error } of gateway.map(questions, ask, { concurrency: 1 })) {
   *   if (error !== undefined) console.error(item, error);
   *   else console.log(result.choices[0]?.message.content);
   * }
   * ```
   */
  map<Item, Result>(
    items: Iterable<Item> | AsyncIterable<Item>,
    call: (item: Item, signal: AbortSignal) => PromiseLike<Result> | Result,
    options?: MapOptions,
  ): AsyncGenerator<MapResult<Item, Result>, void, undefined> {
    return map(items, call, options);
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
  if (status !== 403) return undefined;
  if (type === 'publishable')
    return 'If the key is valid, this endpoint does not accept publishable keys: call it from your server, with a secret key.';
  if (type === 'unknown') return 'Check apiKey: it begins with neither svc_sk_ nor svc_pk_.';
  return 'Check that the key is valid and has access to this endpoint, and that the account has Gateway access.';
}
