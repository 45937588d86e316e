import { useEffect, useRef, useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/overview.js';
import type { MessageRole, PinCategory } from '../../src/store/conversation-records.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine } from '../parts/card.js';
import { Form, Select, TextArea } from '../parts/field.js';
import { ask, conversationPath } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { count, plural } from '../service/words.js';
import { categoryOf } from './losses.js';

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
  const { id, messages, pinnedMemory, statements } = conversation;
  const [most, setMost] = useState(PAGE);
  const [marked, setMarked] = useState<string>();
  const list = useRef<HTMLOListElement>(null);
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
      {messages.length === 0 && <Empty>No messages yet. Add one below.</Empty>}
      {hidden > 0 && (
        <Button kind="quiet" onClick={() => setMost(most + PAGE)}>
          Show {plural(Math.min(PAGE, hidden), 'earlier message')} of {count(hidden)}
        </Button>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <ol class="messages" ref={list} tabIndex={0} aria-label="Messages">
        {messages.slice(hidden).map((message) => (
          <MessageRow
            key={message.id}
            conversationId={id}
            message={message}
            category={pinnedMemory.find(({ messageId }) => messageId === message.id)?.category}
            suggested={categoryOf(statements.find(({ messageId }) => messageId === message.id)?.section ?? '')}
            isMarked={marked === message.id}
          />
        ))}
      </ol>
      <Append id={id} />
    </Card>
  );
}

const PAGE = 100;
const CATEGORIES: readonly PinCategory[] = ['decision', 'requirement', 'reference', 'other'];

function MessageRow({
  conversationId,
  message,
  category,
  suggested,
  isMarked,
}: {
  conversationId: string;
  message: Message;
  category: PinCategory | undefined;
  suggested: PinCategory;
  isMarked: boolean;
}) {
  const { id, role, content, status, tokens, excluded } = message;
  const { run, error, isBusy } = useAction();
  const pins = conversationPath(conversationId, `/pins/${encodeURIComponent(id)}`);
  const pin = (chosen: PinCategory) => run(() => ask('PUT', pins, { category: chosen }));
  const exclude = () =>
    run(() =>
      ask('PATCH', conversationPath(conversationId, `/messages/${encodeURIComponent(id)}`), { excluded: !excluded }),
    );
  return (
    <li class={`message ${status} ${isMarked ? 'marked' : ''}`} id={`message-${id}`} tabIndex={-1}>
      <div class="message-head">
        <span class="role">{role}</span>
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
          <Select label={`Category of ${id}`} isBare value={category} onChange={pin} options={CATEGORIES} />
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

const ROLES: readonly MessageRole[] = ['user', 'assistant', 'system'];

function Append({ id }: { id: string }) {
  const { run, error, isBusy } = useAction();
  const [role, setRole] = useState<MessageRole>('user');
  const [content, setContent] = useState('');
  const add = async (): Promise<void> => {
    const path = conversationPath(id, '/messages');
    if (!(await run(() => ask('POST', path, { messages: [{ role, content }] })))) return;
    setContent('');
    setRole(role === 'user' ? 'assistant' : 'user');
  };
  return (
    <Form onSubmit={add}>
      <TextArea label="Add a message" id="append" rows={2} value={content} onInput={setContent} />
      <Select label="Role" id="append-role" value={role} onChange={setRole} options={ROLES} />
      <Button type="submit" id="append-add" isDisabled={isBusy || content.trim() === ''}>
        Add
      </Button>
      <ErrorLine>{error}</ErrorLine>
    </Form>
  );
}
