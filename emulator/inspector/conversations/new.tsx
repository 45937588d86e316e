import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ConversationRecord } from '../../src/store/conversation-records.js';
import { ActionForm } from '../parts/action.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { bound, Field, FileField, type Option, Select } from '../parts/field.js';
import { ask } from '../service/control.js';
import { goTo, linkTo } from '../service/router.js';
import { plural } from '../service/words.js';
import type { Choice } from './speakers.js';
import { type Chosen, type ReadTranscript, readTranscript } from './transcript.js';

/** Creates a conversation from a transcript or from JSON. */
export function NewConversationView() {
  const text = useSignal('');
  const id = useSignal('');
  const [speakers, setSpeakers] = useState<Readonly<Record<string, Choice>>>({});
  const [conversation, setConversation] = useState<number>();
  const read = tryToRead(text.value, { speakers, conversation });
  const messages = typeof read === 'string' ? [] : read.messages;
  const create = async (): Promise<void> => {
    const body = { ...(id.value.trim() !== '' && { id: id.value.trim() }), messages };
    goTo('conversation', (await ask<ConversationRecord>('POST', '/conversations', body)).id);
  };
  const paste = (pasted: string): void => {
    text.value = pasted;
    setConversation(undefined);
  };
  return (
    <>
      <Title name="New conversation" above={<a href={linkTo('conversations')}>Conversations</a>}>
        Paste a transcript, a Markdown export, a log of requests, or messages as JSON or JSON Lines.
      </Title>
      <Card title="Messages">
        <ActionForm
          act={create}
          button={messages.length === 0 ? 'Create empty' : `Create with ${plural(messages.length, 'message')}`}
          id="create"
          isDisabled={typeof read === 'string'}
        >
          <Field
            label="Transcript or JSON"
            id="transcript"
            rows={12}
            of={bound(text.value, paste)}
            placeholder={'User: We decided to write Parquet.\nAssistant: Noted. Which customers go first?'}
          />
          <FileField
            label="Or a file"
            id="transcript-file"
            accept=".txt,.md,.json,.jsonl,.ndjson,text/*,application/json"
            onFile={async (file) => paste(await file.text())}
          />
          <Field label="Id (optional)" id="conversation-id" of={id} placeholder="generated" />
        </ActionForm>
        <ErrorLine>{typeof read === 'string' ? read : undefined}</ErrorLine>
      </Card>
      <Card
        title="Preview"
        aside={
          messages.length === 0 || typeof read === 'string' ? undefined : <span class="soft">{FORMS[read.form]}</span>
        }
      >
        {messages.length === 0 && <Empty>Nothing yet.</Empty>}
        {typeof read !== 'string' && read.conversations > 1 && (
          <div class="form">
            <Select
              label="Conversation"
              id="which-conversation"
              of={bound(String(conversation ?? read.conversations - 1), (chosen) => setConversation(Number(chosen)))}
              options={Array.from({ length: read.conversations }, (_, i) => [
                `${i}`,
                `${i + 1} of ${read.conversations}`,
              ])}
            />
          </div>
        )}
        {typeof read !== 'string' && read.speakers.length > 0 && (
          <fieldset class="speakers">
            <legend class="soft">Speakers. Those with the same role keep their names in the text.</legend>
            <div class="form">
              {read.speakers.map(({ name, count, choice }) => (
                <Select<Choice>
                  key={name}
                  id={`speaker-${name || 'before'}`}
                  label={name === '' ? 'Text before the first speaker' : `${name} (${plural(count, 'line')})`}
                  of={bound(choice, (chosen) => setSpeakers((before) => ({ ...before, [name]: chosen })))}
                  options={CHOICES.filter((choice) => name !== '' || choice !== NO_SPEAKER)}
                />
              ))}
            </div>
          </fieldset>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <ol class="messages" tabIndex={0} aria-label="Messages of the preview">
          {messages.slice(0, SHOWN).map((message, i) => (
            <li key={i} class="message">
              <strong>{message.role}</strong>
              <p class="clamped">{message.content}</p>
            </li>
          ))}
        </ol>
        {messages.length > SHOWN && <p class="soft">and {plural(messages.length - SHOWN, 'more message')}</p>}
      </Card>
    </>
  );
}

const NO_SPEAKER: Option<Choice> = ['text', 'text, no speaker'];
const CHOICES: readonly Option<Choice>[] = ['user', 'assistant', 'system', NO_SPEAKER, ['none', 'left out']];

function tryToRead(text: string, chosen: Chosen): ReadTranscript | string {
  try {
    return readTranscript(text, chosen);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const FORMS = {
  json: 'JSON',
  lines: 'JSON Lines',
  transcript: 'speakers',
  plain: 'no speakers found: one message',
};
const SHOWN = 200;
