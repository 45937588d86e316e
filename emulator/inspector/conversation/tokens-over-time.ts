import type { InspectedConversation } from '../../src/control/page/overview.js';

type Point = readonly [message: number, tokens: number];

/** Tokens after each message, of all messages and of the context, and the compactions. */
export interface TokensOverTime {
  all: Point[];
  context: Point[];
  compactions: { at: number; name: string }[];
}

/**
 * Compactions are not stored with the message they followed. So each is placed where the messages add up to the tokens
 * it counted. Messages excluded or deleted since then make that place inexact.
 */
export function tokensOverTime({ messages, versions, metadata }: InspectedConversation): TokensOverTime {
  const all: Point[] = [[0, 0]];
  let sum = 0;
  for (const [i, { tokens, status }] of messages.entries()) {
    if (status !== 'excluded') sum += tokens;
    all.push([i + 1, sum]);
  }
  const compactions: TokensOverTime['compactions'] = [];
  const context: Point[] = [];
  let at = 0;
  // Tokens of all messages minus those of the context.
  let saved = 0;
  const goTo = (message: number): void => {
    for (; at <= message; at += 1) context.push([at, Math.max(0, (all[at]?.[1] ?? 0) - saved)]);
  };
  for (const { totalTokens, previousTokens, compressedTokens, cause, summary } of versions) {
    const found = all.findIndex(([, tokens]) => tokens >= totalTokens);
    const message = Math.max(at - 1, found === -1 ? messages.length : found);
    goTo(message);
    context.push([message, previousTokens], [message, compressedTokens]);
    saved = (all[message]?.[1] ?? 0) - compressedTokens;
    if (cause !== 'exclude' && cause !== 'cut') compactions.push({ at: message, name: `v${summary.version}` });
  }
  goTo(messages.length);
  context.push([messages.length, metadata.compressedTokens]);
  return { all, context, compactions: inPlaces(compactions) };
}

/** Merges compactions at the same place into one mark. */
function inPlaces(compactions: readonly { at: number; name: string }[]): { at: number; name: string }[] {
  const places = new Map<number, string>();
  for (const { at, name } of compactions) places.set(at, name);
  return [...places].map(([at, name]) => ({ at, name }));
}
