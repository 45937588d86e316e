import { useSignal } from '@preact/signals';
import type { ConversationRecord, MessageInput } from '../../src/store/conversation-records.js';
import { ActionForm } from '../parts/action.js';
import { Card, ErrorLine, Title } from '../parts/card.js';
import { Field } from '../parts/field.js';
import { ask } from '../service/control.js';
import { goTo, linkTo } from '../service/router.js';
import { plural } from '../service/words.js';
import { readTranscript } from './transcript.js';

/** Creates a conversation from a transcript or from JSON. */
export function NewConversationView() {
  const text = useSignal('');
  const id = useSignal('');
  const read = tryToRead(text.value);
  const messages = typeof read === 'string' ? [] : read;
  const create = async (): Promise<void> => {
    const body = { ...(id.value.trim() !== '' && { id: id.value.trim() }), messages };
    goTo('conversation', (await ask<ConversationRecord>('POST', '/conversations', body)).id);
  };
  return (
    <>
      <Title name="New conversation" above={<a href={linkTo('conversations')}>Conversations</a>}>
        Paste lines that begin with User:, Assistant: or System:, or messages as JSON.
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
            of={text}
            placeholder={'User: We decided to write Parquet.\nAssistant: Noted. Which customers go first?'}
          />
          <Field label="Id (optional)" id="conversation-id" of={id} placeholder="generated" />
        </ActionForm>
        <ErrorLine>{typeof read === 'string' ? read : undefined}</ErrorLine>
      </Card>
    </>
  );
}

function tryToRead(text: string): MessageInput[] | string {
  try {
    return readTranscript(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
