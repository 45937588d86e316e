import * as s from '../transport/schema.js';

/** Who says a message. Other roles are sent as they are; the service decides. */
export type ChatRole = 'system' | 'user' | 'assistant' | (string & {});

/** One message of a conversation. */
export interface ChatMessage {
  role: ChatRole;
  content: string;
}

/** Arguments of `chat.completions.create`. */
export interface ChatCompletionParams {
  /** One of the offered model ids. */
  model: string;
  messages: readonly ChatMessage[];
  /** 0 to 2. @default 1 */
  temperature?: number | undefined;
  /** The longest answer, in tokens. */
  max_tokens?: number | undefined;
  /** Whether the answer comes piece by piece. @default false */
  stream?: boolean | undefined;
}

/** What a completion cost, in tokens. */
export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** One of a completion's answers. */
export interface ChatCompletionChoice {
  index: number;
  message: ChatMessage;
  /** Why it ends: `stop`, or `length` at `max_tokens`. */
  finish_reason: 'stop' | 'length' | (string & {});
}

/** A whole completion. */
export interface ChatCompletion {
  id: string;
  object: string;
  /** Unix time, in seconds. */
  created: number;
  model: string;
  choices: ChatCompletionChoice[];
  usage: CompletionUsage;
}

/** A completion put together from a stream. Not every service sends `usage` there (A7). */
export interface StreamedChatCompletion extends Omit<ChatCompletion, 'usage'> {
  usage?: CompletionUsage | undefined;
}

/** What a chunk adds to a message. */
export interface ChatCompletionDelta {
  role?: ChatRole | null | undefined;
  content?: string | null | undefined;
}

/** What a chunk adds to one choice. */
export interface ChatCompletionChunkChoice {
  index: number;
  delta: ChatCompletionDelta;
  /** Present, and not `null`, on the last chunk of its choice. */
  finish_reason?: 'stop' | 'length' | (string & {}) | null | undefined;
}

/** One piece of a streamed completion (A7). */
export interface ChatCompletionChunk {
  id?: string | undefined;
  object?: string | undefined;
  created?: number | undefined;
  model?: string | undefined;
  /** Empty in a chunk that carries `usage` only. */
  choices: ChatCompletionChunkChoice[];
  usage?: CompletionUsage | null | undefined;
}

/** Token use of a period. */
export interface UsageReport {
  /** Dates, the end day included (A25). */
  period: { start: string; end: string };
  tokens_used: number;
  tokens_included: number;
  tokens_remaining: number;
  overage_tokens: number;
  estimated_overage_cost: number;
  /** Model id to tokens. */
  breakdown_by_model: Record<string, number>;
}

/** A record the interface does not describe (A3). Pass a `schema` to have it checked and typed as yours. */
export interface OpenRecord {
  id?: string | undefined;
  name?: string | undefined;
  [field: string]: unknown;
}

/** A template for completions. Undocumented (A3). */
export interface Preset extends OpenRecord {}
/** What a preset gave. Undocumented (A3): an object, or an array (`Array.isArray` tells). */
export interface PresetResult extends OpenRecord {}
/** An uploaded file. Undocumented (A3). */
export interface FileRecord extends OpenRecord {}
/** A connected integration. Undocumented (A3). */
export interface Integration extends OpenRecord {}
/** What an integration's action gave. Undocumented (A3): an object, or an array (`Array.isArray` tells). */
export interface IntegrationResult extends OpenRecord {}

export const completionUsageSchema = s.exact<CompletionUsage>()(
  s.object({ prompt_tokens: s.count, completion_tokens: s.count, total_tokens: s.count }),
);

export const chatMessageSchema = s.exact<ChatMessage>()(
  s.object({ role: s.openEnum<'system' | 'user' | 'assistant'>(), content: s.string() }),
);

export const chatCompletionSchema = s.exact<ChatCompletion>()(
  s.object({
    id: s.string(),
    object: s.string(),
    created: s.integer(),
    model: s.string(),
    choices: s.array(
      s.object({ index: s.count, message: chatMessageSchema, finish_reason: s.openEnum<'stop' | 'length'>() }),
    ),
    usage: completionUsageSchema,
  }),
);

/** More choices than this in one stream are a mistake. */
const MOST_CHOICES = 1_024;

export const chatCompletionChunkSchema = s.exact<ChatCompletionChunk>()(
  s.object({
    id: s.optional(s.string()),
    object: s.optional(s.string()),
    created: s.optional(s.integer()),
    model: s.optional(s.string()),
    choices: s.array(
      s.object({
        index: s.integer({ least: 0, most: MOST_CHOICES }),
        delta: s.object({
          role: s.optional(s.nullable(s.openEnum<'system' | 'user' | 'assistant'>())),
          content: s.optional(s.nullable(s.string())),
        }),
        finish_reason: s.optional(s.nullable(s.openEnum<'stop' | 'length'>())),
      }),
    ),
    usage: s.optional(s.nullable(completionUsageSchema)),
  }),
);

export const usageReportSchema = s.exact<UsageReport>()(
  s.object({
    period: s.object({ start: s.string(), end: s.string() }),
    tokens_used: s.count,
    tokens_included: s.count,
    tokens_remaining: s.integer(),
    overage_tokens: s.count,
    estimated_overage_cost: s.number(),
    breakdown_by_model: s.record(s.count),
  }),
);

/** Undocumented (A3): a record or a list, nothing more is asked. */
const openRecordSchema = s.object({ id: s.optional(s.string()), name: s.optional(s.string()) });
export const openAnswerSchema = s.union(s.array(s.unknown()), openRecordSchema);

/** Arguments of `presets.list`. */
export interface PresetListParams {
  /** Presets of this category only. */
  category?: string | undefined;
  /** The longest list. @default 50, by the service */
  limit?: number | undefined;
}

/** Arguments of `presets.execute`. */
export interface PresetExecuteParams {
  /** What the template is filled with. */
  input: string;
  model: string;
}

/** Arguments of `integrations.execute`: the action, and whatever fields it takes. */
export interface IntegrationExecuteParams {
  /** Such as the one that posts a message, which takes `channel` and `text`. */
  action: string;
  [field: string]: unknown;
}

/** Arguments of `usage.retrieve`. A `Date` counts as its day in UTC. */
export interface UsageParams {
  /** The first day: `'2026-01-31'` or a `Date`. */
  start_date?: string | Date | undefined;
  /** The last day, included (A25). */
  end_date?: string | Date | undefined;
}

/** Temperature and tokens are checked; fields that are not documented are passed on, because a service grows. */
export const chatCompletionParamsSchema = s.object({
  model: s.requiredText,
  messages: s.array(s.object({ role: s.requiredText, content: s.string() }), { least: 1 }),
  temperature: s.optional(s.number({ least: 0, most: 2 })),
  max_tokens: s.optional(s.integer({ least: 1 })),
  stream: s.optional(s.boolean()),
});
export const presetListQuerySchema = s.exact<PresetListParams>()(
  s.strictObject({ category: s.optional(s.requiredText), limit: s.optional(s.integer({ least: 1 })) }),
);
export const presetExecuteBodySchema = s.exact<PresetExecuteParams>()(
  s.strictObject({ input: s.string(), model: s.requiredText }),
);
export const integrationExecuteBodySchema = s.object({ action: s.requiredText });
export const fileUploadParamsSchema = s.strictObject({
  file: s.optional(s.unknown()),
  purpose: s.requiredText,
  filename: s.optional(s.requiredText),
});
