import type { ResponseInfo } from '../index.js';
import type { ProviderMetadata, ResponseMetadata } from './specification.js';

/** The id, model and time of a completion or a chunk. */
export function responseMetadataOf(response: {
  id?: string | undefined;
  model?: string | undefined;
  created?: number | undefined;
}): ResponseMetadata {
  const { id, model, created } = response;
  return {
    ...(id !== undefined && { id }),
    ...(model !== undefined && { modelId: model }),
    ...(created !== undefined && { timestamp: new Date(created * 1_000) }),
  };
}

/** The rate limit as of a response, if the service sent one. */
export function providerMetadataOf({ rateLimit }: ResponseInfo): { providerMetadata?: ProviderMetadata } {
  if (rateLimit === undefined) return {};
  const { limit = null, remaining = null, resetAt } = rateLimit;
  return { providerMetadata: { svc: { rateLimit: { limit, remaining, reset: resetAt?.toISOString() ?? null } } } };
}
