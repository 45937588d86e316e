import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { contextRoutes } from './api/context-routes.js';
import { gatewayRoutes } from './api/gateway-routes.js';
import { Changes } from './base/changes.js';
import type { Clock, ClockPosition } from './base/clock.js';
import { redact } from './base/redact.js';
import { Completions } from './completions/completions.js';
import { ScriptedReplies } from './completions/scripted-replies.js';
import type { CompactionLevel } from './context/compaction/compact.js';
import { ConversationContexts } from './context/conversation-context.js';
import type { CompactionResult } from './context/responses.js';
import { upstreamSummarizer } from './context/summarizer.js';
import { controlPlane } from './control/control-plane.js';
import type { ControlledEmulator } from './control/control-routes.js';
import { type InspectedConversation, inspectConversation, type Overview, overviewOf } from './control/overview.js';
import { Snapshots } from './control/snapshots.js';
import { type EmulatorState, exportState, importState } from './control/state.js';
import { Faults } from './faults/faults.js';
import { inProcessFetch } from './http/in-process-fetch.js';
import { errorResponse, type PlainResponse } from './http/plain-response.js';
import { RateLimiter } from './http/rate-limit.js';
import { type EndedRequest, RequestLog, type RequestRecord } from './http/request-log.js';
import { type RequestChanges, resentRequest } from './http/resent.js';
import { type Listening, listenOn } from './http/server.js';
import { Service } from './http/service.js';
import type { ServiceOptions } from './options.js';
import { resolveSettings } from './settings.js';
import type { Account } from './store/account.js';
import type { ApiKeys } from './store/api-keys.js';
import type { Conversations } from './store/conversations.js';
import type { Files } from './store/files.js';
import type { Integrations } from './store/integrations.js';
import type { UserMemory } from './store/memory.js';
import type { Models } from './store/models.js';
import type { Presets } from './store/presets.js';
import type { Sessions } from './store/sessions.js';
import { SqliteStorage } from './store/sqlite.js';
import { MemoryStorage, type Storage } from './store/storage.js';
import { createStores, dropCaches, initializeStores, type SeedRecord, type Stores } from './store/stores.js';
import { watchedStorage } from './store/watched-storage.js';
import type { Workspaces } from './store/workspaces.js';
import { LanguageLoader } from './text/language.js';
import { type Answers, RecordingSource, ReplaySource, readableRecording, recordingsIn } from './upstream/cassettes.js';
import type { ModelSource } from './upstream/model-source.js';
import { UpstreamSource } from './upstream/upstream-source.js';

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
export class Emulator implements ControlledEmulator {
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
  readonly chat = new ScriptedReplies();
  /** The emulator's time. */
  readonly clock: Clock;
  /** Snapshots by name. */
  readonly snapshots = new Snapshots();

  readonly #options: EmulatorOptions;
  readonly #start: ClockPosition | undefined;
  readonly #source: ModelSource | undefined;
  readonly #stores: Stores;
  readonly #contexts: ConversationContexts;
  readonly #limiter: RateLimiter;
  readonly #log: RequestLog;
  readonly #changes = new Changes();
  readonly #service: Service;
  /** Open until `close`. */
  readonly #listening = new Set<Listening>();
  readonly #scopes = new Map<string, Emulator>();
  readonly #closed = new AbortController();

