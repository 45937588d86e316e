import { useState } from 'preact/hooks';
import type { ConversationRecord } from '../../src/store/conversation-records.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Field, Form, TextArea } from '../parts/field.js';
import { ask } from '../service/control.js';
import { goTo, linkTo } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { plural } from '../service/words.js';
import { type ReadTranscript, readTranscript } from './transcript.js';

/** Creates a conversation from a transcript or from JSON. */
export function NewConversationView() {
  const [text, setText] = useState('');
  const [id, setId] = useState('');
  const { run, error, isBusy } = useAction();
  const read = tryToRead(text);
  const messages = typeof read === 'string' ? [] : read.messages;
  const create = () =>
    run(async () => {
      const body = { ...(id.trim() !== '' && { id: id.trim() }), messages };
      const created = await ask<ConversationRecord>('POST', '/conversations', body);
      goTo('conversation', created.id);
    });
  const open = async (file: File | undefined): Promise<void> => setText((await file?.text()) ?? '');
  return (
    <>
      <Title name="New conversation" above={<a href={linkTo('conversations')}>Conversations</a>}>
        Paste a transcript. Speakers, Markdown headings and JSON are recognized.
      </Title>
      <Card title="Messages">
        <Form onSubmit={create}>
          <TextArea
            label="Transcript or JSON"
            id="transcript"
            rows={12}
            value={text}
            onInput={setText}
            placeholder={'User: We decided to write Parquet.\nAssistant: Noted. Which customers go first?'}
          />
          <div class="field">
            <label for="transcript-file">Or a file</label>
            <input
              id="transcript-file"
              type="file"
              accept=".txt,.md,.json,text/*,application/json"
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
        <ol class="messages">
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

function tryToRead(text: string): ReadTranscript | string {
  try {
    return readTranscript(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const FORMS = { json: 'JSON', transcript: 'speakers', plain: 'no speakers found: one message' };
const SHOWN = 8;
