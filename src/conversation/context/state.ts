import * as z from 'zod/mini';
import { ConfigurationError } from '../../index.js';
import type { ConversationState } from '../store.js';

export const NEW_STATE: ConversationState = {
  format: 1,
  revision: 0,
  lost: [],
  compaction: {},
  excluded: [],
};

/**
 * A state without its damaged parts, so that the conversation goes on, and messages stay excluded. `undefined` if its format or
 * its revision is damaged.
 */
export function withoutDamage(
  state: ConversationState,
  onError: (error: unknown) => void,
): ConversationState | undefined {
  const issues = z.safeParse(stateSchema, state).error?.issues ?? [];
  const [issue] = issues;
  if (issue === undefined) return state;
  const path = ['state', ...issue.path.map(String)].join('.');
  onError(
    new ConfigurationError(
      `store.load must return the state that store.saveState got, unchanged: ${path} is invalid. The turn continues without it.`,
    ),
  );
  const parts = issues.map((one) => one.path[0] as keyof ConversationState);
  if (state.format !== NEW_STATE.format || parts.includes('revision')) return undefined;
  const whole = { ...state, ...Object.fromEntries(parts.map((part) => [part, NEW_STATE[part]])) };
  // A damaged id must not bring the other messages back into prompts.
  const excluded = Array.isArray(state.excluded) ? state.excluded.filter((id) => typeof id === 'string') : [];
  return { ...whole, excluded };
}

/** The state of a conversation, as a store returns it. */
const stateSchema = /* @__PURE__ */ (() => {
  const number = z.number(); // finite
  const count = z.int().check(z.minimum(0));
  const text = z.string();
  const part = <Shape extends z.core.$ZodShape>(shape: Shape) => z.optional(z.looseObject(shape));
  return z.looseObject({
    format: z.literal(1),
    revision: number,
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
    excluded: z.array(text),
  });
})();
