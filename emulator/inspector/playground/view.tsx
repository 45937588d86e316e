import { useSignal } from '@preact/signals';
import type { ChatCompletionParams } from 'context-gateway';
import { useEffect, useState } from 'preact/hooks';
import type { Overview } from '../../src/control/page/overview.js';
import type { Answers } from '../../src/index.js';
import { sourceText } from '../catalog/answers.js';
import { FoundConversations } from '../conversations/found.js';
import { ActionButton } from '../parts/action.js';
import { Button, CopyButton } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { bound, Check, Field, Segments, Select } from '../parts/field.js';
import { STOPPED_BY } from '../requests/detail.js';
import { requests } from '../service/live.js';
import { goTo, linkTo, route } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, duration, plural } from '../service/words.js';
import { asCurl, asProgram } from './code.js';
import type { Run } from './run.js';
import { playground, type Source } from './store.js';

/** A form for a completion request, its response, and the request as code. */
export function PlaygroundView() {
  const { data, error } = useLoaded<Overview>('/overview', ['models']);
  const answers = useLoaded<Answers>('/answers', []);
  const models = data?.models.map(({ id }) => id) ?? [];
  const params = playground.params(models[0] ?? '');
  return (
    <>
      <Title name="Playground">
        Send a completion request through the SDK, as your program would.{' '}
        {answers.data !== undefined && sourceText(answers.data)}
      </Title>
      <ErrorLine>{error}</ErrorLine>
      <div class="columns playground">
        <Card title="Request">
          <FromConversation />
          <Messages />
          <Settings models={models} />
          <Send params={params} />
        </Card>
        <div class="stack">
          <ResponseCard />
          <CodeCard params={params} />
        </div>
      </div>
    </>
  );
}

