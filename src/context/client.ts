import * as z from 'zod/mini';
import type { APIPromise } from '../base/api-promise.js';
import type { Runtime } from '../base/runtime.js';
import type { ClientState } from '../call/call.js';
import { ServiceClient } from '../call/client.js';
import { RetryBudget } from '../call/retry-budget.js';
import { ConfigurationError } from '../errors/base.js';
import { MemoryRateLimiter } from '../rate-limit/memory-rate-limiter.js';
import {
  type ClientOptions,
  type Credential,
  checkClientOptions,
  checkedElsewhere,
  clientOptions,
} from '../request/client-options.js';
import { credentialReader } from '../request/credential.js';
import type { RequestOptions } from '../request/request-options.js';
import { checkHeaderName, FOR_CREDENTIALS } from '../validation/headers.js';
import { Memory } from './memory.js';
import { type CompactParams, compactParamsSchema, type PinParams, pinParamsSchema } from './params.js';
import {
  type CompactionResult,
  type ConversationContext,
  compactResponseSchema,
  contextResponseSchema,
  type PinnedMemoryItem,
  pinResponseSchema,
  type RollingSummary,
  SUCCESS_ONLY,
  summaryResponseSchema,
} from './schemas.js';

/** How the session token is sent. */
export type SessionHeader = {
  /** The header's name. */
  name: string;
  /** The word before the token, such as `Bearer`. If absent, the header is the token alone. */
  scheme?: string | undefined;
};

/** Options of a `ContextClient`. */
export interface ContextClientOptions extends ClientOptions {
  /**
   * The user's session token, or a function that returns it.
   * @default the environment variable `CONTEXT_GATEWAY_SESSION_TOKEN`
   */
  sessionToken?: Credential | undefined;
  /**
   * The header that carries the session token.
   * @default { name: 'Authorization', scheme: 'Bearer' }
   */
  sessionHeader?: SessionHeader | undefined;
}

/** The most users whose limits are remembered. */
const MAX_USERS = 10_000;

const optionsSchema = /* @__PURE__ */ z.strictObject({
  sessionToken: checkedElsewhere,
  sessionHeader: checkedElsewhere,
  ...clientOptions,
});

/**
 * The Context API (`/api`): the compact context of a conversation, its pinned and excluded messages, and user memory.
 *
 * @throws {ConfigurationError} when an option is invalid; the message says how to fix it
 *
 * @example
 * ```ts
 * const context = new ContextClient({ baseURL: 'https://gateway.example.com', sessionToken: () => readSession() });
 * const { rollingSummary } = await context.retrieve('conv_sample');
 * ```
 */
export class ContextClient extends ServiceClient<ContextClientOptions> {
  /** What the service remembers about the user. */
  readonly memory: Memory;
  /** The state of the users that `forUser` was called for last, by token. */
  readonly #users = new Map<Credential, ClientState>();

  /** @internal With a tag, Vue does not wrap it in a proxy, behind which private fields cannot be read. */
  get [Symbol.toStringTag](): string {
    return 'ContextClient';
  }

  constructor(options?: ContextClientOptions);
  /** @internal */
  constructor(options?: ContextClientOptions, shared?: ClientState, runtime?: Runtime);
  constructor(given: ContextClientOptions = {}, shared?: ClientState, runtime?: Runtime) {
    const options = checkClientOptions(given, optionsSchema, 'sessionToken');
    const { name, scheme } = checkSessionHeader(options.sessionHeader);
    const kind = { option: 'sessionToken', variable: 'CONTEXT_GATEWAY_SESSION_TOKEN', findProblem: findTokenProblem };
    const authorize = credentialReader(options.sessionToken, kind, (token) =>
      scheme === undefined ? token : `${scheme} ${token}`,
    );
    const area = { name: 'context', credentialHeader: name, authorize, explain } as const;
    super(options, area, shared, runtime);
    this.memory = new Memory(this.transport);
  }

