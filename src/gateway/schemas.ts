import * as z from '#zod';
import type { CompletionUsage } from '../errors/base.js';
import { count, exact, integer, openEnum, requiredText, wireObject } from '../transport/fields.js';

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

export const completionUsageSchema = exact<CompletionUsage>()(
  wireObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
);

export const chatMessageSchema = exact<ChatMessage>()(
  wireObject({ role: openEnum<'system' | 'user' | 'assistant'>(), content: z.string() }),
);

export const chatCompletionSchema = exact<ChatCompletion>()(
  wireObject({
    id: z.string(),
    object: z.string(),
    created: integer,
    model: z.string(),
    choices: z.array(
      wireObject({ index: count, message: chatMessageSchema, finish_reason: openEnum<'stop' | 'length'>() }),
    ),
    usage: completionUsageSchema,
  }),
);

/** More choices than this in one stream are a mistake. */
const MOST_CHOICES = 1_024;

export const chatCompletionChunkSchema = exact<ChatCompletionChunk>()(
  wireObject({
    id: z.optional(z.string()),
    object: z.optional(z.string()),
    created: z.optional(integer),
    model: z.optional(z.string()),
    choices: z.array(
      wireObject({
        index: integer.check(z.minimum(0), z.maximum(MOST_CHOICES)),
        delta: wireObject({
          role: z.optional(z.nullable(openEnum<'system' | 'user' | 'assistant'>())),
          content: z.optional(z.nullable(z.string())),
        }),
        finish_reason: z.optional(z.nullable(openEnum<'stop' | 'length'>())),
      }),
    ),
    usage: z.optional(z.nullable(completionUsageSchema)),
  }),
);

export const usageReportSchema = exact<UsageReport>()(
  wireObject({
    period: wireObject({ start: z.string(), end: z.string() }),
    tokens_used: count,
    tokens_included: count,
    tokens_remaining: integer,
    overage_tokens: count,
    estimated_overage_cost: z.number(),
    breakdown_by_model: z.record(z.string(), count),
  }),
);

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
export const chatCompletionParamsSchema = wireObject({
  model: requiredText,
  messages: z.array(wireObject({ role: requiredText, content: z.string() })).check(z.minLength(1)),
  temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
  max_tokens: z.optional(integer.check(z.minimum(1))),
  stream: z.optional(z.boolean()),
});
export const presetListQuerySchema = exact<PresetListParams>()(
  z.strictObject({ category: z.optional(requiredText), limit: z.optional(integer.check(z.minimum(1))) }),
);
export const presetExecuteBodySchema = exact<PresetExecuteParams>()(
  z.strictObject({ input: z.string(), model: requiredText }),
);
export const integrationExecuteBodySchema = wireObject({ action: requiredText });
export const fileUploadParamsSchema = z.strictObject({
  file: z.optional(z.unknown()),
  purpose: requiredText,
  filename: z.optional(requiredText),
});
