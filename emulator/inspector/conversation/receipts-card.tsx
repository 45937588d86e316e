import { useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/page/overview.js';
import { Card, ErrorLine, Figure } from '../parts/card.js';
import { bound, Select } from '../parts/field.js';
import { conversationPath } from '../service/control.js';
import { linkTo } from '../service/router.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, dateAndTime, percent, plural } from '../service/words.js';
import { keyOf, type Receipt, Statements } from './statements.js';

/** What each compaction kept and lost, by the page or by a program: the newest, or another one that is chosen. */
export function ReceiptsCard({
  conversation,
  onShow,
}: {
  conversation: InspectedConversation;
  onShow: (messageId: string) => void;
}) {
  const { id } = conversation;
  const { data, error } = useLoaded<Receipt[]>(conversationPath(id, '/receipts'), [`conversations/${id}`]);
  const [chosen, setChosen] = useState('');
  const receipt = data?.find(({ number }) => String(number) === chosen) ?? data?.[0];
  if (data === undefined || receipt === undefined) return <ErrorLine>{error}</ErrorLine>;
  const { level, at, requestId, kept, lost, recognised, messages } = receipt;
  const choose = data.length > 1 && (
    <Select
      label="Compaction"
      isBare
      id="which-receipt"
      // The newest one gives way to the next.
      of={bound(String(receipt.number), (number) => setChosen(number === String(data[0]?.number) ? '' : number))}
      options={data.map((each) => [String(each.number), `${each.number}. ${each.level}, ${dateAndTime(each.at)}`])}
    />
  );
  return (
    <Card title={`Receipt of the ${level} compaction`} kind="receipt" aside={choose}>
      <p class="soft">
        {dateAndTime(at)} UTC ·{' '}
        {requestId === undefined ? (
          'by this page or in the process'
        ) : (
          <a href={linkTo('requests', requestId)}>by a program's request</a>
        )}
      </p>
      <p role="status" id="receipt">
        {effectOf(receipt)}
      </p>
      <div class="figures">
        <Figure value={`${count(messages.gone)} of ${count(messages.live)}`}>messages represented nowhere</Figure>
        <Figure value={count(kept.length)}>kept</Figure>
        <Figure value={count(lost.length)}>lost</Figure>
      </div>
      <p class="soft">
        {plural(recognised, 'statement')} recognised before (in English only). Anything else may be lost without being
        listed.
      </p>
      {lost.length > 0 && (
        <details id="receipt-lost">
          <summary>{plural(lost.length, 'statement')} lost</summary>
          <Statements
            key={receipt.number}
            of={lost}
            verb="Pin from the receipt"
            conversation={conversation}
            onShow={onShow}
          />
        </details>
      )}
      {kept.length > 0 && (
        <details>
          <summary>{plural(kept.length, 'statement')} kept</summary>
          <ul class="entries">
            {kept.map((statement) => (
              <li key={keyOf(statement)}>{statement.text}</li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

function effectOf({ previousTokenCount, newTokenCount, tokensRemoved }: Receipt): string {
  if (tokensRemoved === 0) return 'Nothing was removed: the context is already as small as this level allows.';
  const share = percent(tokensRemoved / previousTokenCount);
  return `${count(previousTokenCount)} tokens became ${count(newTokenCount)}: ${count(tokensRemoved)} fewer to send (${share}).`;
}
