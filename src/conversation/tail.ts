import { TOKENS_PER_MESSAGE } from './counter.js';
import type { ConversationMessage } from './messages.js';

type Count = (text: string) => number;

/** Tokens of messages with their bounds. */
export function messageTokens(messages: readonly { content: string }[], count: Count): number {
  return messages.reduce((sum, { content }) => sum + count(content) + TOKENS_PER_MESSAGE, 0);
}

/** Of its room, what a tail keeps when it is cut. */
export const LOW_WATER = 2 / 3;

/**
 * Where the tail begins so that it fits. It is cut by a block, down to two thirds of its room, so that it can grow again with
 * the same beginning; of the newest `keep` messages, which no summary holds yet, only as many go as must.
 */
export function cutTail(
  history: readonly ConversationMessage[],
  from: number,
  { room, keep, count }: { room: number; keep: number; count: Count },
): number {
  const costs = history.map((message) => (message.excluded === true ? 0 : messageTokens([message], count)));
  let tokens = costs.slice(from).reduce((sum, cost) => sum + cost, 0);
  let start = from;
  while (start < history.length && tokens > (history.length - start > keep ? LOW_WATER * room : room)) {
    tokens -= costs[start] ?? 0;
    start += 1;
  }
  return start === from ? from : startOfTurn(history, start);
}

/** A tail does not begin with a reply whose question is gone. */
export function startOfTurn(history: readonly ConversationMessage[], start: number): number {
  if (start === 0) return 0;
  let at = start;
  while (at < history.length && history[at]?.role !== 'user') at += 1;
  return at;
}
