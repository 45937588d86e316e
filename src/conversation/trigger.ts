import { ConfigurationError, type ContextMetadata } from '../index.js';
import type { CompactionTrigger } from './options.js';

/** Whether a trigger is reached. `budget`: tokens that a prompt may have, for `fraction`. */
export function shouldCompact(metadata: ContextMetadata, trigger: CompactionTrigger, budget?: number): boolean {
  const { tokens, messages, fraction } = trigger;
  if (fraction !== undefined && budget === undefined) {
    throw new ConfigurationError('A trigger with fraction needs contextWindow: a share of what?');
  }
  const limits = [
    tokens !== undefined && metadata.compressedTokens >= tokens,
    messages !== undefined && metadata.recentMessageCount >= messages,
    fraction !== undefined && metadata.compressedTokens >= fraction * (budget ?? 0),
  ];
  const asked = [tokens, messages, fraction];
  return asked.some((limit) => limit !== undefined) && asked.every((limit, i) => limit === undefined || limits[i]);
}
