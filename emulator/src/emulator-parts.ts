import { contextRoutes } from './api/context-routes.js';
import { gatewayRoutes } from './api/gateway-routes.js';
import { Changes } from './base/changes.js';
import { Completions } from './completions/completions.js';
import { ScriptedReplies } from './completions/scripted-replies.js';
import { ConversationContexts } from './context/conversation-context.js';
import { upstreamSummarizer } from './context/summarizer.js';
import { Snapshots } from './control/state/snapshots.js';
import { Faults } from './faults/faults.js';
import { RequestLog } from './http/log/request-log.js';
import { RateLimiter } from './http/rate-limit.js';
import { resolveSettings, type ServiceOptions } from './options.js';
import { createStores, openStorage } from './store/stores.js';
import { watchedStorage } from './store/watched-storage.js';
import { LanguageLoader } from './text/language.js';
import { modelSource } from './upstream/sources.js';

/** Creates what an emulator is made of. Each part uses only those above it. */
export function createParts(options: ServiceOptions, closed: AbortSignal) {
  const settings = resolveSettings(options);
  const { clock, strict, maxTokens } = settings;
  const changes = new Changes();
  const stores = createStores(watchedStorage(openStorage(settings), changes), settings);
  const { ids, apiKeys, sessions, conversations, models } = stores;
  const faults = new Faults(
    () => ids.fraction('fault'),
    () => changes.notify('faults'),
  );
  const limiter = new RateLimiter(() => clock.now());
  const log = new RequestLog((credential) => apiKeys.get(credential)?.name ?? sessions.user(credential));
  const snapshots = new Snapshots();
  const source = modelSource(settings);
  const language = new LanguageLoader();
  const summarizer = settings.summarizer === 'upstream' ? upstreamSummarizer(source, language) : undefined;
  const contexts = new ConversationContexts({ conversations, language, ids, clock, summarizer });
  const chat = new ScriptedReplies();
  const completions = new Completions({ language, chat, models, maxTokens, source, ids });
  const context = contextRoutes({ stores, contexts, strict });
  const gateway = gatewayRoutes({ settings, stores, completions });
  return {
    settings,
    closed,
    clock,
    changes,
    stores,
    faults,
    limiter,
    log,
    snapshots,
    source,
    contexts,
    chat,
    context,
    gateway,
  };
}
