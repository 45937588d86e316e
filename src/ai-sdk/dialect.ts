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
  }),
  finishReason: unify,
  warning: (setting, details) => ({ type: 'unsupported-setting', setting, details }),
};

const nested: Dialect<'v3'> & Dialect<'v4'> = {
  usage: (reported) => ({
    inputTokens: { total: reported?.prompt_tokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: reported?.completion_tokens, text: undefined, reasoning: undefined },
    ...(reported && { raw: { ...reported } }),
  }),
  finishReason: (raw, failed) => ({ unified: unify(raw, failed), raw }),
  warning: (feature, details) => ({ type: 'unsupported', feature, details }),
};

export const DIALECTS: { readonly [Version in Specification]: Dialect<Version> } = { v2: flat, v3: nested, v4: nested };

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