  /**
   * Returns a client for one user of your server: `context.forUser(token).retrieve(id)`. It shares connections, options
   * and `close()` with this client, so do not close it. Rate limits and queues are those of the user, also in the next
   * client for the same token. (A `RateLimiter` that you passed as `pacing` is shared.) Create it for each request.
   *
   * @throws {ConfigurationError} when the token is missing or malformed
   * @example
   * ```ts
   * const token = process.env.CONTEXT_GATEWAY_SESSION_TOKEN ?? ''; // of the user, from your session
   * console.log((await context.forUser(token).memory.list()).length);
   * ```
   */
  forUser(sessionToken: Credential): ContextClient {
    if (!sessionToken) throw new ConfigurationError('forUser needs the session token of the user.');
    const own = this.ownParts();
    const shared = this.#users.get(sessionToken) ?? stateForUser(own.shared);
    const client = new ContextClient({ ...own.options, sessionToken }, shared);
    this.#users.delete(sessionToken); // so that the order is that of the last use
    this.#users.set(sessionToken, shared);
    const [oldest] = this.#users.keys();
    if (this.#users.size > MAX_USERS && oldest !== undefined) this.#users.delete(oldest);
    return client;
  }

  /**
   * Get the compact context of a conversation: rolling summary, pinned messages, token counts. `GET /api/context`
   *
   * @throws {NotFoundError} when the conversation does not exist
   * @throws {PermissionDeniedError} when the conversation belongs to a workspace that the user is not a member of
   *
   * @example
   * ```ts
   * await context.compact('conv_sample', { level: 'deep' });
   * const { rollingSummary, metadata } = await context.retrieve('conv_sample');
   * for (const { decision } of rollingSummary.decisions) console.log(decision);
   * console.log(`${metadata.compressedTokens} of ${metadata.totalTokens} tokens`);
   * ```
   */
  retrieve(conversationId: string, options?: RequestOptions): APIPromise<ConversationContext> {
    return this.transport.request(
      { method: 'GET', path: '/api/context', ids: { conversationId }, query: { conversationId } },
      { schema: contextResponseSchema, unwrap: ({ context }) => context },
      options,
    );
  }

  /**
   * Get only the rolling summary. `GET /api/context/summary`
   *
   * @throws {NotFoundError} when the conversation does not exist
   * @example
   * ```ts
   * const { version, decisions } = await context.summary('conv_sample');
   * console.log(version, decisions.length); // of a new conversation
   * ```
   */
  summary(conversationId: string, options?: RequestOptions): APIPromise<RollingSummary> {
    return this.transport.request(
      { method: 'GET', path: '/api/context/summary', ids: { conversationId }, query: { conversationId } },
      { schema: summaryResponseSchema, unwrap: ({ summary }) => summary },
      options,
    );
  }

  /**
   * Compact the context: `light`, `deep` or `aggressive`. Without `level` the service chooses.
   * `POST /api/context/compact`
   *
   * This call has its own, stricter rate limit and its own queue; other calls do not wait behind it.
   *
   * @throws {RateLimitError} when the limit is still used up after all retries; see `retryAfter`
   *
   * @example
   * ```ts
   * const { previousTokenCount, newTokenCount } = await context.compact('conv_sample', { level: 'light' });
   * console.log(`${previousTokenCount} -> ${newTokenCount} tokens`);
   * ```
   */
  compact(conversationId: string, params: CompactParams = {}, options?: RequestOptions): APIPromise<CompactionResult> {
    return this.transport.request(
      {
        method: 'POST',
        path: '/api/context/compact',
        ids: { conversationId },
        body: params,
        accepts: compactParamsSchema,
        shape: (checked) => ({ ...checked, conversationId }),
        bucket: 'compact',
      },
      { schema: compactResponseSchema, unwrap: ({ result }) => result },
      options,
    );
  }

  /**
   * Pin a message: compactions keep it word for word. `POST /api/context/pin/{conversationId}`
   *
   * Without `category` the service picks one and returns it.
   *
   * @throws {NotFoundError} when the conversation or the message does not exist
   *
   * @example
   * ```ts
   * const item = await context.pin('conv_sample', 'msg_sample_7', { category: 'decision' });
   * console.log(`${item.category}: ${item.content}`);
   * ```
   */
  pin(
    conversationId: string,
    messageId: string,
    params: PinParams = {},
    options?: RequestOptions,
  ): APIPromise<PinnedMemoryItem> {
    return this.transport.request(
      {
        method: 'POST',
        path: '/api/context/pin/{conversationId}',
        ids: { conversationId, messageId },
        body: params,
        accepts: pinParamsSchema,
        shape: (checked) => ({ messageId, ...checked }),
      },
      { schema: pinResponseSchema, unwrap: ({ pinnedItem }) => pinnedItem },
      options,
    );
  }

  /**
   * Unpin a message. `DELETE /api/context/pin/{conversationId}`
   *
   * @throws {NotFoundError} when the conversation does not exist, or the message is not pinned
   * @example
   * ```ts
   * await context.pin('conv_sample', 'msg_sample_7');
   * await context.unpin('conv_sample', 'msg_sample_7');
   * ```
   */
  unpin(conversationId: string, messageId: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request(
      {
        method: 'DELETE',
        path: '/api/context/pin/{conversationId}',
        ids: { conversationId, messageId },
        query: { messageId },
      },
      SUCCESS_ONLY,
      options,
    );
  }

  /**
   * Exclude a message from the rolling summary. `PATCH /api/context/exclude/{conversationId}/{messageId}`
   *
   * @throws {NotFoundError} when the conversation or the message does not exist
   * @example
   * ```ts
   * await context.exclude('conv_sample', 'msg_sample_7');
   * await context.compact('conv_sample', { level: 'deep' });
   * for (const { decision } of (await context.summary('conv_sample')).decisions) console.log(decision);
   * ```
   */
  exclude(conversationId: string, messageId: string, options?: RequestOptions): APIPromise<void> {
    return this.#setExcluded(conversationId, messageId, true, options);
  }

  /**
   * Include an excluded message in the rolling summary again. `PATCH /api/context/exclude/{conversationId}/{messageId}`
   *
   * @throws {NotFoundError} when the conversation or the message does not exist
   * @example
   * ```ts
   * await context.exclude('conv_sample', 'msg_sample_7');
   * await context.include('conv_sample', 'msg_sample_7');
   * ```
   */
  include(conversationId: string, messageId: string, options?: RequestOptions): APIPromise<void> {
    return this.#setExcluded(conversationId, messageId, false, options);
  }

  #setExcluded(
    conversationId: string,
    messageId: string,
    exclude: boolean,
    options?: RequestOptions,
  ): APIPromise<void> {
    return this.transport.request(
      {
        method: 'PATCH',
        path: '/api/context/exclude/{conversationId}/{messageId}',
        ids: { conversationId, messageId },
        body: { exclude },
      },
      SUCCESS_ONLY,
      options,
    );
  }
}

