import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { ApiKeys, Sessions } from './auth.js';
import type { Clock } from './clock.js';
import { Completions } from './completions.js';
import { contextRoutes } from './context-routes.js';
import { controlRoutes } from './control-routes.js';
import { ConversationContexts } from './conversation-context.js';
import { Faults } from './faults.js';
import { gatewayRoutes } from './gateway-routes.js';
import { IdempotencyMemory } from './idempotency.js';
import { LanguageLoader } from './language.js';
import { type EmulatorModel, MODELS } from './models.js';
import { type EmulatorOptions, resolveSettings } from './options.js';
import { IdSource } from './random.js';
import { RateLimiter } from './rate-limit.js';
import { connectionReset } from './relay.js';
import { RequestLog, type RequestRecord } from './request-log.js';
import { ScriptedReplies } from './scripted-replies.js';
import { type Listening, listenOn } from './server.js';
import { Service } from './service.js';
import { type EmulatorState, stateOf } from './state.js';
import { Conversations } from './store/conversations.js';
import { Files } from './store/files.js';
import { Integrations } from './store/integrations.js';
import { UserMemory } from './store/memory.js';
import { Presets } from './store/presets.js';
import { MemoryStorage, type Storage } from './store/storage.js';
import { Usage } from './store/usage.js';
import { Workspaces } from './store/workspaces.js';

/** Where a listening emulator is found, and what opens it. */
export interface ListeningEmulator extends Listening {
  apiKeys: { secret: string; publishable: string };
  sessionToken: string;
}

/** The service in memory. Nothing listens until `listen` is called; two emulators share nothing. */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  return new Emulator(options);
}

/** The whole service, with its state and the handles to look at it and to change it. */
export class Emulator {
  /** The account's keys. */
  readonly apiKeys: ApiKeys;
  /** Users and their session tokens. */
  readonly sessions: Sessions;
  /** The models offered. */
  readonly models: readonly EmulatorModel[] = MODELS;
  /** Conversations and their messages. */
  readonly conversations: Conversations;
  /** Workspaces and their members. */
  readonly workspaces: Workspaces;
  /** Stored templates. */
  readonly presets: Presets;
  /** Uploaded files and their bytes. */
  readonly files: Files;
  /** Connected integrations and what they did. */
  readonly integrations: Integrations;
  /** What goes wrong with the next requests. */
  readonly faults: Faults;
  /** Completions answered in advance. */
  readonly chat: ScriptedReplies;
  /** The emulator's time. */
  readonly clock: Clock;

  readonly #options: EmulatorOptions;
  readonly #ids: IdSource;
  readonly #storage: Storage;
  readonly #memory: UserMemory;
  readonly #usage: Usage;
  readonly #contexts: ConversationContexts;
  readonly #limiter: RateLimiter;
  readonly #idempotency = new IdempotencyMemory();
  readonly #log: RequestLog;
  readonly #service: Service;
  /** Open until `close`. */
  readonly #listening = new Set<Listening>();
  readonly #closed = new AbortController();

  constructor(options: EmulatorOptions = {}) {
    const settings = resolveSettings(options);
    const { clock } = settings;
    const now = (): number => clock.now();
    const ids = new IdSource(String(options.seed ?? crypto.randomUUID()));
    const storage = options.storage ?? new MemoryStorage();
    const language = new LanguageLoader();
    this.#options = options;
    this.#ids = ids;
    this.#storage = storage;
    this.clock = clock;
    this.apiKeys = new ApiKeys(ids);
    this.sessions = new Sessions(ids);
    this.workspaces = new Workspaces(storage, ids, this.userId);
    this.conversations = new Conversations(storage, ids, now, this.workspaces, this.userId);
    this.presets = new Presets(storage, ids);
    this.files = new Files(storage, ids, now);
    this.integrations = new Integrations(storage, ids, clock);
    this.faults = new Faults();
    this.chat = new ScriptedReplies();
    this.#memory = new UserMemory(storage, ids);
    this.#usage = new Usage(storage, now);
    this.#contexts = new ConversationContexts(this.conversations, language, ids, clock);
    this.#limiter = new RateLimiter(now);
    this.#log = new RequestLog(() => [...this.apiKeys.all(), ...this.sessions.all()]);

    const { conversations, workspaces, presets, files, integrations } = this;
    const completions = new Completions(language, this.chat, settings.maxTokens);
    const context = contextRoutes({ conversations, contexts: this.#contexts, memory: this.#memory, workspaces });
    const gateway = gatewayRoutes({ settings, ids, completions, presets, files, integrations, usage: this.#usage });
    this.#service = new Service({
      settings,
      ids,
      keys: this.apiKeys,
      sessions: this.sessions,
      limiter: this.#limiter,
      faults: this.faults,
      idempotency: this.#idempotency,
      log: this.#log,
      context,
      gateway,
      control: controlRoutes(this),
      closed: this.#closed.signal,
    });
    // Every open stream listens to it.
    setMaxListeners(0, this.#closed.signal);
    options.setup?.(this);
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

  /** Everything that is stored, as plain data. */
  state(): EmulatorState {
    const { conversations, workspaces, presets, files, integrations } = this;
    return stateOf({
      conversations,
      workspaces,
      presets,
      files,
      integrations,
      contexts: this.#contexts,
      memory: this.#memory,
      usage: this.#usage,
    });
  }

  /** Answer a request in process; usable wherever a `fetch` is asked for. */
  readonly fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    if (this.#closed.signal.aborted) throw connectionReset();
    request.signal.throwIfAborted();
    let leave = (): void => {};
    // A fetch rejects the moment its signal fires, whatever the other side is doing.
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(request.signal.reason);
      request.signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([this.#service.handle(request), left]);
    } finally {
      request.signal.removeEventListener('abort', leave);
    }
  };

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
    this.#storage.clear();
    this.#ids.reset();
    this.apiKeys.restore();
    this.sessions.restore();
    this.presets.restore();
    this.faults.clear();
    this.chat.clear();
    this.#contexts.reset();
    this.#limiter.reset();
    this.#idempotency.clear();
    this.#log.clear();
    this.#options.setup?.(this);
  }

  /** Stop listening, and end everything that still waits. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the emulator was closed'));
    await Promise.all([...this.#listening].map((listening) => listening.close()));
    this.#listening.clear();
  }
}
