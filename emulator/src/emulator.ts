import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Clock } from './base/clock.js';
import type { ScriptedReplies } from './completions/scripted-replies.js';
import type { CompactionResult } from './context/responses.js';
import { controlPlane } from './control/control-plane.js';
import { type InspectedConversation, inspectConversation } from './control/page/inspected-conversation.js';
import { InitialState } from './control/state/initial-state.js';
import type { Snapshots } from './control/state/snapshots.js';
import { currentState, restoreState } from './control/state/state.js';
import type { EmulatorState } from './control/state/state-schema.js';
import { createParts } from './emulator-parts.js';
import type { Faults } from './faults/faults.js';
import { inProcessFetch } from './http/in-process-fetch.js';
import type { EndedRequest, RequestRecord } from './http/log/request-record.js';
import { type RequestChanges, resend } from './http/log/resent.js';
import { errorResponse, type PlainResponse } from './http/plain-response.js';
import { SCOPE_HEADER, Scopes } from './http/scopes.js';
import { type Listening, listenOn } from './http/server.js';
import { Service } from './http/service.js';
import type { ServiceOptions } from './options.js';
import type { Account } from './store/account.js';
import type { ApiKeys } from './store/api-keys.js';
import type { CompactionLevel } from './store/conversation-records.js';
import type { Conversations } from './store/conversations.js';
import type { Files } from './store/files.js';
import type { Integrations } from './store/integrations.js';
import type { UserMemory } from './store/memory.js';
import type { Models } from './store/models.js';
import type { Presets } from './store/presets.js';
import type { Sessions } from './store/sessions.js';
import type { Workspaces } from './store/workspaces.js';
import { type Answers, answersFrom } from './upstream/sources.js';

/** The address and credentials of a listening emulator. */
export interface ListeningEmulator extends Listening {
  apiKeys: { secret: string; publishable: string };
  sessionToken: string;
}

/** Creates the initial data. */
export interface EmulatorSetup {
  (emulator: Emulator): void;
  /** Called instead when the emulator starts with stored data. Adds what is not stored. */
  resume?: ((emulator: Emulator) => void) | undefined;
}

/** Options of `createEmulator`. All are optional. */
export interface EmulatorOptions extends ServiceOptions {
  /** Creates the initial data. Called at construction and after every reset. */
  setup?: EmulatorSetup | undefined;
  /** A snapshot to start with, in place of `setup`. A reset returns to it. Ignored if there is stored data. */
  state?: EmulatorState | undefined;
}

/**
 * Creates an emulator of the service, in memory or in a directory. It does not listen until you call `listen`.
 * Emulators share no state.
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  return new Emulator(options);
}

/** An emulator of the whole service. Its members read and change its state. */
export class Emulator {
  /** The account's plan. */
  readonly account: Account;
  /** The account's keys. */
  readonly apiKeys: ApiKeys;
  /** Users and their session tokens. */
  readonly sessions: Sessions;
  /** Conversations and their messages. */
  readonly conversations: Conversations;
  /** Workspaces and their members. */
  readonly workspaces: Workspaces;
  /** User memory. */
  readonly memory: UserMemory;
  /** The available models. */
  readonly models: Models;
  /** Stored templates. */
  readonly presets: Presets;
  /** Uploaded files and their bytes. */
  readonly files: Files;
  /** Connected integrations and their executed actions. */
  readonly integrations: Integrations;
  /** Faults for the next requests. */
  readonly faults: Faults;
  /** Scripted replies. */
  readonly chat: ScriptedReplies;
  /** The emulator's time. */
  readonly clock: Clock;
  /** Snapshots by name. */
  readonly snapshots: Snapshots;

  readonly #options: EmulatorOptions;
  readonly #parts: ReturnType<typeof createParts>;
  readonly #initial: InitialState;
  readonly #scopes: Scopes<Emulator>;
  readonly #service: Service;
  /** Open until `close`. */
  readonly #listening = new Set<Listening>();
  readonly #closed = new AbortController();

