import { useEffect, useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/page/inspected-conversation.js';
import type { PinCategory } from '../../src/store/conversation-records.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine } from '../parts/card.js';
import { bound, Select } from '../parts/field.js';
import { ask, conversationPath } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { count, plural } from '../service/words.js';
import { categoryOf } from './statements.js';

type Message = InspectedConversation['messages'][number];

/** The messages with their actions, and a form to append one. */
export function MessagesCard({
  conversation,
  target,
  onShown,
}: {
  conversation: InspectedConversation;
  /** The message to scroll to. */
  target: string | undefined;
  onShown: () => void;
}) {
  const { messages } = conversation;
  const [most, setMost] = useState(PAGE);
  const [marked, setMarked] = useState<string>();
  useEffect(() => {
    if (target === undefined) return;
    const at = messages.findIndex((message) => message.id === target);
    if (messages.length - at > most) return setMost(messages.length - at);
    setMarked(target);
    onShown();
    const row = document.getElementById(`message-${target}`);
    row?.scrollIntoView({ block: 'center', behavior: 'smooth' });
    row?.focus({ preventScroll: true });
  }, [target, most]);
  const hidden = Math.max(0, messages.length - most);
  return (
    <Card title="Messages" aside={<span class="soft">{count(messages.length)}</span>}>
      {messages.length === 0 && <Empty>No messages yet.</Empty>}
      {hidden > 0 && (
        <Button kind="quiet" onClick={() => setMost(most + PAGE)}>
          Show {plural(Math.min(PAGE, hidden), 'earlier message')} of {count(hidden)}
        </Button>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <ol class="messages" tabIndex={0} aria-label="Messages">
        {messages.slice(hidden).map((message) => (
          <MessageRow key={message.id} of={conversation} message={message} isMarked={marked === message.id} />
        ))}
      </ol>
    </Card>
  );
}

const PAGE = 100;
const CATEGORIES: readonly PinCategory[] = ['decision', 'requirement', 'reference', 'other'];

interface RowProps {
  of: InspectedConversation;
  message: Message;
  isMarked: boolean;
}

function MessageRow({ of: { id: conversationId, pinnedMemory, statements }, message, isMarked }: RowProps) {
  const { id, role, content, status, tokens, excluded } = message;
  const { run, error, isBusy } = useAction();
  const category = pinnedMemory.find(({ messageId }) => messageId === id)?.category;
  const suggested = categoryOf(statements.find(({ messageId }) => messageId === id)?.section ?? '');
  const pins = conversationPath(conversationId, `/pins/${encodeURIComponent(id)}`);
  const pin = (chosen: PinCategory) => run(() => ask('PUT', pins, { category: chosen }));
  const exclude = () =>
    run(() =>
      ask('PATCH', conversationPath(conversationId, `/messages/${encodeURIComponent(id)}`), { excluded: !excluded }),
    );
  return (
    <li class={`message ${status} ${isMarked ? 'marked' : ''}`} id={`message-${id}`} tabIndex={-1}>
      <div class="message-head">
        <strong>{role}</strong>
        <span class={`badge ${status}`}>{status}</span>
        <span class="soft tokens-of">{plural(tokens, 'token')}</span>
      </div>
      <p>{content}</p>
      <div class="row message-actions">
        {/* One button for both, so that it keeps the focus. */}
        <Button
          kind="quiet"
          label={`${category === undefined ? 'Pin' : 'Unpin'} ${id}`}
          isBusy={isBusy}
          onClick={() => (category === undefined ? pin(suggested) : run(() => ask('DELETE', pins)))}
        >
          {category === undefined ? 'Pin' : 'Unpin'}
        </Button>
        {category !== undefined && (
          <Select label={`Category of ${id}`} isBare of={bound(category, pin)} options={CATEGORIES} />
        )}
        <Button kind="quiet" label={`${excluded ? 'Include' : 'Exclude'} ${id}`} isBusy={isBusy} onClick={exclude}>
          {excluded ? 'Include' : 'Exclude'}
        </Button>
        <code class="soft message-id">{id}</code>
      </div>
      <ErrorLine>{error}</ErrorLine>
    </li>
  );
}
