/**
 * Uses every name of the adapter. Compiled with each version of `ai`; `specification` is the one that version takes.
 */
import { type LanguageModel, streamText, wrapLanguageModel } from 'ai';
import type { GatewayClient } from 'context-gateway';
import { type AiSdkModel, contextMiddleware, createAiSdkProvider } from 'context-gateway/ai-sdk';
import type { Conversation } from 'context-gateway/conversation';
import { specification } from './specification.js';

export function ask(gateway: GatewayClient, conversation: Conversation): AsyncIterable<string> {
  const provider = createAiSdkProvider(gateway, { specification });
  const own: AiSdkModel<typeof specification> = provider('atlas-small');
  const model: LanguageModel = wrapLanguageModel({ model: own, middleware: contextMiddleware(conversation) });
  return streamText({ model, prompt: 'Name a river.' }).textStream;
}