  constructor(options: EmulatorOptions = {}) {
    const { signal } = this.#closed;
    // All open streams listen to it.
    setMaxListeners(0, signal);
    const parts = createParts(options, signal);
    const { fetch } = this;
    const reset = (): void => this.reset();
    const endScope = (name: string): Promise<boolean> => this.endScope(name);
    const answers = (): Answers => this.answers();
    this.#options = options;
    this.#parts = parts;
    ({
      account: this.account,
      apiKeys: this.apiKeys,
      sessions: this.sessions,
      conversations: this.conversations,
      workspaces: this.workspaces,
      memory: this.memory,
      models: this.models,
      presets: this.presets,
      files: this.files,
      integrations: this.integrations,
    } = parts.stores);
    ({ faults: this.faults, chat: this.chat, clock: this.clock, snapshots: this.snapshots } = parts);
    this.#service = new Service({ ...parts, control: controlPlane({ ...parts, fetch, reset, endScope, answers }) });
    this.#scopes = new Scopes(() => new Emulator(this.#scopeOptions()));
    this.#initial = new InitialState(parts, () => options.setup?.(this), options.state);
    const isNew = this.#initial.open({
      seed: String(options.seed ?? crypto.randomUUID()),
      isKnown: options.seed !== undefined,
    });
    if (!isNew) options.setup?.resume?.(this);
  }

  /** A session token of the first user, for the Context API. */
  get sessionToken(): string {
    return this.sessions.first.token;
  }

  /** The user `sessionToken` belongs to. */
  get userId(): string {
    return this.sessions.first.userId;
  }

  /** The last 1,000 requests to both APIs, oldest first, without keys. */
  get requests(): readonly RequestRecord[] {
    return this.#parts.log.records();
  }

  /**
   * Calls the listener with each request when it ends. `request(id)` returns its full record. Returns a function that
   * removes the listener.
   */
  onRequest(listener: (request: EndedRequest) => void): () => void {
    return this.#parts.log.onEnd(listener);
  }

  /** The newest requests, at most `limit`; or, with an id, the first ones after that request. */
  recentRequests(limit: number, after?: string | undefined): RequestRecord[] {
    return this.#parts.log.recent(limit, after);
  }

  /** One of the last 1,000 requests, complete or not. */
  request(requestId: string): RequestRecord | undefined {
    return this.#parts.log.find(requestId);
  }

  /**
   * Sends one of the last 1,000 requests once more, with its own key. Returns the id of the new request at once, or
   * `undefined` if the log does not have the request.
   */
  resend(requestId: string, changes: RequestChanges = {}): string | undefined {
    return resend(this.#parts.log, this.fetch, requestId, changes);
  }

  /**
   * A snapshot of all stored data, for `restore`. It contains keys and tokens only as hashes, but also the seed. Anyone
   * with the seed can derive the initial keys and the initial token.
   */
  state(): EmulatorState {
    return currentState(this.#parts);
  }

  /**
   * Replaces all stored data with a snapshot, including keys and sessions, and puts the clock back to where it stood.
   * Windows of rate limits start anew.
   */
  restore(state: EmulatorState): void {
    restoreState(this.#parts, state);
  }

  /** Where completions come from, and all recordings. */
  answers(): Answers {
    return answersFrom(this.#parts.source, this.#options);
  }

  /** A conversation with its context, the status of its messages and all versions of its summary. */
  inspect(conversationId: string): Promise<InspectedConversation | undefined> {
    return inspectConversation(this.#parts, conversationId);
  }

  /** Compacts a conversation, like the Context API. Returns `undefined` if it does not exist. */
  async compact(conversationId: string, level: CompactionLevel): Promise<CompactionResult | undefined> {
    if (this.conversations.get(conversationId) === undefined) return undefined;
    return (await this.#parts.contexts.compact(conversationId, level)).result;
  }

  /** Responds to a request in process. Works wherever a `fetch` is accepted. */
  readonly fetch = inProcessFetch((request) => this.#handle(request), this.#closed.signal);

  /**
   * A part of this emulator for one test, which requests with the header `X-Emulator-Scope: name` reach: with data, log,
   * faults, replies and limits of its own, in memory, from the same initial state and with the same keys. Created on first
   * use. Throws a RangeError for an invalid name, or for more than 500 scopes at once.
   */
  scope(name: string): Emulator {
    return this.#scopes.of(name);
  }

  /** Ends a scope and its pending requests. Returns false if there is none. */
  endScope(name: string): Promise<boolean> {
    return this.#scopes.end(name);
  }

  /** Listens on a port; port 0 picks a free one. */
  async listen({
    port = 0,
    host = '127.0.0.1',
  }: {
    port?: number | undefined;
    host?: string | undefined;
  } = {}): Promise<ListeningEmulator> {
    const listening = await listenOn((request, incoming) => this.#handle(request, incoming), { port, host });
    this.#listening.add(listening);
    const { secret, publishable } = this.apiKeys;
    return {
      url: listening.url,
      port: listening.port,
      apiKeys: { secret, publishable },
      sessionToken: this.sessionToken,
      close: async () => {
        this.#listening.delete(listening);
        await listening.close();
      },
    };
  }

  /**
   * Restores the initial state, with the same keys, and puts the clock back to its start. Removes data, faults, replies,
   * used limits and the request log. If `setup` throws, nothing changes.
   */
  reset(): void {
    const { source, limiter, log, changes } = this.#parts;
    this.#initial.restore();
    source?.reset?.();
    limiter.reset();
    log.clear();
    changes.notify('everything');
  }

  /** Stops listening, and ends all pending requests. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the emulator was closed'));
    await Promise.all([this.#scopes, ...this.#listening].map((one) => one.close()));
    this.#listening.clear();
    this.#parts.stores.storage.close();
  }

  /** Lets `await using emulator = createEmulator()` close it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #handle(request: Request, incoming?: IncomingMessage): Promise<PlainResponse | Response> {
    const name = request.headers.get(SCOPE_HEADER);
    if (name === null) return this.#service.handle(request, incoming);
    let scope: Emulator;
    try {
      scope = this.scope(name);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return errorResponse('gateway', 400, message, { param: SCOPE_HEADER });
    }
    return scope.#service.handle(request, incoming);
  }

  /** The same emulator in memory, with the same seed. */
  #scopeOptions(): EmulatorOptions {
    const { clock } = this.#options;
    return {
      ...this.#options,
      data: undefined,
      storage: undefined,
      seed: this.#parts.stores.seedRecord()?.seed,
      // Without a position, so that no test puts back the time of the others.
      clock: clock && { now: () => clock.now(), advance: (ms) => clock.advance(ms), sleep: clock.sleep.bind(clock) },
    };
  }
}