function checkSessionHeader(header: SessionHeader = { name: 'authorization', scheme: 'Bearer' }): SessionHeader {
  const { name: given, scheme } = Object(header) as Partial<SessionHeader>; // not validated yet
  const name = checkHeaderName(given, 'sessionHeader.name', FOR_CREDENTIALS);
  if (scheme !== undefined && !(typeof scheme === 'string' && /^[\w-]+$/.test(scheme))) {
    throw new ConfigurationError(
      "sessionHeader.scheme must be one word, such as 'Bearer'. Leave it out if the header is the token alone.",
    );
  }
  return { name, scheme };
}

/** The two credentials are easily mixed up, and the key would be sent to an API that must not see it. */
function findTokenProblem(token: string): string | undefined {
  return /^svc_(sk|pk)_/.test(token) ? "is an API key; the Context API takes a user's session token" : undefined;
}

function explain(status: number, route: string): string | undefined {
  if (status === 401)
    return 'Check sessionToken: it is missing, wrong or expired, or the service reads it from another header (sessionHeader).';
  if (status === 403) return 'Use the session token of a member of the workspace.';
  if (status === 404 && !route.includes('/memory'))
    return 'Use the ids of the application that stores the conversation: this API creates none.';
  return undefined;
}

/** The state of a client for another user: the same connections, with limits of its own. */
function stateForUser(state: ClientState): ClientState {
  const { runtime, limiter } = state;
  const isOurs = limiter instanceof MemoryRateLimiter;
  return {
    ...state,
    limiter: isOurs ? new MemoryRateLimiter(runtime) : limiter,
    retryBudget: new RetryBudget(),
    rateLimits: new Map(),
    reads: undefined,
    isOfUser: true,
  };
}
