import * as z from 'zod/mini';
import { described, namedObject } from '../base/endpoint.js';
import { COMPACTION_LEVELS } from '../context/compaction/compact.js';
import { MESSAGE_ROLES, PIN_CATEGORIES } from '../store/conversation-records.js';
import { MEMORY_TYPES } from '../store/memory.js';

/** A non-empty string. */
export const text = z.string().check(z.minLength(1));
/** A non-negative integer. */
export const count = z.int().check(z.gte(0));

const time = described('ISO 8601', z.string());
const texts = z.array(z.string());
const success = z.literal(true);
const memoryType = z.enum(MEMORY_TYPES);

// Parameters of the Context API.
export const conversationQuery = z.object({ conversationId: text });
export const unpinQuery = z.object({ messageId: text });
export const memoryQuery = z.object({ workspaceId: z.optional(text), type: z.optional(memoryType) });
export const compactBody = z.object({ conversationId: text, level: z.optional(z.enum(COMPACTION_LEVELS)) });
export const pinBody = z.object({ messageId: text, category: z.optional(z.enum(PIN_CATEGORIES)) });
export const excludeBody = z.object({ exclude: z.boolean() });
export const memoryBody = z.object({ type: memoryType, key: text, content: text, workspaceId: z.optional(text) });
export const memoryChange = z.object({ content: text, isActive: z.optional(z.boolean()) });

// Responses of the Context API.
export const rollingSummary = namedObject('RollingSummary', {
  goals: texts,
  decisions: z.array(z.object({ id: z.string(), decision: z.string(), reason: z.string(), timestamp: z.string() })),
  requirements: texts,
  currentPlan: texts,
  openQuestions: texts,
  definitions: described('Maps each term to its meaning.', z.record(z.string(), z.string())),
  importantReferences: z.array(z.object({ type: z.string(), value: z.string(), label: z.string() })),
  stylePreferences: z.record(z.string(), z.unknown()),
  lastUpdated: time,
  version: described('Increases by one whenever the summary changes.', count),
});
export const pinnedItem = namedObject('PinnedMemoryItem', {
  id: z.string(),
  messageId: z.string(),
  content: z.string(),
  category: z.enum(PIN_CATEGORIES),
  pinnedAt: time,
});
export const contextMetadata = namedObject('ContextMetadata', {
  totalTokens: count,
  compressedTokens: count,
  preservationRatio: z.number(),
  lastCompactionAt: z.nullable(time),
  recentMessageCount: count,
});
export const compactionResult = namedObject('CompactionResult', {
  success: z.boolean(),
  previousTokenCount: count,
  newTokenCount: count,
  tokensRemoved: z.int(),
  summaryUpdated: z.boolean(),
});
export const memoryItem = namedObject('UserMemoryItem', {
  id: z.string(),
  type: memoryType,
  key: z.string(),
  content: z.string(),
  isActive: z.boolean(),
  workspaceId: z.optional(z.string()),
});
const listedMemoryItem = z.object({ id: z.string(), type: memoryType, key: z.string(), content: z.string() });

export const done = z.object({ success });
export const contextResponse = z.object({
  success,
  context: namedObject('ConversationContext', {
    rollingSummary,
    pinnedMemory: z.array(pinnedItem),
    metadata: contextMetadata,
  }),
});
export const summaryResponse = z.object({ success, summary: rollingSummary });
export const compactResponse = z.object({ success, result: compactionResult });
export const pinResponse = z.object({ success, pinnedItem });
export const memoriesResponse = z.object({ success, memories: z.array(listedMemoryItem) });
export const memoryResponse = z.object({ success, memory: memoryItem });
export const contextError = namedObject('ContextError', { success: z.literal(false), error: z.string() });

// Parameters of the Gateway API.
export const chatMessage = namedObject('ChatMessage', { role: z.enum(MESSAGE_ROLES), content: z.string() });
export const completionBody = namedObject('ChatCompletionRequest', {
  model: text,
  messages: z.array(chatMessage).check(z.minLength(1)),
  temperature: z.optional(z.number().check(z.gte(0), z.lte(2))),
  max_tokens: z.optional(z.int().check(z.gte(1))),
  stream: z.optional(z.boolean()),
});
export const presetBody = z.object({ input: z.string(), model: text });
export const uploadBody = z.object({ file: described('The bytes of the file.', z.string()), purpose: text });
export const integrationBody = z.looseObject({ action: text });
export const usageQuery = z.object({
  start_date: z.optional(described('YYYY-MM-DD', z.string())),
  end_date: z.optional(described('YYYY-MM-DD, inclusive.', z.string())),
});

// Responses of the Gateway API.
const usage = namedObject('CompletionUsage', { prompt_tokens: count, completion_tokens: count, total_tokens: count });
export const completionResponse = namedObject('ChatCompletion', {
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(z.object({ index: count, message: chatMessage, finish_reason: z.string() })),
  usage,
});
export const completionChunk = namedObject('ChatCompletionChunk', {
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.string(),
  choices: described(
    'Empty in the last chunk, which has the usage.',
    z.array(
      z.object({
        index: count,
        delta: z.object({ role: z.optional(z.enum(MESSAGE_ROLES)), content: z.optional(z.string()) }),
        finish_reason: z.nullable(z.string()),
      }),
    ),
  ),
  usage: z.optional(usage),
});
export const presetRecord = namedObject('Preset', {
  id: z.string(),
  object: z.literal('preset'),
  name: z.string(),
  description: z.string(),
  category: z.string(),
  template: described('`{{input}}` is replaced by the input.', z.string()),
});
export const presetResponse = namedObject('PresetExecution', {
  id: z.string(),
  object: z.literal('preset.execution'),
  preset_id: z.string(),
  model: z.string(),
  created: z.int(),
  output: z.string(),
  finish_reason: z.string(),
  usage,
});
export const fileRecord = namedObject('File', {
  id: z.string(),
  object: z.literal('file'),
  bytes: count,
  filename: z.string(),
  purpose: z.string(),
  created_at: z.int(),
});
const fieldType = z.enum(['string', 'number', 'boolean']);
export const integrationRecord = namedObject('Integration', {
  id: z.string(),
  object: z.literal('integration'),
  name: z.string(),
  connected: z.boolean(),
  actions: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      fields: z.array(z.object({ name: z.string(), type: fieldType, required: z.boolean() })),
    }),
  ),
});
export const fieldValue = z.union([z.string(), z.number(), z.boolean()]);
export const integrationResponse = namedObject('IntegrationExecution', {
  id: z.string(),
  object: z.literal('integration.execution'),
  integration: z.string(),
  action: z.string(),
  status: z.literal('completed'),
  result: z.record(z.string(), fieldValue),
  created_at: time,
});
export const usageResponse = namedObject('UsageReport', {
  period: z.object({ start: z.string(), end: z.string() }),
  tokens_used: count,
  tokens_included: count,
  tokens_remaining: count,
  overage_tokens: count,
  estimated_overage_cost: z.number(),
  breakdown_by_model: z.record(z.string(), count),
});
export const gatewayError = namedObject('GatewayError', {
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.optional(z.string()),
    code: z.optional(z.string()),
    retry_after: z.optional(described('Whole seconds, on a 429.', z.int())),
  }),
});