/** The conversation that the messages come from, and what of it. */
function FromConversation() {
  const id = playground.conversationId.value;
  const { run: act, error } = useAction();
  const [isOpen, setOpen] = useState(false);
  const asked = route.value.id;
  useEffect(() => {
    if (asked === '') return;
    setOpen(false);
    void act(() => playground.open(asked));
  }, [asked]);
  const leave = (): void => {
    playground.leave();
    goTo('playground');
  };
  return (
    <>
      <div class="form">
        <Button id="from-conversation" isPressed={isOpen} onClick={() => setOpen(!isOpen)}>
          {id === '' ? 'Use a conversation' : `Conversation ${id}`}
        </Button>
        {id !== '' && (
          <>
            <Button kind="quiet" id="no-conversation" onClick={leave}>
              Use none
            </Button>
            <Segments<Source>
              label="Use"
              of={bound(playground.source.value, (as) => act(() => playground.load(id, as)))}
              options={[
                ['context', 'Context'],
                ['messages', 'All messages'],
              ]}
            />
          </>
        )}
      </div>
      {isOpen && (
        <div class="picker">
          <FoundConversations search={playground.search} view="playground" size={8} />
        </div>
      )}
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}

const ROLES = ['system', 'user', 'assistant'] as const;
const FOLDED = 4;

function Messages() {
  const [isAll, setAll] = useState(false);
  const all = playground.drafts.value;
  const hidden = isAll ? 0 : Math.max(0, all.length - FOLDED);
  return (
    <div class="drafts">
      {hidden > 0 && (
        <Button kind="quiet" onClick={() => setAll(true)}>
          Show {plural(hidden, 'earlier message')}
        </Button>
      )}
      {all.slice(hidden).map(({ number, role, content }, i) => {
        const at = hidden + i + 1;
        return (
          <div class="draft" key={number}>
            <div class="row">
              <Select
                label={`Role of message ${at}`}
                isBare
                of={bound(role as (typeof ROLES)[number], (chosen) => playground.change(number, { role: chosen }))}
                options={ROLES}
              />
              {all.length > 1 && (
                <Button kind="quiet" label={`Remove message ${at}`} onClick={() => playground.remove(number)}>
                  Remove
                </Button>
              )}
            </div>
            <Field
              label={`Message ${at}`}
              isBare
              id={at === all.length ? 'question' : undefined}
              rows={at === all.length ? 3 : 2}
              of={bound(content, (text) => playground.change(number, { content: text }))}
              placeholder={at === all.length ? 'What did we decide?' : undefined}
            />
          </div>
        );
      })}
      <Button kind="quiet" onClick={() => playground.add()}>
        Add a message
      </Button>
    </div>
  );
}

function Settings({ models }: { models: readonly string[] }) {
  const { model, maxTokens, temperature, isStream } = playground;
  return (
    <div class="form">
      <Select
        label="Model"
        id="model"
        of={bound(model.value || (models[0] ?? ''), (chosen) => {
          model.value = chosen;
        })}
        options={models}
      />
      <Field label="Max tokens" type="number" min={1} of={maxTokens} placeholder="4096" />
      <Field label="Temperature" type="number" min={0} max={2} step="0.1" of={temperature} placeholder="1" />
      <Check id="stream" of={isStream}>
        Stream
      </Check>
    </div>
  );
}

function Send({ params }: { params: ChatCompletionParams }) {
  // Leaving the view aborts the request.
  useEffect(() => () => playground.stop(), []);
  return (
    <div class="row send">
      {playground.isRunning ? (
        <Button kind="danger" id="stop" onClick={() => playground.stop()}>
          Stop
        </Button>
      ) : (
        <Button
          kind="main"
          id="send"
          isDisabled={params.messages.length === 0 || params.model === ''}
          onClick={() => playground.send(params)}
        >
          Send
        </Button>
      )}
      <span class="soft">{plural(params.messages.length, 'message')}</span>
    </div>
  );
}

/** The response, as far as it has come. */
function ResponseCard() {
  const now = playground.run.value;
  const { state, text = '' } = now ?? {};
  const isDone = state === 'complete' && text !== '';
  const evidence = isDone ? playground.evidence(text) : [];
  return (
    <Card title="Response" aside={now && <span class={`badge ${now.state}`}>{now.state}</span>}>
      {now === undefined ? <Empty>No response yet.</Empty> : <Answer run={now} />}
      {evidence.length > 0 && (
        <div class="evidence" id="evidence">
          <h3>Evidence in the prompt</h3>
          <ul>
            {evidence.map(({ message, role, text: passage }) => (
              <li key={`${message} ${passage}`}>
                <mark>{passage}</mark>{' '}
                <span class="soft">
                  message {message}, {role}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div class="row">
        {isDone && (
          <ActionButton act={() => playground.keep(text)} id="keep">
            {playground.conversationId.value === '' ? 'Continue from here' : 'Add to the conversation'}
          </ActionButton>
        )}
        {now?.requestId !== undefined && <a href={linkTo('requests', now.requestId)}>Show request</a>}
      </div>
    </Card>
  );
}

/** The text of a run, and its facts. */
function Answer({ run: now }: { run: Run }) {
  const { state, text, finishReason, usage, firstToken } = now;
  const isOpen = state === 'waiting' || state === 'arriving';
  const logged = requests.value.find(({ requestId }) => requestId !== undefined && requestId === now.requestId);
  const answeredBy = logged?.answeredBy;
  // The log has no reply that was stopped before its headers came.
  const stoppedBy = logged?.stoppedBy ?? (state === 'stopped' ? 'client' : undefined);
  const facts = [
    stoppedBy !== undefined && `stopped by ${STOPPED_BY[stoppedBy] ?? stoppedBy}`,
    answeredBy !== undefined && `answered by: ${answeredBy}`,
    finishReason !== undefined && `finish reason ${finishReason}`,
    usage && `${count(usage.prompt_tokens)} + ${plural(usage.completion_tokens, 'token')}`,
    firstToken !== undefined && `first token after ${duration(firstToken)}`,
    now.duration !== undefined && duration(now.duration),
  ].filter(Boolean);
  return (
    <>
      <div class="answer" id="answer" aria-live="polite" aria-busy={isOpen}>
        {text}
        {isOpen && <span class="cursor" aria-hidden="true" />}
      </div>
      <ErrorLine>{now.error}</ErrorLine>
      {facts.length > 0 && (
        <p class="soft" id="answer-facts">
          {facts.join(' · ')}
        </p>
      )}
    </>
  );
}

function CodeCard({ params }: { params: ChatCompletionParams }) {
  const form = useSignal<'curl' | 'sdk'>('curl');
  const text = form.value === 'curl' ? asCurl(location.origin, params) : asProgram(location.origin, params);
  return (
    <Card title="Code" aside={<CopyButton text={() => text} id="copy-code" />}>
      <Segments
        label="Format"
        of={form}
        options={[
          ['curl', 'curl'],
          ['sdk', 'SDK'],
        ]}
      />
      <Code label="The request as code" text={text} />
    </Card>
  );
}
