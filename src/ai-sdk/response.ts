import type { ChatCompletionChunk, ResponseInfo } from '../index.js';
import type { ProviderMetadata, ResponseMetadata } from './specification.js';

/** The id, model and time of a completion or a chunk. */
export function responseMetadataOf(chunk: Pick<ChatCompletionChunk, 'id' | 'model' | 'created'>): ResponseMetadata {
  const { id, model, created } = chunk;
  return {
    ...(id !== undefined && { id }),
    ...(model !== undefined && { modelId: model }),
    ...(created !== undefined && { timestamp: new Date(created * 1_000) }),
  };
}

/** The reasoning in a reply or a piece of one, under the names that services give it. */
export function reasoningIn(reply: object | undefined): string {
  const { reasoning_content, reasoning } = Object(reply) as { reasoning_content?: unknown; reasoning?: unknown };
  const text = reasoning_content ?? reasoning;
  return typeof text === 'string' ? text : '';
}

/** The rate limit as of a response, if the service sent one. */
export function providerMetadataOf({ rateLimit }: ResponseInfo): { providerMetadata?: ProviderMetadata } {
  if (rateLimit === undefined) return {};
  const { limit = null, remaining = null, resetAt } = rateLimit;
  return { providerMetadata: { svc: { rateLimit: { limit, remaining, reset: resetAt?.toISOString() ?? null } } } };
}
