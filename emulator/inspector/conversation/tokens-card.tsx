import type { InspectedConversation } from '../../src/control/page/overview.js';
import { Card, Figure } from '../parts/card.js';
import { LineChart } from '../parts/chart.js';
import { Gauge, Legend, type Share } from '../parts/gauge.js';
import { count, percent } from '../service/words.js';
import { tokensOverTime } from './tokens-over-time.js';

/** The tokens of the context: the total, its parts, and their history. */
export function TokensCard({ conversation }: { conversation: InspectedConversation }) {
  const { metadata, messages } = conversation;
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
  const { all, context, compactions } = tokensOverTime(conversation);
  const removed = Math.max(0, totalTokens - compressedTokens);
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
      <Legend of={[...shares, { kind: 'rest', name: 'saved', value: removed }]} />
      {messages.length > 1 && (
        <LineChart
          label={`Tokens over ${messages.length} messages: ${count(totalTokens)} in all messages, ${count(compressedTokens)} in the context`}
          // Room for the drop of the last compaction.
          xs={{ from: 0, to: messages.length * 1.02, text: (x) => (x === 0 ? 'start' : `message ${messages.length}`) }}
          lines={[
            { name: 'all messages', kind: 'rest', isArea: true, points: all },
            { name: 'context', kind: 'summary', points: context },
          ]}
          marks={compactions.map(({ at, name }) => ({ x: at, text: name }))}
        />
      )}
    </Card>
  );
}
