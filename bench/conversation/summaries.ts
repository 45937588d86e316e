import { type CompactionLevel, ContextClient, type RollingSummary } from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';
import type { Talk } from './data.js';

const known = new Map<Talk, Promise<RollingSummary[]>>();

/** The service's summaries of a conversation, one for each level, the longest first. Compacted once for all ways. */
export function summariesOf(talk: Talk): Promise<RollingSummary[]> {
  const summaries = known.get(talk) ?? compact(talk);
  known.set(talk, summaries);
  return summaries;
}

async function compact({ name, messages }: Talk): Promise<RollingSummary[]> {
  await using emulator = createEmulator({ seed: name, limits: { context: 1e6, compact: 1e6 } });
  await using context = new ContextClient({
    baseURL: 'https://emulator.test',
    sessionToken: emulator.sessionToken,
    fetch: emulator.fetch,
  });
  const { id } = emulator.conversations.create({ messages: messages.map(({ role, content }) => ({ role, content })) });
  const summaries: RollingSummary[] = [];
  for (const level of ['light', 'deep', 'aggressive'] satisfies CompactionLevel[]) {
    await context.compact(id, { level });
    summaries.push(await context.summary(id));
  }
  return summaries;
}
