import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/overview.js';
import type { CompactionLevel } from '../../src/index.js';
import { Button, ConfirmButton } from '../parts/button.js';
import { ErrorLine, Title } from '../parts/card.js';
import { ask, conversationPath } from '../service/control.js';
import { goTo, linkTo } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { dateAndTime, plural } from '../service/words.js';
import { receiptOf } from './losses.js';
import { LossesCard } from './losses-card.js';
import { MessagesCard } from './messages-card.js';
import { type Compacted, ReceiptCard } from './receipt-card.js';
import { SummaryCard } from './summary-card.js';
import { TokensCard } from './tokens-card.js';
import { VersionsCard } from './versions-card.js';

/** The receipts of compactions started on this page, by conversation. */
const receipts = signal<ReadonlyMap<string, Compacted>>(new Map());

/** A conversation: its tokens, summary, messages and losses, and the versions of its summary. */
export function ConversationView({ id }: { id: string }) {
  const path = conversationPath(id, '/context');
  const { data, error, reload } = useLoaded(path, () => ask<InspectedConversation>('GET', path), [
    `conversations/${id}`,
  ]);
  const [target, setTarget] = useState<string>();
  if (data === undefined || isUnknown(error)) return <Missing id={id} error={error} />;
  const receipt = receipts.value.get(id);
  return (
    <>
      <ConversationTitle conversation={data} />
      <ErrorLine>{error}</ErrorLine>
      <Jumps hasVersions={data.versions.length > 0} />
      {receipt !== undefined && <ReceiptCard compacted={receipt} onClose={() => keep(id, undefined)} />}
      <TokensCard conversation={data} />
      <div class="columns">
        <div class="stack">
          <LossesCard conversation={data} recent={receipt?.receipt.lost ?? []} onShow={setTarget} onChange={reload} />
          <div id="part-summary">
            <SummaryCard conversation={data} onShow={setTarget} />
          </div>
        </div>
        <div id="part-messages">
          <MessagesCard conversation={data} target={target} onShown={() => setTarget(undefined)} />
        </div>
      </div>
      {data.versions.length > 0 && (
        <div id="part-versions">
          <VersionsCard versions={data.versions} />
        </div>
      )}
    </>
  );
}

/** Links to the parts of the view, which are far apart on a phone. The fragment of the URL is the view. */
function Jumps({ hasVersions }: { hasVersions: boolean }) {
  const parts = ['summary', 'messages', ...(hasVersions ? ['versions'] : [])];
  return (
    <nav class="row jumps" aria-label="On this page">
      {parts.map((part) => (
        <Button
          key={part}
          kind="quiet"
          id={`to-${part}`}
          onClick={() => {
            const target = document.getElementById(`part-${part}`);
            target?.scrollIntoView({ block: 'start' });
            target?.querySelector<HTMLElement>('button, select, [tabindex]')?.focus({ preventScroll: true });
          }}
        >
          {part === 'versions' ? 'Versions' : part === 'summary' ? 'Summary' : 'Messages'}
        </Button>
      ))}
    </nav>
  );
}

function keep(id: string, compacted: Compacted | undefined): void {
  const next = new Map(receipts.value);
  if (compacted === undefined) next.delete(id);
  else next.set(id, compacted);
  receipts.value = next;
}

/** Whether the conversation does not exist. Any other error is shown next to the known data. */
function isUnknown(error: string | undefined): boolean {
  return error?.includes('no such conversation') === true;
}

function Missing({ id, error }: { id: string; error: string | undefined }) {
  if (error === undefined) return <Title name={id}>Loading…</Title>;
  const isMissing = isUnknown(error);
  return (
    <>
      <Title name={isMissing ? 'No such conversation' : id} above={<a href={linkTo('conversations')}>Conversations</a>}>
        {isMissing
          ? `No conversation has the id ${id}. It may have been deleted, or the emulator may have been reset.`
          : undefined}
      </Title>
      {!isMissing && <ErrorLine>{error}</ErrorLine>}
    </>
  );
}

const LEVELS: readonly { level: CompactionLevel; note: string }[] = [
  { level: 'light', note: 'leaves about 60 %' },
  { level: 'deep', note: 'leaves about 35 %' },
  { level: 'aggressive', note: 'leaves about 15 %' },
];

function ConversationTitle({ conversation }: { conversation: InspectedConversation }) {
  const { id, metadata, rollingSummary, messages } = conversation;
  const { run, error, isBusy } = useAction();
  const compact = (level: CompactionLevel) =>
    run(async () => {
      const path = conversationPath(id, '/context');
      const before = await ask<InspectedConversation>('GET', path);
      const result = await ask<Compacted['result']>('POST', conversationPath(id, '/compact'), { level });
      const after = await ask<InspectedConversation>('GET', path);
      keep(id, { level, result, receipt: receiptOf(before, after) });
    });
  const remove = async (): Promise<void> => {
    if (await run(() => ask('DELETE', conversationPath(id)))) goTo('conversations');
  };
  const state =
    metadata.lastCompactionAt === null
      ? 'never compacted'
      : `summary version ${rollingSummary.version}, compacted ${dateAndTime(metadata.lastCompactionAt)} UTC`;
  return (
    <>
      <Title
        name={id}
        above={<a href={linkTo('conversations')}>Conversations</a>}
        actions={
          <>
            <a class="button" href={linkTo('playground', id)}>
              Ask in the playground
            </a>
            <fieldset class="segments">
              <legend class="unseen">Compact</legend>
              <span aria-hidden="true">Compact</span>
              {LEVELS.map(({ level, note }) => (
                <button
                  key={level}
                  type="button"
                  id={`compact-${level}`}
                  title={note}
                  aria-disabled={isBusy}
                  onClick={isBusy ? undefined : () => compact(level)}
                >
                  {level}
                </button>
              ))}
            </fieldset>
            <ConfirmButton sure="Really delete" id="delete" label={`Delete ${id}`} onConfirm={remove}>
              Delete
            </ConfirmButton>
          </>
        }
      >
        {plural(messages.length, 'message')}, {state}
      </Title>
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}
