import type { InspectedConversation } from '../../src/control/page/inspected-conversation.js';
import { Card, Figure } from '../parts/card.js';
import { Gauge, Legend, type Share } from '../parts/gauge.js';
import { count, percent } from '../service/words.js';

/** The tokens of the context: the total, and its parts. */
export function TokensCard({ conversation: { metadata, messages } }: { conversation: InspectedConversation }) {
  const { totalTokens, compressedTokens } = metadata;
  const tokensOf = (status: string): number =>
    messages.filter((message) => message.status === status).reduce((sum, { tokens }) => sum + tokens, 0);
  const recent = tokensOf('recent');
  const pinned = tokensOf('pinned');
  const shares: Share[] = [
    { kind: 'summary', name: 'summary', value: Math.max(0, compressedTokens - recent - pinned) },
    { kind: 'pinned', name: 'pins', value: pinned },
    { kind: 'recent', name: 'recent messages', value: recent },
  ];
  const saved = Math.max(0, totalTokens - compressedTokens);
  return (
    <Card title="Tokens" kind="tokens">
      <div class="figures">
        <Figure value={count(totalTokens)}>in all live messages</Figure>
        <Figure value={count(compressedTokens)}>in the context</Figure>
        <Figure value={totalTokens === 0 ? '–' : percent(compressedTokens / totalTokens)}>of the tokens sent</Figure>
      </div>
      <Gauge
        shares={shares}
        total={Math.max(totalTokens, compressedTokens)}
        label={`${count(compressedTokens)} of ${count(totalTokens)} tokens`}
      />
      <Legend of={[...shares, { kind: 'rest', name: 'saved', value: saved }]} />
    </Card>
  );
}
