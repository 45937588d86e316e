import { useState } from 'preact/hooks';
import type { Answers } from '../../src/index.js';
import { Button, ConfirmButton } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { Field, Form } from '../parts/field.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { plural } from '../service/words.js';
import { sourceText } from './source.js';

interface ActiveReply {
  id: string;
  match: string | { pattern: string; flags?: string };
  reply: string | { content?: string; json?: unknown; tool_calls?: unknown };
}

/** Where completions come from: scripted replies, recordings, an upstream or the built-in responder. */
export function AnswersView() {
  // Recordings are files: they change with the requests.
  const { data, error } = useLoaded('answers', () => ask<Answers>('GET', '/answers'), ['requests']);
  return (
    <>
      <Title name="Answers">{data === undefined ? undefined : sourceText(data)}</Title>
      <ErrorLine>{error}</ErrorLine>
      <Replies />
      {data?.directory !== undefined && <Recordings answers={data} />}
    </>
  );
}

function Replies() {
  const { data, error, reload } = useLoaded('replies', () => ask<ActiveReply[]>('GET', '/replies'), ['requests']);
  const { run, error: failure, isBusy } = useAction();
  const [match, setMatch] = useState('');
  const [reply, setReply] = useState('');
  const change = async (work: () => Promise<unknown>): Promise<boolean> => {
    const isDone = await run(work);
    await reload();
    return isDone;
  };
  const add = async (): Promise<void> => {
    if (!(await change(() => ask('POST', '/replies', { match, reply })))) return;
    setMatch('');
    setReply('');
  };
  return (
    <Card title="Scripted replies">
      <p class="soft">The first one whose text is in the last user message answers, before any other source.</p>
      {data?.length === 0 && <Empty>None yet.</Empty>}
      <ul class="records" id="replies">
        {data?.map(({ id, match: wanted, reply: given }) => (
          <li key={id}>
            <span class="grow">
              <code>{typeof wanted === 'string' ? wanted : `/${wanted.pattern}/${wanted.flags ?? ''}`}</code>
              <small>{typeof given === 'string' ? given : (given.content ?? JSON.stringify(given))}</small>
            </span>
            <ConfirmButton
              sure="Really remove"
              label={`Remove ${id}`}
              onConfirm={() => change(() => ask('DELETE', `/replies/${id}`))}
            >
              Remove
            </ConfirmButton>
          </li>
        ))}
      </ul>
      <Form onSubmit={add}>
        <Field label="Text in the question" id="reply-match" value={match} onInput={setMatch} isRequired />
        <Field label="Reply" id="reply-text" value={reply} onInput={setReply} isRequired />
        <Button type="submit" kind="main" id="reply-add" isDisabled={isBusy}>
          Add
        </Button>
      </Form>
      <ErrorLine>{failure ?? error}</ErrorLine>
    </Card>
  );
}

function Recordings({ answers: { directory, recordings } }: { answers: Answers }) {
  return (
    <Card title="Recordings" aside={<span class="soft">{plural(recordings.length, 'request')}</span>}>
      <p class="soft">
        In <code>{directory}</code>. The answers to a repeated question come in this order.
      </p>
      {recordings.length === 0 && <Empty>Nothing was recorded yet.</Empty>}
      <ul class="records" id="recordings">
        {recordings.map(({ file, request, answers }) => (
          <li key={file}>
            <details class="grow">
              <summary>
                {questionOf(request)} <span class="soft">{plural(answers.length, 'answer')}</span>
              </summary>
              <ol>
                {answers.map((answer, i) => (
                  <li key={i}>{answer}</li>
                ))}
              </ol>
              <Code label={`Request of ${file}`} text={JSON.stringify(request, null, 2)} />
            </details>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function questionOf({ messages }: Record<string, unknown>): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = typeof last === 'object' && last !== null && 'content' in last ? last.content : '';
  return (typeof content === 'string' ? content : JSON.stringify(content)).slice(0, 120);
}
