import { useMemo, useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/overview.js';
import { Button } from '../parts/button.js';
import { Card, ErrorLine } from '../parts/card.js';
import { ask, conversationPath } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { count, plural } from '../service/words.js';
import { categoryOf, type Loss, lossesOf, MOST_STATEMENTS } from './losses.js';

/** Statements that the context no longer contains, with buttons to show or pin their messages. */
export function LossesCard({
  conversation,
  recent,
  onShow,
  onChange,
}: {
  conversation: InspectedConversation;
  /** The losses of the last compaction. */
  recent: readonly Loss[];
  onShow: (messageId: string) => void;
  onChange: () => Promise<void>;
}) {
  const [status, setStatus] = useState('');
  const [isAll, setAll] = useState(false);
  const losses = useMemo(() => lossesOf(conversation), [conversation]);
  const fresh = new Set(recent.map(({ entry }) => entry.text));
  if (losses.length === 0 && status === '') return null;
  const sorted = [...losses].sort((a, b) => Number(fresh.has(b.entry.text)) - Number(fresh.has(a.entry.text)));
  return (
    <Card
      title="Lost from the context"
      kind="losses"
      aside={<span class="soft">{plural(losses.length, 'statement')}</span>}
    >
      <p class="soft">
        Decisions, requirements and definitions from the messages that a model no longer sees
        {conversation.statements.length > MOST_STATEMENTS && `, among the newest ${count(MOST_STATEMENTS)}`}.
      </p>
      <ul class="rows">
        {sorted.slice(0, isAll ? undefined : SHOWN).map((loss) => (
          <LossRow
            key={`${loss.entry.section} ${loss.entry.text}`}
            loss={loss}
            isFresh={fresh.has(loss.entry.text)}
            conversationId={conversation.id}
            onShow={onShow}
            onPinned={async () => {
              setStatus(`Pinned: “${loss.entry.text}” is in the context again.`);
              await onChange();
            }}
          />
        ))}
      </ul>
      {sorted.length > SHOWN && !isAll && <Button onClick={() => setAll(true)}>Show all {sorted.length}</Button>}
      <p role="status" class="said">
        {status}
      </p>
    </Card>
  );
}

function LossRow({
  loss: { entry, messageId },
  isFresh,
  conversationId,
  onShow,
  onPinned,
}: {
  loss: Loss;
  isFresh: boolean;
  conversationId: string;
  onShow: (messageId: string) => void;
  onPinned: () => Promise<void>;
}) {
  const { run, error, isBusy } = useAction();
  const pin = (id: string) =>
    run(async () => {
      const path = conversationPath(conversationId, `/pins/${encodeURIComponent(id)}`);
      await ask('PUT', path, { category: categoryOf(entry.section) });
      await onPinned();
    });
  return (
    <li>
      <span class="grow">
        {entry.term !== undefined && <strong>{entry.term} </strong>}
        <span>{entry.text}</span>
        <small class="soft">
          {SINGULAR[entry.section]}
          {isFresh && ' · lost just now'}
        </small>
        <ErrorLine>{error}</ErrorLine>
      </span>
      {messageId !== undefined && (
        <span class="row">
          <Button kind="quiet" label={`Show the message of: ${entry.text}`} onClick={() => onShow(messageId)}>
            Show
          </Button>
          <Button label={`Pin: ${entry.text}`} isDisabled={isBusy} onClick={() => pin(messageId)}>
            Pin
          </Button>
        </span>
      )}
    </li>
  );
}

const SINGULAR = {
  goals: 'goal',
  decisions: 'decision',
  requirements: 'requirement',
  currentPlan: 'plan',
  definitions: 'definition',
} as const;
const SHOWN = 8;
