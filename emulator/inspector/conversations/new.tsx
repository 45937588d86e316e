import { useState } from 'preact/hooks';
import type { ConversationRecord } from '../../src/store/conversation-records.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Field, Form, Select, TextArea } from '../parts/field.js';
import { ask } from '../service/control.js';
import { goTo, linkTo } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { plural } from '../service/words.js';
import type { Choice, Speaker } from './speakers.js';
import { type Chosen, type ReadTranscript, readTranscript } from './transcript.js';

/** Creates a conversation from a transcript or from JSON. */
export function NewConversationView() {
  const [text, setText] = useState('');
  const [id, setId] = useState('');
  const [speakers, setSpeakers] = useState<Readonly<Record<string, Choice>>>({});
  const [conversation, setConversation] = useState<number>();
  const { run, error, isBusy } = useAction();
  const read = tryToRead(text, { speakers, conversation });
  const messages = typeof read === 'string' ? [] : read.messages;
  const create = () =>
    run(async () => {
      const body = { ...(id.trim() !== '' && { id: id.trim() }), messages };
      const created = await ask<ConversationRecord>('POST', '/conversations', body);
      goTo('conversation', created.id);
    });
  const open = async (file: File | undefined): Promise<void> => put((await file?.text()) ?? '');
  const put = (given: string): void => {
    setText(given);
    setConversation(undefined);
  };
  return (
    <>
      <Title name="New conversation" above={<a href={linkTo('conversations')}>Conversations</a>}>
        Paste a transcript, a Markdown export, a log of requests, or messages as JSON or JSON Lines.
      </Title>
      <Card title="Messages">
        <Form onSubmit={create}>
          <TextArea
            label="Transcript or JSON"
            id="transcript"
            rows={12}
            value={text}
            onInput={put}
            placeholder={'User: We decided to write Parquet.\nAssistant: Noted. Which customers go first?'}
          />
          <div class="field">
            <label for="transcript-file">Or a file</label>
            <input
              id="transcript-file"
              type="file"
              accept=".txt,.md,.json,.jsonl,.ndjson,text/*,application/json"
              onChange={(event) => open(event.currentTarget.files?.[0])}
            />
          </div>
          <Field label="Id (optional)" id="conversation-id" value={id} onInput={setId} placeholder="generated" />
          <Button type="submit" kind="main" id="create" isDisabled={isBusy || typeof read === 'string'}>
            {messages.length === 0 ? 'Create empty' : `Create with ${plural(messages.length, 'message')}`}
          </Button>
        </Form>
        <ErrorLine>{typeof read === 'string' ? read : error}</ErrorLine>
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
              value={String(conversation ?? read.conversations - 1)}
              onChange={(chosen) => setConversation(Number(chosen))}
              options={Array.from({ length: read.conversations }, (_, i) => ({
                value: String(i),
                label: `${i + 1} of ${read.conversations}`,
              }))}
            />
          </div>
        )}
        {typeof read !== 'string' && read.speakers.length > 0 && (
          <Speakers
            speakers={read.speakers}
            onChoose={(name, choice) => setSpeakers((before) => ({ ...before, [name]: choice }))}
          />
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <ol class="messages" tabIndex={0} aria-label="Messages of the preview">
          {messages.slice(0, SHOWN).map((message, i) => (
            <li key={i} class="message">
              <span class="role">{message.role}</span>
              <p class="clamped">{message.content}</p>
            </li>
          ))}
        </ol>
        {messages.length > SHOWN && <p class="soft">and {plural(messages.length - SHOWN, 'more message')}</p>}
      </Card>
    </>
  );
}

/** Who speaks, and as what. */
function Speakers({
  speakers,
  onChoose,
}: {
  speakers: readonly Speaker[];
  onChoose: (name: string, choice: Choice) => void;
}) {
  return (
    <fieldset class="speakers">
      <legend>Speakers</legend>
      <p class="soft">Speakers with the same role keep their names in the text.</p>
      <div class="form">
        {speakers.map(({ name, count, choice }) => (
          <Select<Choice>
            key={name}
            id={`speaker-${name || 'before'}`}
            label={name === '' ? 'Text before the first speaker' : `${name} (${plural(count, 'line')})`}
            value={choice}
            onChange={(chosen) => onChoose(name, chosen)}
            options={CHOICES.filter(({ value }) => name !== '' || value !== 'text')}
          />
        ))}
      </div>
    </fieldset>
  );
}

const CHOICES: readonly { value: Choice; label: string }[] = [
  { value: 'user', label: 'user' },
  { value: 'assistant', label: 'assistant' },
  { value: 'system', label: 'system' },
  { value: 'text', label: 'text, no speaker' },
  { value: 'none', label: 'left out' },
];

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
