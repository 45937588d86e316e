import { type UsageReport, usageReport } from '../../api/usage.js';
import type { EmulatorModel } from '../../base/models.js';
import { startOf } from '../../base/start-of.js';
import type { MessageStatus } from '../../context/draft.js';
import type { ContextMetadata } from '../../context/responses.js';
import type { Account, RateLimit } from '../../store/account.js';
import type {
  CompactionReceipt,
  ConversationState,
  MessageRecord,
  PinnedMemoryItem,
  Statement,
  SummaryVersion,
} from '../../store/conversation-records.js';
import type { MemoryType } from '../../store/memory.js';
import type { Stores } from '../../store/stores.js';
import type { RollingSummary, SummaryItem } from '../../store/summary.js';
import type { UsageEntry } from '../../store/usage.js';
import type { EmulatorParts } from '../parts.js';

/** The data of the inspector's overview. */
export interface Overview {
  time: string;
  models: readonly EmulatorModel[];
  plan: { id: string; gatewayAccess: boolean };
  usage: UsageReport;
  /** Tokens by day and model, for the last 31 days. */
  usageByDay: UsageEntry[];
  buckets: { name: string; limit: number; remaining: number; resetAt: number }[];
  /** The number of all conversations. */
  conversationCount: number;
  /** The newest 500 conversations that match the search, newest first. */
  conversations: ListedConversation[];
  memory: { id: string; type: MemoryType; key: string; content: string; isActive: boolean; workspaceId?: string }[];
}

/** A conversation in a list. */
export interface ListedConversation {
  id: string;
  /** The beginning of its first message. */
  title: string;
  messages: number;
  version: number;
  /** Tokens of all live messages at the last change of the summary; 0 before the first. */
  total: number;
  /** Tokens of the context at the last change of the summary; 0 before the first. */
  compressed: number;
  workspaceId?: string | undefined;
}

/** A conversation with its context, the status of its messages, and all versions of its summary. */
export interface InspectedConversation {
  id: string;
  rollingSummary: RollingSummary;
  pinnedMemory: PinnedMemoryItem[];
  metadata: ContextMetadata;
  /** Each with its tokens and its status in the context. */
  messages: (MessageRecord & { tokens: number; status: MessageStatus })[];
  versions: SummaryVersion[];
  /** The statements of the messages that no later message revokes, each with the message it comes from. */
  statements: SummaryItem[];
  /** The messages that the entries of the summary come from. */
  sources: { text: string; messageId: string }[];
  /** Decisions, requirements and definitions of the statements that the context does not contain. */
  lost: Statement[];
  /** The receipt of the last compaction. */
  receipt?: CompactionReceipt | undefined;
}

/** @internal */
export function overviewOf(
  { stores, limiter, clock }: Pick<EmulatorParts, 'stores' | 'limiter' | 'clock'>,
  search = '',
): Overview {
  const now = clock.now();
  const states = stores.conversations.states();
  const wanted = search.trim().toLowerCase();
  const fits = (id: string): boolean => wanted === '' || `${id} ${titleOf(stores, id)}`.toLowerCase().includes(wanted);
  const firstDay = new Date(now - SHOWN_DAYS * 86_400_000).toISOString().slice(0, 10);
  const { id, gatewayAccess } = stores.account.plan;
  return {
    time: new Date(now).toISOString(),
    models: stores.models.list(),
    plan: { id, gatewayAccess },
    usage: usageReport(stores.usage, {}, now, stores.account.tokens),
    usageByDay: byDayAndModel(stores.usage.entries().filter(({ day }) => day > firstDay)),
    buckets: limiter.buckets((bucket) => limitOf(bucket, stores.account)),
    conversationCount: states.length,
    conversations: states
      .filter(({ id }) => fits(id))
      .slice(-MOST_CONVERSATIONS)
      .reverse()
      .map((state) => listed(stores, state)),
    memory: stores.memory.all().map(({ item }) => item),
  };
}

/** @internal A conversation as lists show it. */
export function listed(stores: Stores, { id, version, workspaceId }: ConversationState): ListedConversation {
  const last = stores.conversations.history.lastVersion(id);
  return {
    id,
    title: titleOf(stores, id),
    messages: stores.conversations.countMessages(id),
    version,
    total: last?.totalTokens ?? 0,
    compressed: last?.compressedTokens ?? 0,
    workspaceId,
  };
}

/** @internal The beginning of its first message. */
export function titleOf({ conversations }: Stores, id: string): string {
  return startOf(conversations.firstMessage(id)?.content ?? '', TITLE_LENGTH);
}

function byDayAndModel(entries: readonly UsageEntry[]): UsageEntry[] {
  const sums = new Map<string, UsageEntry>();
  for (const { day, model, tokens } of entries) {
    const id = `${day} ${model}`;
    sums.set(id, { day, model, tokens: (sums.get(id)?.tokens ?? 0) + tokens });
  }
  return [...sums.values()];
}

const MOST_CONVERSATIONS = 500;
const TITLE_LENGTH = 80;
const SHOWN_DAYS = 31;

/** @internal The limit of a bucket of the limiter. */
export function limitOf(bucket: string, account: Account): RateLimit {
  const [kind] = bucket.split(' ', 1);
  if (kind === 'tokens' && account.tokenLimit !== undefined) return account.tokenLimit;
  return account.limit(kind === 'compact' || kind === 'context' ? kind : 'gateway');
}

/** @internal */
export async function inspectConversation(
  { stores, contexts }: Pick<EmulatorParts, 'stores' | 'contexts'>,
  id: string,
): Promise<InspectedConversation | undefined> {
  if (stores.conversations.state(id) === undefined) return undefined;
  const metadata = await contexts.metadata(id);
  const { statements, lost, statuses } = await contexts.inspect(id);
  const state = stores.conversations.state(id);
  if (state === undefined) return undefined;
  return {
    id,
    rollingSummary: contexts.summary(state),
    pinnedMemory: state.pins,
    metadata,
    messages: stores.conversations.messages(id).map((message, i) => ({
      ...message,
      tokens: statuses[i]?.tokens ?? 0,
      status: statuses[i]?.status ?? 'recent',
    })),
    versions: stores.conversations.summaryVersions(id),
    statements,
    sources: state.summary.map(({ text, messageId }) => ({ text, messageId })),
    lost,
    receipt: stores.conversations.receipts(id).at(-1),
  };
}
