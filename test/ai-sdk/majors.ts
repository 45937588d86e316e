import * as v7 from 'ai';
import * as v5 from 'ai-v5';
import * as v6 from 'ai-v6';
import type { GatewayClient } from 'context-gateway';
import { type AiSdkProvider, createAiSdkProvider, type Specification } from 'context-gateway/ai-sdk';

/** What these tests use of `ai` is in all of its versions; the newest one's types stand for it. */
type Ai = typeof v7;

interface Major {
  readonly name: string;
  readonly ai: Ai;
  readonly specification: Specification;
  /** In the newest specification that this version takes. */
  readonly createProvider: (gateway: GatewayClient) => AiSdkProvider<'v4'>;
}

function major(name: string, ai: unknown, specification: Specification): Major {
  const createProvider = (gateway: GatewayClient) => createAiSdkProvider(gateway, { specification });
  return { name, ai: ai as Ai, specification, createProvider: createProvider as unknown as Major['createProvider'] };
}

export const majors = [major('ai 5', v5, 'v2'), major('ai 6', v6, 'v3'), major('ai 7', v7, 'v4')];

// All of them print warnings unless told otherwise.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
