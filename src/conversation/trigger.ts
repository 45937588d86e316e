import { ConfigurationError, type ContextMetadata } from '../index.js';
import type { CompactionTrigger } from './options.js';

/**
 * Whether a trigger is reached. `budget` is the maximum tokens of a prompt, needed for `fraction`.
 *
 * @throws {ConfigurationError} when the trigger has a `fraction` and there is no `budget`
 */
export function shouldCompact(metadata: ContextMetadata, trigger: CompactionTrigger, budget?: number): boolean {
  const { tokens, messages, fraction } = trigger;
  if (fraction !== undefined && budget === undefined) {
    throw new ConfigurationError('A trigger with fraction needs contextWindow.');
  }
  const { compressedTokens, recentMessageCount } = metadata;
  const limits = [
    [tokens, compressedTokens],
    [messages, recentMessageCount],
    [fraction, compressedTokens / (budget ?? 1)],
  ] as const;
  const asked = limits.filter(([limit]) => limit !== undefined);
  return asked.length > 0 && asked.every(([limit = 0, now]) => now >= limit);
}
