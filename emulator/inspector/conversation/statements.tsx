import { useRef, useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/page/overview.js';
import type { PinCategory } from '../../src/store/conversation-records.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Item, Records } from '../parts/records.js';
import { ask, conversationPath } from '../service/control.js';

/** What a compaction kept and lost. */
export type Receipt = NonNullable<InspectedConversation['receipt']>;

/** A statement of a conversation, with the message it comes from. */
export type Statement = Receipt['lost'][number];

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

/** Lost statements, each with buttons that show its message or pin it. */
export function Statements({
  of,
  conversation: { id, pinnedMemory },
  noteOf = () => undefined,
  verb = 'Pin',
  onShow,
}: {
  of: readonly Statement[];
  conversation: InspectedConversation;
  noteOf?: (statement: Statement) => string | undefined;
  /** What the buttons are called, where a page has two lists. */
  verb?: string;
  onShow: (messageId: string) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
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
    <div ref={list} tabIndex={-1}>
      <Records of={of} most={8}>
        {(statement) => {
          const { section, term, text, messageId } = statement;
          return (
            <Item
              key={keyOf(statement)}
              name={
                <>
                  {term !== undefined && <strong>{term} </strong>}
                  <span>{text}</span>
                </>
              }
              note={[SINGULAR[section], noteOf(statement)].filter(Boolean).join(' · ')}
              actions={
                messageId !== undefined && (
                  <>
                    <Button kind="quiet" label={`Show the message of: ${text}`} onClick={() => onShow(messageId)}>
                      Show
                    </Button>
                    {pinnedMemory.some((pinned) => pinned.messageId === messageId) ? (
                      <span class="badge pinned">pinned</span>
                    ) : (
                      <ActionButton label={`${verb}: ${text}`} act={() => pin(statement, messageId)}>
                        Pin
                      </ActionButton>
                    )}
                  </>
                )
              }
            />
          );
        }}
      </Records>
      <p role="status" class="said">
        {status}
      </p>
    </div>
  );
}

const SINGULAR = {
  goals: 'goal',
  decisions: 'decision',
  requirements: 'requirement',
  currentPlan: 'plan',
  definitions: 'definition',
} as const;
