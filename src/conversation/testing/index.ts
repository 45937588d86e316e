import { ConfigurationError } from '../../index.js';
import type { ConversationStore } from '../store.js';
import { PARTS } from './parts.js';
import { STATES } from './states.js';
import { STORING } from './storing.js';
import { Talk } from './talk.js';

const RULES = { ...STORING, ...STATES, ...PARTS };

/**
 * Tests your own store against what conversations need of it: order, ids, fields, replacement in one step, conflicts between
 * processes, exclusions, states, and parts if it returns any. It works in any test runner, and stores in conversations with new ids.
 *
 * @throws {ConfigurationError} that names each rule that the store breaks, and what was seen
 *
 * @example
 * ```ts
 * import { memoryStore } from 'context-gateway/conversation';
 * import { testStore } from 'context-gateway/conversation/testing';
 * await testStore(memoryStore()); // in Vitest: test('our store', () => testStore(ourStore(database)))
 * console.log('no rule is broken');
 * ```
 */
export async function testStore(store: ConversationStore): Promise<void> {
  const broken: string[] = [];
  for (const [rule, check] of Object.entries(RULES)) {
    const seen = await check(new Talk(store)).catch((error: unknown) => `it throws ${error}`);
    if (seen !== undefined) broken.push(`${rule}: ${seen}`);
  }
  if (broken.length === 0) return;
  throw new ConfigurationError(
    `The store breaks ${broken.length} of ${Object.keys(RULES).length} rules.\n- ${broken.join('\n- ')}`,
  );
}
