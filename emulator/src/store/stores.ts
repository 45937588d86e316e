import { ConversationContexts } from '../conversation-context.js';
import { IdempotencyMemory } from '../idempotency.js';
import type { LanguageLoader } from '../language.js';
import { IdSource } from '../random.js';
import type { Settings } from '../settings.js';
import type { Summarizer } from '../summarizer.js';
import { Account } from './account.js';
import { ApiKeys } from './api-keys.js';
import { Conversations } from './conversations.js';
import { Files } from './files.js';
import { Integrations } from './integrations.js';
import { UserMemory } from './memory.js';
import { Presets } from './presets.js';
import { Sessions } from './sessions.js';
import type { Collection, Storage } from './storage.js';
import { Usage } from './usage.js';
import { Workspaces } from './workspaces.js';

/** Everything an emulator remembers, over one storage. */
export class Stores {
  readonly storage: Storage;
  readonly ids: IdSource;
  readonly account: Account;
  readonly apiKeys: ApiKeys;
  readonly sessions: Sessions;
  readonly workspaces: Workspaces;
  readonly conversations: Conversations;
  readonly contexts: ConversationContexts;
  readonly memory: UserMemory;
  readonly presets: Presets;
  readonly files: Files;
  readonly integrations: Integrations;
  readonly usage: Usage;
  readonly idempotency: IdempotencyMemory;
  readonly #origin: Collection<{ seed: string }>;

  constructor(storage: Storage, settings: Settings, language: LanguageLoader, summarizer: Summarizer | undefined) {
    const { clock } = settings;
    const now = (): number => clock.now();
    const ids = new IdSource(storage, () => this.seed);
    const defaultUser = (): string => this.sessions.first.userId;
    this.storage = storage;
    this.#origin = storage.collection('origin');
    this.ids = ids;
    this.account = new Account(storage, settings);
    this.apiKeys = new ApiKeys(storage, ids, now);
    this.sessions = new Sessions(storage, ids);
    this.workspaces = new Workspaces(storage, ids, defaultUser);
    this.conversations = new Conversations(storage, ids, now, this.workspaces, defaultUser);
    this.contexts = new ConversationContexts(this.conversations, language, ids, clock, summarizer);
    this.memory = new UserMemory(storage, ids, defaultUser);
    this.presets = new Presets(storage, ids);
    this.files = new Files(storage, ids, now);
    this.integrations = new Integrations(storage, ids, clock);
    this.usage = new Usage(storage, now);
    this.idempotency = new IdempotencyMemory(storage);
  }

  /** What ids and keys come from; undefined while nothing was ever stored. */
  get seed(): string {
    return this.#origin.get('seed')?.seed ?? '';
  }

  /** Is there nothing yet: neither data nor a seed? */
  get isNew(): boolean {
    return this.#origin.get('seed') === undefined;
  }

  /** The first state: the seed, its first keys, session and presets, and what `setup` adds. All of it or nothing. */
  begin(seed: string, setup: () => void): void {
    this.storage.transaction(() => {
      this.storage.clear();
      this.forget();
      this.#origin.set('seed', { seed });
      this.apiKeys.addFirst();
      this.sessions.create();
      this.presets.addFirst();
      setup();
    });
  }

  /** Let go of what was derived from records that are no longer there. */
  forget(): void {
    this.ids.reset();
    this.contexts.reset();
    this.idempotency.clear();
  }
}
