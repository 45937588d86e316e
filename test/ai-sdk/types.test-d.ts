/** What the types guarantee for each version of `ai`. Compiled with the other tests, and never run. */
import type { ProviderV2, ProviderV3, ProviderV4 } from '@ai-sdk/provider';
import * as v7 from 'ai';
import * as v5 from 'ai-v5';
import * as v6 from 'ai-v6';
import type { GatewayClient } from 'context-gateway';
import { contextMiddleware, createAiSdkProvider, searchTool, turnToUIMessageStream } from 'context-gateway/ai-sdk';
import type { Conversation, PreparedTurn, ReplyStream } from 'context-gateway/conversation';
import { expectTypeOf } from 'vitest';
import type { Specification } from './majors.js';

declare const gateway: GatewayClient;
declare const conversation: Conversation;
declare const specification: Specification;
const v2 = createAiSdkProvider(gateway, { specification: 'v2' });
const v3 = createAiSdkProvider(gateway);
const v4 = createAiSdkProvider(gateway, { specification: 'v4' });
const prompt = 'Name a river.';

/** Type-checked, and never called. */
export function models(): void {
  expectTypeOf(v3('m').specificationVersion).toEqualTypeOf<'v3'>();
  expectTypeOf(createAiSdkProvider(gateway, { specification }).specificationVersion).toEqualTypeOf<Specification>();
  // @ts-expect-error no such version
  createAiSdkProvider(gateway, { specification: 'v1' });
  // @ts-expect-error it needs a client
  createAiSdkProvider({ apiKey: 'svc_sk_x' });
}

/** Type-checked, and never called. */
export function version5(): void {
  v5.streamText({ model: v2('m'), prompt });
  // @ts-expect-error ai 5 accepts only v2, and v3 is the default
  v5.streamText({ model: v3('m'), prompt });
  v5.createProviderRegistry({ svc: v2 });
}

/** Type-checked, and never called. */
export function version6(): void {
  v6.streamText({ model: v3('m'), prompt });
  v6.streamText({ model: v2('m'), prompt });
  // @ts-expect-error ai 6 does not accept v4
  v6.streamText({ model: v4('m'), prompt });
  v6.createProviderRegistry({ svc: v3 });
}

/** Type-checked, and never called. */
export function version7(): void {
  v7.streamText({ model: v4('m'), prompt });
  v7.streamText({ model: v3('m'), prompt });
  v7.streamText({ model: v2('m'), prompt });
  v7.createProviderRegistry({ svc: v3, four: v4 });
}

/** Type-checked, and never called. */
export function providers(): [ProviderV2, ProviderV3, ProviderV4] {
  return [v2, v3, v4];
}

/** Type-checked, and never called. */
export function builtPrompts({ instructions, messages }: PreparedTurn): void {
  // Spread, because `ai` does not accept `undefined` under exactOptionalPropertyTypes.
  v5.streamText({ model: v2('m'), messages, ...(instructions !== undefined && { system: instructions }) });
  v6.streamText({ model: v3('m'), messages, ...(instructions !== undefined && { system: instructions }) });
  v7.streamText({ model: v4('m'), messages, ...(instructions !== undefined && { instructions }) });
}

/** Type-checked, and never called. */
export function middleware(): void {
  const middleware = contextMiddleware(conversation);
  v5.streamText({ model: v5.wrapLanguageModel({ model: v2('m'), middleware }), prompt });
  v6.streamText({ model: v6.wrapLanguageModel({ model: v3('m'), middleware }), prompt });
  v7.streamText({ model: v7.wrapLanguageModel({ model: v4('m'), middleware }), prompt });
  v7.streamText({ model: v7.wrapLanguageModel({ model: v2('m'), middleware: [middleware] }), prompt });
}

/** Type-checked, and never called. */
export function toolsAndPages(reply: ReplyStream): unknown[] {
  const tools = { searchConversation: searchTool(conversation) };
  v5.streamText({ model: v2('m'), prompt, tools });
  v6.streamText({ model: v3('m'), prompt, tools });
  v7.streamText({ model: v4('m'), prompt, tools });
  const stream = () => turnToUIMessageStream(reply);
  return [v5, v6, v7].map(({ createUIMessageStreamResponse: respond }) => respond({ stream: stream() }));
}
