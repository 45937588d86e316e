import { setMaxListeners } from 'node:events';
import { contextRoutes } from './api/context-routes.js';
import { gatewayRoutes } from './api/gateway-routes.js';
import { Changes } from './base/changes.js';
import type { Clock } from './base/clock.js';
import { Completions } from './completions/completions.js';
import { ScriptedReplies } from './completions/scripted-replies.js';
import type { CompactionResult } from './context/answers.js';
import type { CompactionLevel } from './context/compaction/compact.js';
import { ConversationContexts } from './context/conversation-context.js';
import { upstreamSummarizer } from './context/summarizer.js';
import { type InspectedConversation, inspectConversation, type Overview, overviewOf } from './control/overview.js';
import type { ControlledEmulator } from './control/plane.js';
import { controlRoutes } from './control/routes.js';
import { type EmulatorState, exportState, importState } from './control/state.js';
import { Faults } from './faults/faults.js';
import { inProcessFetch } from './http/in-process-fetch.js';
import { RateLimiter } from './http/rate-limit.js';
import { RequestLog, type RequestRecord } from './http/request-log.js';
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
import { beginState, forgetDerived, type Origin, type Stores, storesOver } from './store/stores.js';
import { watchedStorage } from './store/watched-storage.js';
import type { Workspaces } from './store/workspaces.js';
import { LanguageLoader } from './text/language.js';
import { RecordingSource, ReplaySource } from './upstream/cassettes.js';
import type { ModelSource } from './upstream/model-source.js';
import { UpstreamSource } from './upstream/upstream-source.js';

/** Where a listening emulator is found, and what opens it. */
export interface ListeningEmulator extends Listening {
  apiKeys: { secret: string; publishable: string };
  sessionToken: string;
}

/** How `createEmulator` sets up the service. Everything has a plain default. */
export interface EmulatorOptions extends ServiceOptions {
  /** Puts first data in; runs at construction and after every reset. */
  setup?: ((emulator: Emulator) => void) | undefined;
}

/** The service, in memory or in a directory. Nothing listens until `listen` is called; two emulators share nothing. */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  return new Emulator(options);
}

/** The whole service, with its state and the handles to look at it and to change it. */
export class Emulator implements ControlledEmulator {
  /** What goes wrong with the next requests. */
  readonly faults: Faults;
  /** Completions answered in advance. */
  readonly chat = new ScriptedReplies();
  /** The emulator's time. */
  readonly clock: Clock;

  readonly #options: EmulatorOptions;
  readonly #stores: Stores;
  readonly #contexts: ConversationContexts;
  readonly #limiter: RateLimiter;
  readonly #log: RequestLog;
  readonly #changes = new Changes();
  readonly #service: Service;
  /** Open until `close`. */
  readonly #listening = new Set<Listening>();
  readonly #closed = new AbortController();

