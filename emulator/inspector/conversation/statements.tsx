import { useRef, useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/page/inspected-conversation.js';
import type { PinCategory } from '../../src/store/conversation-records.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { ask, conversationPath } from '../service/control.js';
import { count } from '../service/words.js';

/** What a compaction kept and lost. */
export type Receipt = NonNullable<InspectedConversation['receipt']>;

/** A statement of a conversation, with the message it comes from. */
type Statement = Receipt['lost'][number];

/** The category a statement is pinned under. */
export function categoryOf(section: string): PinCategory {
  if (section === 'decisions') return 'decision';
  if (section === 'requirements') return 'requirement';
  return section === 'definitions' ? 'reference' : 'other';
}

/** Identifies a statement. */
export function keyOf({ section, term = '', text }: Statement): string {
  return `${section} ${term} ${text}`;
}

interface StatementsProps {
  of: readonly Statement[];
  conversation: InspectedConversation;
  noteOf: (statement: Statement) => string | undefined;
  onShow: (messageId: string) => void;
}

/** Lost statements, each with buttons that show its message or pin it. */
export function Statements({ of, conversation: { id, pinnedMemory }, noteOf, onShow }: StatementsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [isAll, setAll] = useState(false);
  const [status, setStatus] = useState('');
  const pin = async ({ section, text }: Statement, messageId: string): Promise<void> => {
    const row = document.activeElement?.closest('li');
    const next = row?.nextElementSibling ?? row?.previousElementSibling;
    const path = conversationPath(id, `/pins/${encodeURIComponent(messageId)}`);
    await ask('PUT', path, { category: categoryOf(section) });
    // Its row goes away, and the focus would go to the top of the page.
    (next?.querySelector<HTMLElement>('.row button:last-child') ?? list.current)?.focus({ preventScroll: true });
    setStatus(`Pinned: “${text}” is in the context again.`);
  };
  return (
    <>
      <ul class="records" ref={list} tabIndex={-1}>
        {of.slice(0, isAll ? undefined : FIRST).map((statement) => {
          const { section, term, text, messageId } = statement;
          const isPinned = pinnedMemory.some((pinned) => pinned.messageId === messageId);
          return (
            <li key={keyOf(statement)}>
              <div class="grow">
                {term !== undefined && <strong>{term} </strong>}
                <span>{text}</span>
                <small class="soft">
                  {[section === 'currentPlan' ? 'plan' : section.replace(/s$/, ''), noteOf(statement)]
                    .filter(Boolean)
                    .join(' · ')}
                </small>
              </div>
              {messageId !== undefined && (
                <div class="row">
                  <Button kind="quiet" label={`Show the message of: ${text}`} onClick={() => onShow(messageId)}>
                    Show
                  </Button>
                  {isPinned && <span class="badge pinned">pinned</span>}
                  {!isPinned && (
                    <ActionButton label={`Pin: ${text}`} act={() => pin(statement, messageId)}>
                      Pin
                    </ActionButton>
                  )}
                </div>
              )}
            </li>
          );
        })}
      </ul>
      {!isAll && of.length > FIRST && <Button onClick={() => setAll(true)}>Show all {count(of.length)}</Button>}
      <p role="status" class="said">
        {status}
      </p>
    </>
  );
}

/** How many are shown at first. */
const FIRST = 8;
