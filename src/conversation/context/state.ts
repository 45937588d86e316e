import * as z from 'zod/mini';
import { ConfigurationError } from '../../index.js';
import type { LostEntry } from '../model.js';
import type { ConversationState } from '../store.js';

export const NEW_STATE: ConversationState = { format: 1, lost: [], compaction: {} };

/** @throws {ConfigurationError} when a state is not one that was saved */
export function checkState(state: ConversationState): ConversationState {
  const [issue] = z.safeParse(stateSchema, state).error?.issues ?? [];
  if (issue === undefined) return state;
  const path = ['state', ...issue.path.map(String)].join('.');
  throw new ConfigurationError(
    `store.load must return the state that store.saveState got, unchanged: ${path} is invalid. Turns go on without it, and it is not saved over.`,
  );
}

/** One state of two that were made from the same one: the newer context, and all lost statements. */
export function joined(stored: ConversationState, own: ConversationState): ConversationState {
  const [one, other] = [stored.snapshot, own.snapshot];
  const isNewer = (one?.summary.version ?? -1) > (other?.summary.version ?? -1);
  const known = new Set(stored.lost.map(keyOf));
  return {
    ...own,
    snapshot: isNewer ? one : (other ?? one),
    lost: [...stored.lost, ...own.lost.filter((entry) => !known.has(keyOf(entry)))],
  };
}

function keyOf({ section, term, text }: LostEntry): string {
  return JSON.stringify([section, term, text]);
}

/** The state of a conversation, as a store returns it. */
const stateSchema = /* @__PURE__ */ (() => {
  const number = z.number(); // finite
  const count = z.int().check(z.minimum(0));
  const text = z.string();
  const part = <Shape extends z.core.$ZodShape>(shape: Shape) => z.optional(z.looseObject(shape));
  return z.looseObject({
    format: z.literal(1),
    lost: z.array(z.looseObject({ section: text, text, until: number })),
    // What the service sends is used without a check of its fields.
    snapshot: part({
      summary: z.looseObject({ version: number }),
      pins: z.array(z.looseObject({})),
      metadata: z.looseObject({ compressedTokens: number, recentMessageCount: number }),
      messages: count,
      readAt: number,
    }),
    compaction: z.looseObject({
      last: part({ level: z.enum(['light', 'deep', 'aggressive']), tokens: number, savedNothing: z.boolean() }),
      suspended: part({ until: number, wait: number }),
    }),
  });
})();
