import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Clock } from './clock.js';
import type { CompactionLevel } from './compaction/compact.js';
import { Completions } from './completions.js';
import type { CompactionResult } from './context-answers.js';
import { contextRoutes } from './context-routes.js';
import type { ControlledEmulator } from './control/plane.js';
import { controlRoutes } from './control-routes.js';
import { Faults } from './faults.js';
import { gatewayRoutes } from './gateway-routes.js';
import { inProcessFetch } from './in-process-fetch.js';
import { LanguageLoader } from './language.js';
import { type EmulatorModel, MODELS } from './models.js';
import type { ServiceOptions } from './options.js';
import { type InspectedConversation, inspectConversation, type Overview, overviewOf } from './overview.js';
import { RateLimiter } from './rate-limit.js';
import { RequestLog, type RequestRecord } from './request-log.js';
import { ScriptedReplies } from './scripted-replies.js';
import { type Listening, listenOn } from './server.js';
import { Service } from './service.js';
import { resolveSettings, type Settings } from './settings.js';
import { type EmulatorState, exportState, importState } from './state.js';
import type { Account } from './store/account.js';
import type { ApiKeys } from './store/api-keys.js';
import type { Conversations } from './store/conversations.js';
import type { Files } from './store/files.js';
import type { Integrations } from './store/integrations.js';
import type { UserMemory } from './store/memory.js';
import type { Presets } from './store/presets.js';
import type { Sessions } from './store/sessions.js';
import { SqliteStorage } from './store/sqlite.js';
import { MemoryStorage, type Storage } from './store/storage.js';
import { Stores } from './store/stores.js';
import type { Workspaces } from './store/workspaces.js';
import { upstreamSummarizer } from './summarizer.js';
import { modelSource } from './upstream/source.js';

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
  /** The models offered. */
  readonly models: readonly EmulatorModel[] = MODELS;
  /** What goes wrong with the next requests. */
  readonly faults: Faults;
  /** Completions answered in advance. */
  readonly chat = new ScriptedReplies();
  /** The emulator's time. */
  readonly clock: Clock;

  readonly #options: EmulatorOptions;
  readonly #settings: Settings;
  readonly #stores: Stores;
  readonly #limiter: RateLimiter;
  readonly #log = new RequestLog();
  readonly #service: Service;
  /** Open until `close`. */
  readonly #listening = new Set<Listening>();
  readonly #closed = new AbortController();

  constructor(options: EmulatorOptions = {}) {
    const settings = resolveSettings(options);
    const source = modelSource(options.upstream, options.cassettes);
    const language = new LanguageLoader();
    const summarizer = settings.summarizer === 'upstream' ? upstreamSummarizer(source, language) : undefined;
    const stores = new Stores(storageOf(options), settings, language, summarizer);
    const { ids } = stores;
    this.#options = options;
    this.#settings = settings;
    this.#stores = stores;
    this.clock = settings.clock;
    this.faults = new Faults(() => ids.fraction('fault'));
    this.#limiter = new RateLimiter(() => settings.clock.now());
    this.#service = new Service({
      settings,
      stores,
      limiter: this.#limiter,
      faults: this.faults,
      log: this.#log,
      context: contextRoutes(stores, settings),
      gateway: gatewayRoutes({ settings, stores, completions: new Completions(language, this.chat, settings, source) }),
      control: controlRoutes(this),
      closed: this.#closed.signal,
    });
    // Every open stream listens to it.
    setMaxListeners(0, this.#closed.signal);
    if (stores.isNew) this.#begin(String(options.seed ?? crypto.randomUUID()));
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

  /** The newest of them, so many at most, and only those after the one of this id when it is given. */
  recentRequests(limit: number, after?: string | undefined): RequestRecord[] {
    return this.#log.recent(limit, after);
  }

  /** Everything that is stored, as plain data: a snapshot for `restore`. Keys are in it as hashes only. */
  state(): EmulatorState {
    return exportState(this.#stores.storage);
  }

  /** Put a state in the place of everything that is stored; its keys and sessions are then the valid ones. */
  restore(state: EmulatorState): void {
    importState(this.#stores.storage, state);
    this.#stores.forget();
  }

  /** What the inspector's page shows at a glance. */
  overview(): Overview {
    return overviewOf(this.#stores, this.#limiter, this.#settings, this.models);
  }

  /** One conversation with its context, its messages' standing and the versions of its summary. */
  inspect(conversationId: string): Promise<InspectedConversation | undefined> {
    return inspectConversation(this.#stores, conversationId);
  }

  /** Compact a conversation, as the Context API does; undefined when there is none of this id. */
  async compact(conversationId: string, level: CompactionLevel): Promise<CompactionResult | undefined> {
    if (this.conversations.get(conversationId) === undefined) return undefined;
    return (await this.#stores.contexts.compact(conversationId, level)).result;
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
    const handle = (request: Request, socket: Socket): Promise<Response> => this.#service.handle(request, socket);
    const listening = await listenOn(handle, { port, host });
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

  /** Back to the first state, with the same keys: data, faults, replies, limits and the request log are gone. */
  reset(): void {
    this.faults.clear();
    this.chat.clear();
    this.#limiter.reset();
    this.#log.clear();
    this.#begin(this.#stores.seed);
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

  #begin(seed: string): void {
    this.#stores.begin(seed, () => this.#options.setup?.(this));
  }
}

function storageOf({ storage, data }: ServiceOptions): Storage {
  if (storage !== undefined) return storage;
  return data === undefined ? new MemoryStorage() : SqliteStorage.open(data);
}
