import type { InspectedConversation } from '../../src/control/page/overview.js';
import { Card } from '../parts/card.js';
import { plural } from '../service/words.js';
import { keyOf, Statements } from './statements.js';

/** Statements that the context no longer contains, the latest losses first. */
export function LossesCard(props: { conversation: InspectedConversation; onShow: (messageId: string) => void }) {
  const { lost, receipt } = props.conversation;
  if (lost.length === 0 && receipt === undefined) return null;
  const fresh = new Set(receipt?.lost.map(keyOf));
  return (
    <Card
      title="Lost from the context"
      kind="losses"
      aside={<span class="soft">{plural(lost.length, 'statement')}</span>}
    >
      <p class="soft">Decisions, requirements and definitions from the messages that a model no longer sees.</p>
      <Statements
        {...props}
        of={lost.toSorted((a, b) => Number(fresh.has(keyOf(b))) - Number(fresh.has(keyOf(a))))}
        noteOf={(statement) => (fresh.has(keyOf(statement)) ? 'lost in the last compaction' : undefined)}
      />
    </Card>
  );
}
