import { useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/page/inspected-conversation.js';
import type { CompactionLevel } from '../../src/index.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { ErrorLine, Title } from '../parts/card.js';
import { search } from '../requests/filter.js';
import { ask, conversationPath } from '../service/control.js';
import { goTo, linkTo } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { dateAndTime, plural } from '../service/words.js';
import { LossesCard } from './losses-card.js';
import { MessagesCard } from './messages-card.js';
import { SummaryCard } from './summary-card.js';
import { TokensCard } from './tokens-card.js';

/** A conversation: its tokens, summary, messages, receipts and losses. Opens at a message, `part`. */
export function ConversationView({ id, part }: { id: string; part: string }) {
  const { data, error } = useLoaded<InspectedConversation>(conversationPath(id, '/context'), [`conversations/${id}`]);
  const [target, setTarget] = useState(part === '' ? undefined : part);
  if (data === undefined || error?.includes('no such conversation') === true) {
    return (
      <>
        <Title name={id} above={LIST}>
          {error === undefined ? 'Loading…' : undefined}
        </Title>
        <ErrorLine>{error}</ErrorLine>
      </>
    );
  }
  return (
    <>
      <ConversationTitle conversation={data} />
      <ErrorLine>{error}</ErrorLine>
      <TokensCard conversation={data} />
      <div class="columns">
        <div class="stack">
          <LossesCard conversation={data} onShow={setTarget} />
          <SummaryCard conversation={data} onShow={setTarget} />
        </div>
        <MessagesCard conversation={data} target={target} onShown={() => setTarget(undefined)} />
      </div>
    </>
  );
}

const LIST = <a href={linkTo('conversations')}>Conversations</a>;
const LEVELS: readonly CompactionLevel[] = ['light', 'deep', 'aggressive'];

function ConversationTitle({ conversation }: { conversation: InspectedConversation }) {
  const { id, metadata, rollingSummary, messages } = conversation;
  const { run, error, isBusy } = useAction();
  const remove = async (): Promise<void> => {
    await ask('DELETE', conversationPath(id));
    goTo('conversations');
  };
  const compact = (level: CompactionLevel) => run(() => ask('POST', conversationPath(id, '/compact'), { level }));
  const state =
    metadata.lastCompactionAt === null
      ? 'never compacted'
      : `summary version ${rollingSummary.version}, compacted ${dateAndTime(metadata.lastCompactionAt)} UTC`;
  return (
    <>
      <Title
        name={id}
        above={LIST}
        actions={
          <>
            <a class="button" href={linkTo('playground', id)}>
              Ask in the playground
            </a>
            <a class="button quiet" href={linkTo('requests')} onClick={() => search(id)}>
              Requests
            </a>
            <fieldset class="segments">
              <legend class="unseen">Compact</legend>
              <span class="soft" aria-hidden="true">
                Compact
              </span>
              {LEVELS.map((level) => (
                <Button key={level} id={`compact-${level}`} isBusy={isBusy} onClick={() => compact(level)}>
                  {level}
                </Button>
              ))}
            </fieldset>
            <ActionButton sure="Really delete" id="delete" label={`Delete ${id}`} act={remove}>
              Delete
            </ActionButton>
          </>
        }
      >
        {plural(messages.length, 'message')}, {state}
      </Title>
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}
