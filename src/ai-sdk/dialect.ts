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
    cachedInputTokens: cachedIn(reported),
    reasoningTokens: reasoningIn(reported),
  }),
  finishReason: unify,
  warning: (setting, details) => ({ type: 'unsupported-setting', setting, details }),
};

const nested: Dialect<'v3'> & Dialect<'v4'> = {
  usage: (reported) => {
    const [total, cacheRead] = [reported?.prompt_tokens, cachedIn(reported)];
    const [written, reasoning] = [reported?.completion_tokens, reasoningIn(reported)];
    return {
      inputTokens: { total, noCache: without(total, cacheRead), cacheRead, cacheWrite: undefined },
      outputTokens: { total: written, text: without(written, reasoning), reasoning },
      ...(reported && { raw: { ...reported } }),
    };
  },
  finishReason: (raw, failed) => ({ unified: unify(raw, failed), raw }),
  warning: (feature, details) => ({ type: 'unsupported', feature, details }),
};

export const DIALECTS: { readonly [Version in Specification]: Dialect<Version> } = { v2: flat, v3: nested, v4: nested };

/** As OpenAI reports them. */
const cachedIn = (reported: unknown) => numberIn(Object(reported).prompt_tokens_details, 'cached_tokens');
const reasoningIn = (reported: unknown) => numberIn(Object(reported).completion_tokens_details, 'reasoning_tokens');

function numberIn(details: unknown, name: string): number | undefined {
  const tokens: unknown = Object(details)[name];
  return typeof tokens === 'number' ? tokens : undefined;
}

function without(all: number | undefined, some: number | undefined): number | undefined {
  return all === undefined || some === undefined ? undefined : all - some;
}

function unify(raw: string | undefined, failed = false): UnifiedFinishReason {
  if (failed) return 'error';
  if (raw === 'stop' || raw === 'length') return raw;
  if (raw === 'content_filter') return 'content-filter';
  return raw === 'tool_calls' || raw === 'function_call' ? 'tool-calls' : 'other';
}
