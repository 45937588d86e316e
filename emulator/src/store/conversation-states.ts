import type { ConversationState, MessageRecord } from './conversation-records.js';

/** The state of a new conversation. */
export function newState(
  head: Pick<ConversationState, 'id' | 'ownerId' | 'workspaceId' | 'createdAt' | 'stylePreferences'>,
): ConversationState {
  return {
    ...head,
    pins: [],
    summary: [],
    version: 0,
    lastUpdated: head.createdAt,
    folded: 0,
    leftOut: [],
    lastCompactionAt: null,
  };
}

/** The state when only these messages, the first ones, are left. The summary is still that of all. */
export function stateAfterCut(state: ConversationState, left: readonly MessageRecord[]): ConversationState {
  const ids = new Set(left.map(({ id }) => id));
  const folded = Math.min(state.folded, left.length);
  return {
    ...state,
    cuts: (state.cuts ?? 0) + 1,
    pins: state.pins.filter((pin) => ids.has(pin.messageId)),
    folded,
    leftOut: state.leftOut.filter((id) => ids.has(id)),
    // Messages with the same ids and other texts may follow, of which a model has to write another summary.
    summarySourceHash: folded < state.folded ? undefined : state.summarySourceHash,
  };
}