  constructor(options: EmulatorOptions = {}) {
    const settings = resolveSettings(options);
    const source = modelSource(options);
    this.#source = source;
    const language = new LanguageLoader();
    const summarizer = settings.summarizer === 'upstream' ? upstreamSummarizer(source, language) : undefined;
    const stores = createStores(watchedStorage(storageOf(options), this.#changes), settings);
    const { ids } = stores;
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
    } = stores);
    this.#contexts = new ConversationContexts(stores.conversations, language, ids, settings.clock, summarizer);
    this.#options = options;
    this.#stores = stores;
    this.clock = settings.clock;
    this.faults = new Faults(
      () => ids.fraction('fault'),
      () => this.#changes.notify('faults'),
    );
    this.#log = new RequestLog(
      (credential) => stores.apiKeys.get(credential)?.name ?? stores.sessions.user(credential),
    );
    this.#limiter = new RateLimiter(() => settings.clock.now());
    const completions = new Completions(language, this.chat, stores.models, settings, source, stores.ids);
    const context = contextRoutes(stores, this.#contexts, settings);
    const gateway = gatewayRoutes({ settings, stores, completions });
    this.#service = new Service({
      settings,
      stores,
      limiter: this.#limiter,
      faults: this.faults,
      log: this.#log,
      context,
      gateway,
      control: controlPlane(
        this,
        {
          stores,
          contexts: this.#contexts,
          log: this.#log,
          changes: this.#changes,
          closed: this.#closed.signal,
        },
        { ...settings, context, gateway },
      ),
      closed: this.#closed.signal,
    });
    // All open streams listen to it.
    setMaxListeners(0, this.#closed.signal);
    const isNew = stores.seedRecord() === undefined;
    if (isNew && options.state?.clock !== undefined) this.clock.moveTo?.(options.state.clock);
    this.#start = this.clock.position?.();
    if (isNew) this.#begin({ seed: String(options.seed ?? crypto.randomUUID()), isKnown: options.seed !== undefined });
    else options.setup?.resume?.(this);
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
    return this.#log.records();
  }

  /**
   * Calls the listener with each request when it ends. `request(id)` returns its full record. Returns a function that
   * removes the listener.
   */
  onRequest(listener: (request: EndedRequest) => void): () => void {
    return this.#log.onEnd(listener);
  }

  /** The newest requests, at most `limit`; or, with an id, the first ones after that request. */
  recentRequests(limit: number, after?: string | undefined): RequestRecord[] {
    return this.#log.recent(limit, after);
  }

  /** One of the last 1,000 requests, complete or not. */
  request(requestId: string): RequestRecord | undefined {
    return this.#log.find(requestId);
  }

  /**
   * Sends one of the last 1,000 requests once more, with its own key. Returns the id of the new request at once, or
   * `undefined` if the log does not have the request.
   */
  resend(requestId: string, changes: RequestChanges = {}): string | undefined {
    const entry = this.#log.entry(requestId);
    if (entry === undefined) return undefined;
    const request = resentRequest(entry, changes);
    let newId: string | undefined;
    const stop = this.#log.listen((added) => {
      newId ??= added.requestId;
    });
    // The log has the request before the first wait.
    const response = this.fetch(request);
    stop();
    // Read to its end, as a client would. A fault may break it.
    response.then((answer) => answer.arrayBuffer()).catch(() => {});
    return newId;
  }

  /**
   * A snapshot of all stored data, for `restore`. It contains keys and tokens only as hashes, but also the seed. Anyone
   * with the seed can derive the initial keys and the initial token.
   */
  state(): EmulatorState {
    const clock = this.clock.position?.();
    return { ...exportState(this.#stores.storage), ...(clock && { clock }) };
  }

  /**
   * Replaces all stored data with a snapshot, including keys and sessions, and puts the clock back to where it stood.
   * Windows of rate limits start anew.
   */
  restore(state: EmulatorState): void {
    importState(this.#stores.storage, state);
    dropCaches(this.#stores);
    this.#limiter.reset();
    if (state.clock !== undefined) this.clock.moveTo?.(state.clock);
    this.#changes.notify('everything');
  }

  /** The data of the inspector's overview. */
  overview(search?: string | undefined): Overview {
    return overviewOf(this.#stores, this.#limiter, this.clock, search);
  }

  /** Where completions come from, and all recordings. */
  answers(): Answers {
    const { upstream, cassettes } = this.#options;
    return {
      from: this.#source?.name ?? 'built-in',
      upstream: upstream && redact(upstream.url.replace(/\/\/[^/@]*@/, '//')),
      directory: cassettes?.directory,
      recordings: cassettes === undefined ? [] : recordingsIn(cassettes.directory).map(readableRecording),
    };
  }

  /** @internal */
  advanceClock(ms: number): void {
    this.clock.advance(ms);
    this.#changes.notify('clock');
  }

  /** A conversation with its context, the status of its messages and all versions of its summary. */
  inspect(conversationId: string): Promise<InspectedConversation | undefined> {
    return inspectConversation(this.#stores, this.#contexts, conversationId);
  }

  /** Compacts a conversation, like the Context API. Returns `undefined` if it does not exist. */
  async compact(conversationId: string, level: CompactionLevel): Promise<CompactionResult | undefined> {
    if (this.conversations.get(conversationId) === undefined) return undefined;
    return (await this.#contexts.compact(conversationId, level)).result;
  }

  /** Responds to a request in process. Works wherever a `fetch` is accepted. */
  readonly fetch = inProcessFetch((request) => this.#handle(request), this.#closed.signal);

  /**
   * A part of this emulator for one test, which requests with the header `X-Emulator-Scope: name` reach: with data, log,
   * faults, replies and limits of its own, in memory, from the same initial state and with the same keys. Created on first
   * use. Throws a RangeError for an invalid name, or for more than 500 scopes at once.
   */
  scope(name: string): Emulator {
    const known = this.#scopes.get(name);
    if (known !== undefined) return known;
    if (!/^[\w.:-]{1,200}$/.test(name)) throw new RangeError(`not a name of a scope: ${name.slice(0, 100)}`);
    if (this.#scopes.size >= MOST_SCOPES) throw new RangeError(`there are ${MOST_SCOPES} scopes; end some`);
    const { clock } = this.#options;
    const scope = new Emulator({
      ...this.#options,
      data: undefined,
      storage: undefined,
      seed: this.#stores.seedRecord()?.seed,
      // Without a position, so that no test puts back the time of the others.
      clock: clock && { now: () => clock.now(), advance: (ms) => clock.advance(ms), sleep: clock.sleep.bind(clock) },
    });
    this.#scopes.set(name, scope);
    return scope;
  }

  /** Ends a scope and its pending requests. Returns false if there is none. */
  async endScope(name: string): Promise<boolean> {
    const scope = this.#scopes.get(name);
    this.#scopes.delete(name);
    await scope?.close();
    return scope !== undefined;
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
    // `setup` may add rules and replies, so these are removed first, and restored if it fails.
    const undo = [this.faults.clear(), this.chat.clear()];
    try {
      // The setup may depend on the time.
      const now = this.clock.position?.();
      if (now !== undefined && this.#start !== undefined) {
        this.clock.moveTo?.(this.#start);
        undo.push(() => this.clock.moveTo?.(now));
      }
      // The initial state has set it.
      this.#begin(this.#stores.seedRecord() as SeedRecord);
    } catch (error) {
      for (const restore of undo) restore();
      throw error;
    }
    this.#source?.reset?.();
    this.#limiter.reset();
    this.#log.clear();
    this.#changes.notify('everything');
  }

  /** Stops listening, and ends all pending requests. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the emulator was closed'));
    await Promise.all([...this.#listening, ...this.#scopes.values()].map((one) => one.close()));
    this.#scopes.clear();
    this.#listening.clear();
    this.#stores.storage.close();
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

  #begin(seedRecord: SeedRecord): void {
    const { state } = this.#options;
    if (state !== undefined) {
      importState(this.#stores.storage, state);
      dropCaches(this.#stores);
    } else initializeStores(this.#stores, seedRecord, () => this.#options.setup?.(this));
  }
}

const SCOPE_HEADER = 'x-emulator-scope';
const MOST_SCOPES = 500;

function storageOf({ storage, data }: ServiceOptions): Storage {
  if (storage !== undefined) return storage;
  return data === undefined ? new MemoryStorage() : SqliteStorage.open(data);
}

/** The model source of the options; `undefined` without an upstream or recorded responses. */
function modelSource({ upstream, cassettes }: ServiceOptions): ModelSource | undefined {
  if (cassettes?.mode === 'replay') return new ReplaySource(cassettes.directory);
  if (upstream === undefined) {
    if (cassettes === undefined) return undefined;
    throw new RangeError('cassettes: recording requires an upstream');
  }
  const source = new UpstreamSource(upstream);
  return cassettes === undefined ? source : new RecordingSource(source, cassettes.directory);
}
