import type { CompletionUsage } from '../../base/completion.js';
import { isObject, ownField } from '../../base/objects.js';
import type { CompletionFacts } from '../events/events.js';

/** What an undocumented response says about a completion, where it has the fields of one. Copies numbers and names only. */
export function completionFacts(body: unknown): CompletionFacts {
  if (!isObject(body)) return { model: undefined, finishReasons: [], usage: undefined };
  const field = (name: string): unknown => ownField(body, name);
  const [model, choices, usage] = [field('model'), field('choices'), field('usage')];
  const reasons = Array.isArray(choices) ? choices.map((choice) => Object(choice).finish_reason) : [];
  return {
    model: typeof model === 'string' ? model : undefined,
    finishReasons: reasons.filter((reason) => typeof reason === 'string'),
    usage: countsOf(usage),
  };
}

/** The reporter drops incomplete counts. */
function countsOf(usage: unknown): CompletionUsage | undefined {
  if (!isObject(usage)) return undefined;
  const { prompt_tokens, completion_tokens, total_tokens } = usage as Partial<CompletionUsage>;
  return { prompt_tokens, completion_tokens, total_tokens } as CompletionUsage;
}
