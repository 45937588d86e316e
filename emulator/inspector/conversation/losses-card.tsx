import type { InspectedConversation } from '../../src/control/page/inspected-conversation.js';
import { Card } from '../parts/card.js';
import { linkTo } from '../service/router.js';
import { count, dateAndTime, percent, plural } from '../service/words.js';
import { keyOf, type Receipt, Statements } from './statements.js';

/** What the last compaction did, and the statements that the context no longer contains, its own losses first. */
export function LossesCard(props: { conversation: InspectedConversation; onShow: (messageId: string) => void }) {
  const { lost, receipt } = props.conversation;
  if (lost.length === 0 && receipt === undefined) return null;
  const fresh = new Set(receipt?.lost.map(keyOf));
  return (
    <Card
      title={receipt === undefined ? 'Lost from the context' : `What the ${receipt.level} compaction did`}
      kind="losses"
    >
      {receipt !== undefined && <Effect receipt={receipt} />}
      <p>
        {lost.length === 0
          ? 'No decision, requirement or definition was lost.'
          : `The context no longer contains ${plural(lost.length, 'statement')}:`}
      </p>
      <Statements
        {...props}
        of={lost.toSorted((a, b) => Number(fresh.has(keyOf(b))) - Number(fresh.has(keyOf(a))))}
        noteOf={(statement) => (fresh.has(keyOf(statement)) ? 'lost in the last compaction' : undefined)}
      />
    </Card>
  );
}

function Effect({ receipt }: { receipt: Receipt }) {
  const { at, requestId, recognised, messages, previousTokenCount, newTokenCount, tokensRemoved } = receipt;
  return (
    <>
      <p class="soft">
        {dateAndTime(at)} UTC ·{' '}
        {requestId === undefined ? (
          'by this page or in the process'
        ) : (
          <a href={linkTo('requests', requestId)}>by a program's request</a>
        )}
      </p>
      <p role="status" id="receipt">
        {tokensRemoved === 0
          ? 'Nothing was removed: the context is already as small as this level allows.'
          : `${count(previousTokenCount)} tokens became ${count(newTokenCount)}: ${count(tokensRemoved)} fewer to send (${percent(tokensRemoved / previousTokenCount)}).`}{' '}
        {count(messages.gone)} of {plural(messages.live, 'message')} left nothing in the context.
      </p>
      <p class="soft">
        Before, {plural(recognised, 'statement')} could be recognised. What was not recognised may be lost without being
        listed.
      </p>
    </>
  );
}
