import * as z from 'zod/mini';
import { checked } from './body.js';
import type { ChatMessage } from './responder.js';

/** What the body of a completion request says. */
export interface CompletionRequest {
  model: string;
  messages: ChatMessage[];
  temperature?: number | undefined;
  max_tokens?: number | undefined;
  stream?: boolean | undefined;
}

/** The request in a parsed JSON body. */
export function completionRequest(body: unknown, strict: boolean): CompletionRequest {
  return checked(completionRequestSchema, body, strict);
}

const completionRequestSchema = z.object({
  model: z.string().check(z.minLength(1)),
  messages: z
    .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .check(z.minLength(1)),
  temperature: z.optional(z.number().check(z.gte(0), z.lte(2))),
  max_tokens: z.optional(z.int().check(z.gte(1))),
  stream: z.optional(z.boolean()),
});
