import { type UsageReport, usageReport } from '../api/usage-report.js';
import type { Clock } from '../base/clock.js';
import type { EmulatorModel } from '../base/models.js';
import type { ContextMetadata } from '../context/answers.js';
import type { ConversationContexts } from '../context/conversation-context.js';
import type { RateLimiter } from '../http/rate-limit.js';
import type { MessageRecord, PinnedMemoryItem, SummaryVersion } from '../store/conversation-records.js';
import type { MemoryType } from '../store/memory.js';
import type { Stores } from '../store/stores.js';
import type { RollingSummary } from '../store/summary.js';

/** What the inspector's page shows at a glance. */
export interface Overview {
  time: string;
  models: readonly EmulatorModel[];
  plan: { id: string; gatewayAccess: boolean };
  usage: UsageReport;
  buckets: { name: string; limit: number; remaining: number; resetAt: number }[];
  /** The newest 500. */
  conversations: {
    id: string;
    messages: number;
    version: number;
    /** Tokens of all live messages and of the context, when a summary last changed; 0 before. */
    total: number;
    compressed: number;
    workspaceId?: string | undefined;
  }[];
  memory: { id: string; type: MemoryType; key: string; content: string; isActive: boolean; workspaceId?: string }[];
}

/** One conversation with its context, as the page shows it. */
export interface InspectedConversation {
  id: string;
  rollingSummary: RollingSummary;
  pinnedMemory: PinnedMemoryItem[];
  metadata: ContextMetadata;
  /** Each with where it stands in the context. */
  messages: (MessageRecord & { tokens: number; standing: 'recent' | 'summarized' | 'pinned' | 'excluded' })[];
  versions: SummaryVersion[];
}

/** @internal */
export function overviewOf(stores: Stores, limiter: RateLimiter, clock: Clock): Overview {
  const now = clock.now();
  const { id, gatewayAccess } = stores.account.plan;
  return {
    time: new Date(now).toISOString(),
    models: stores.models.list(),
    plan: { id, gatewayAccess },
    usage: usageReport(stores.usage, {}, now, stores.account.tokens),
    buckets: limiter.buckets((bucket) => stores.account.limit(kindOf(bucket))),
    conversations: stores.conversations
      .states()
      .slice(-MOST_CONVERSATIONS)
      .map(({ id, version, workspaceId }) => {
        const last = stores.conversations.lastVersion(id);
        return {
          id,
          messages: stores.conversations.countMessages(id),
          version,
          total: last?.totalTokens ?? 0,
          compressed: last?.compressedTokens ?? 0,
          workspaceId,
        };
      }),
    memory: stores.memory.all().map(({ item }) => item),
  };
}

const MOST_CONVERSATIONS = 500;

function kindOf(bucket: string): 'gateway' | 'context' | 'compact' {
  if (bucket.startsWith('compact')) return 'compact';
  return bucket.startsWith('context') ? 'context' : 'gateway';
}

/** @internal */
export async function inspectConversation(
  stores: Stores,
  contexts: ConversationContexts,
  id: string,
): Promise<InspectedConversation | undefined> {
  if (stores.conversations.state(id) === undefined) return undefined;
  const metadata = await contexts.metadata(id);
  const standings = await contexts.standings(id);
  const state = stores.conversations.state(id);
  if (state === undefined) return undefined;
  return {
    id,
    rollingSummary: contexts.summary(state),
    pinnedMemory: state.pins,
    metadata,
    messages: stores.conversations.messages(id).map((message, i) => ({
      ...message,
      tokens: standings[i]?.tokens ?? 0,
      standing: standings[i]?.standing ?? 'recent',
    })),
    versions: stores.conversations.summaryVersions(id),
  };
}
