import type { CompletionUsage } from '../index.js';
import type { FinishReason, Specification, UnifiedFinishReason, Usage, Warning } from './specification.js';

/** The differences between the versions of the provider interface. */
export interface Dialect<Version extends Specification> {
  /** Tokens that were not reported are `undefined`, never 0. */
  usage(reported: CompletionUsage | null | undefined): Usage<Version>;
  /** `failed` if the reply ended with an error, whatever finish reason came before. */
  finishReason(raw: string | undefined, failed?: boolean): FinishReason<Version>;
  warning(feature: string, details: string): Warning<Version>;
}

const flat: Dialect<'v2'> = {
  usage: (reported) => ({
    inputTokens: reported?.prompt_tokens,
    outputTokens: reported?.completion_tokens,
    totalTokens: reported?.total_tokens,
    ...(detail(reported, CACHED) !== undefined && { cachedInputTokens: detail(reported, CACHED) }),
    ...(detail(reported, REASONING) !== undefined && { reasoningTokens: detail(reported, REASONING) }),
  }),
  finishReason: unify,
  warning: (setting, details) => ({ type: 'unsupported-setting', setting, details }),
};

const nested: Dialect<'v3'> & Dialect<'v4'> = {
  usage: (reported) => ({
    inputTokens: {
      total: reported?.prompt_tokens,
      noCache: without(reported?.prompt_tokens, detail(reported, CACHED)),
      cacheRead: detail(reported, CACHED),
      cacheWrite: undefined,
    },
    outputTokens: {
      total: reported?.completion_tokens,
      reasoning: detail(reported, REASONING),
      text: without(reported?.completion_tokens, detail(reported, REASONING)),
    },
    ...(reported && { raw: { ...reported } }),
  }),
  finishReason: (raw, failed) => ({ unified: unify(raw, failed), raw }),
  warning: (feature, details) => ({ type: 'unsupported', feature, details }),
};

/** Where OpenAI reports cached tokens of the prompt, and the tokens of reasoning. */
const CACHED = ['prompt_tokens_details', 'cached_tokens'] as const;
const REASONING = ['completion_tokens_details', 'reasoning_tokens'] as const;
export const DIALECTS: { readonly [Version in Specification]: Dialect<Version> } = { v2: flat, v3: nested, v4: nested };

function detail(
  reported: CompletionUsage | null | undefined,
  [group, name]: readonly [string, string],
): number | undefined {
  const tokens: unknown = Object(Object(reported)[group])[name];
  return typeof tokens === 'number' ? tokens : undefined;
}

function without(all: number | undefined, some: number | undefined): number | undefined {
  return all === undefined || some === undefined ? undefined : all - some;
}

function unify(raw: string | undefined, failed = false): UnifiedFinishReason {
  if (failed) return 'error';
  return raw !== undefined && Object.hasOwn(UNIFIED, raw) ? (UNIFIED[raw] ?? 'other') : 'other';
}

const UNIFIED: Readonly<Record<string, UnifiedFinishReason>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
};
