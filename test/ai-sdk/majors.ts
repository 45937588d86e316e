import * as v7 from 'ai';
import * as v5 from 'ai-v5';
import * as v6 from 'ai-v6';
import type { GatewayClient } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';

export type Specification = 'v2' | 'v3' | 'v4';

/** These tests use only what every version of `ai` has, with the types of the newest. */
type Ai = typeof v7;

interface Major {
  readonly name: string;
  readonly ai: Ai;
  readonly specification: Specification;
  /** Creates providers with the newest specification that this version accepts. */
  readonly createProvider: (gateway: GatewayClient) => ReturnType<typeof createAiSdkProvider<'v4'>>;
}

function major(name: string, ai: unknown, specification: Specification): Major {
  const createProvider = (gateway: GatewayClient) => createAiSdkProvider(gateway, { specification });
  return { name, ai: ai as Ai, specification, createProvider: createProvider as unknown as Major['createProvider'] };
}

export const majors = [major('ai 5', v5, 'v2'), major('ai 6', v6, 'v3'), major('ai 7', v7, 'v4')];

// Every version prints warnings by default.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