  constructor(options: EmulatorOptions = {}) {
    const settings = resolveSettings(options);
    const source = modelSource(options);
    const language = new LanguageLoader();
    const summarizer = settings.summarizer === 'upstream' ? upstreamSummarizer(source, language) : undefined;
    const stores = storesOver(watchedStorage(storageOf(options), this.#changes), settings);
    const { ids } = stores;
    this.#contexts = new ConversationContexts(stores.conversations, language, ids, settings.clock, summarizer);
    this.#options = options;
    this.#stores = stores;
    this.clock = settings.clock;
    this.faults = new Faults(
      () => ids.fraction('fault'),
      () => this.#changes.tell('faults'),
    );
    this.#log = new RequestLog(
      (credential) => stores.apiKeys.get(credential)?.name ?? stores.sessions.user(credential),
    );
    this.#limiter = new RateLimiter(() => settings.clock.now());
    const completions = new Completions(language, this.chat, stores.models, settings, source);
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
      control: controlRoutes(
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
    // Every open stream listens to it.
    setMaxListeners(0, this.#closed.signal);
    if (stores.origin() === undefined)
      this.#begin({ seed: String(options.seed ?? crypto.randomUUID()), isKnown: options.seed !== undefined });
  }

  /** The account's plan. */
  get account(): Account {
    return this.#stores.account;
  }

  /** The account's keys. */
  get apiKeys(): ApiKeys {
    return this.#stores.apiKeys;
  }

  /** Users and their session tokens. */
  get sessions(): Sessions {
    return this.#stores.sessions;
  }

  /** Conversations and their messages. */
  get conversations(): Conversations {
    return this.#stores.conversations;
  }

  /** Workspaces and their members. */
  get workspaces(): Workspaces {
    return this.#stores.workspaces;
  }

  /** User memory. */
  get memory(): UserMemory {
    return this.#stores.memory;
  }

  /** The models offered. */
  get models(): Models {
    return this.#stores.models;
  }

  /** Stored templates. */
  get presets(): Presets {
    return this.#stores.presets;
  }

  /** Uploaded files and their bytes. */
  get files(): Files {
    return this.#stores.files;
  }

  /** Connected integrations and what they did. */
  get integrations(): Integrations {
    return this.#stores.integrations;
  }

  /** The token of a signed-in user, for the Context API. */
  get sessionToken(): string {
    return this.sessions.first.token;
  }

  /** The user `sessionToken` belongs to. */
  get userId(): string {
    return this.sessions.first.userId;
  }

  /** The last 1,000 requests to the two API areas, oldest first, without keys. */
  get requests(): readonly RequestRecord[] {
    return this.#log.records();
  }

  /** Calls the listener with every request that has ended; gives the function that takes it off. */
  onRequest(listener: (request: RequestRecord) => void): () => void {
    return this.#log.onEnd(listener);
  }

  /** The newest of them, so many at most; or, when an id is given, the first so many after that one. */
  recentRequests(limit: number, after?: string | undefined): RequestRecord[] {
    return this.#log.recent(limit, after);
  }

  /** One of the last 1,000, as far as it has come. */
  request(requestId: string): RequestRecord | undefined {
    return this.#log.find(requestId);
  }

  /**
   * Everything that is stored, as plain data: a snapshot for `restore`. It holds keys and tokens as hashes, and the seed that the first
   * two keys and the first token come from: who has the snapshot has those.
   */
  state(): EmulatorState {
    return exportState(this.#stores.storage);
  }

  /** Put a state in the place of everything that is stored; its keys and sessions are then the valid ones. */
  restore(state: EmulatorState): void {
    importState(this.#stores.storage, state);
    forgetDerived(this.#stores);
  }

  /** What the inspector's page shows at a glance. */
  overview(search?: string | undefined): Overview {
    return overviewOf(this.#stores, this.#limiter, this.clock, search);
  }

  /** @internal */
  advanceClock(ms: number): void {
    this.clock.advance(ms);
    this.#changes.tell('clock');
  }

  /** One conversation with its context, its messages' standing and the versions of its summary. */
  inspect(conversationId: string): Promise<InspectedConversation | undefined> {
    return inspectConversation(this.#stores, this.#contexts, conversationId);
  }

  /** Compact a conversation, as the Context API does; undefined when there is none of this id. */
  async compact(conversationId: string, level: CompactionLevel): Promise<CompactionResult | undefined> {
    if (this.conversations.get(conversationId) === undefined) return undefined;
    return (await this.#contexts.compact(conversationId, level)).result;
  }

  /** Answer a request in process; usable wherever a `fetch` is asked for. */
  readonly fetch = inProcessFetch((request) => this.#service.handle(request), this.#closed.signal);

  /** Answer on a port of this machine; port 0 takes a free one. */
  async listen({
    port = 0,
    host = '127.0.0.1',
  }: {
    port?: number | undefined;
    host?: string | undefined;
  } = {}): Promise<ListeningEmulator> {
    const listening = await listenOn((request, incoming) => this.#service.handle(request, incoming), { port, host });
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

  /** Back to the first state, with the same keys: data, faults, replies, limits and the request log are gone. All or nothing. */
  reset(): void {
    // `setup` may add rules and replies, so they go first; they come back when it fails.
    const takeBack = [this.faults.clear(), this.chat.clear()];
    try {
      // There is one since the first state.
      this.#begin(this.#stores.origin() as Origin);
    } catch (error) {
      for (const again of takeBack) again();
      throw error;
    }
    this.#limiter.reset();
    this.#log.clear();
    this.#changes.tell('everything');
  }

  /** Stop listening, and end everything that still waits. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the emulator was closed'));
    await Promise.all([...this.#listening].map((listening) => listening.close()));
    this.#listening.clear();
    this.#stores.storage.close();
  }

  /** `await using emulator = createEmulator()` closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #begin(origin: Origin): void {
    beginState(this.#stores, origin, () => this.#options.setup?.(this));
  }
}

function storageOf({ storage, data }: ServiceOptions): Storage {
  if (storage !== undefined) return storage;
  return data === undefined ? new MemoryStorage() : SqliteStorage.open(data);
}

/** The source that the options ask for; none without an upstream or recorded answers. */
function modelSource({ upstream, cassettes }: ServiceOptions): ModelSource | undefined {
  if (cassettes?.mode === 'replay') return new ReplaySource(cassettes.directory);
  if (upstream === undefined) {
    if (cassettes === undefined) return undefined;
    throw new RangeError('cassettes: recording requires an upstream');
  }
  const source = new UpstreamSource(upstream);
  return cassettes === undefined ? source : new RecordingSource(source, cassettes.directory);
}
