import { signal, useSignal } from '@preact/signals';
import type { ChatCompletionParams, ChatMessage } from 'context-gateway';
import { useEffect, useRef, useState } from 'preact/hooks';
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
import { ask, conversationPath } from '../service/control.js';
import { requests } from '../service/live.js';
import { goTo, linkTo, route } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, duration, plural } from '../service/words.js';
import { asCurl, asProgram } from './code.js';
import { evidenceOf } from './evidence.js';
import { type Run, runCompletion } from './run.js';
import {
  conversationId,
  draft,
  drafts,
  isStream,
  leaveConversation,
  loadConversation,
  maxTokens,
  model,
  openConversation,
  run,
  type Source,
  sent,
  source,
  temperature,
} from './store.js';

/** A form for a completion request, its response, and the request as code. */
export function PlaygroundView() {
  const { data, error } = useLoaded<Overview>('/overview', ['models']);
  const answers = useLoaded<Answers>('/answers', []);
  const models = data?.models.map(({ id }) => id) ?? [];
  const params = paramsOf(model.value || (models[0] ?? ''));
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

// Module state, so that the search survives a visit to another view.
const search = signal({ words: '', page: 0 });

/** The conversation that the messages come from, and what of it. */
function FromConversation() {
  const { run: act, error } = useAction();
  const [isOpen, setOpen] = useState(false);
  const asked = route.value.id;
  useEffect(() => {
    if (asked === '') return;
    setOpen(false);
    void act(() => openConversation(asked));
  }, [asked]);
  const leave = (): void => {
    leaveConversation();
    goTo('playground');
  };
  return (
    <>
      <div class="form">
        <Button id="from-conversation" isPressed={isOpen} onClick={() => setOpen(!isOpen)}>
          {conversationId.value === '' ? 'Use a conversation' : `Conversation ${conversationId.value}`}
        </Button>
        {conversationId.value !== '' && (
          <>
            <Button kind="quiet" id="no-conversation" onClick={leave}>
              Use none
            </Button>
            <Segments<Source>
              label="Use"
              of={bound(source.value, (as) => act(() => loadConversation(conversationId.value, as)))}
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
          <FoundConversations search={search} view="playground" size={8} />
        </div>
      )}
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}

function paramsOf(chosen: string): ChatCompletionParams {
  return {
    model: chosen,
    messages: drafts.value
      .filter(({ content }) => content.trim() !== '')
      .map(({ role, content }) => ({ role, content })),
    ...(temperature.value !== '' && { temperature: Number(temperature.value) }),
    ...(maxTokens.value !== '' && { max_tokens: Number(maxTokens.value) }),
    ...(isStream.value && { stream: true }),
  };
}

const ROLES = ['system', 'user', 'assistant'] as const;
const FOLDED = 4;

function Messages() {
  const [isAll, setAll] = useState(false);
  const all = drafts.value;
  const hidden = isAll ? 0 : Math.max(0, all.length - FOLDED);
  const set = (number: number, change: Partial<ChatMessage>): void => {
    drafts.value = drafts.value.map((each) => (each.number === number ? { ...each, ...change } : each));
  };
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
                of={bound(role as (typeof ROLES)[number], (chosen) => set(number, { role: chosen }))}
                options={ROLES}
              />
              {all.length > 1 && (
                <Button
                  kind="quiet"
                  label={`Remove message ${at}`}
                  onClick={() => {
                    drafts.value = drafts.value.filter((each) => each.number !== number);
                  }}
                >
                  Remove
                </Button>
              )}
            </div>
            <Field
              label={`Message ${at}`}
              isBare
              id={at === all.length ? 'question' : undefined}
              rows={at === all.length ? 3 : 2}
              of={bound(content, (text) => set(number, { content: text }))}
              placeholder={at === all.length ? 'What did we decide?' : undefined}
            />
          </div>
        );
      })}
      <Button
        kind="quiet"
        onClick={() => {
          drafts.value = [...drafts.value, draft({ role: 'user', content: '' })];
        }}
      >
        Add a message
      </Button>
    </div>
  );
}

function Settings({ models }: { models: readonly string[] }) {
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
  const controller = useRef<AbortController>();
  const isRunning = run.value?.state === 'waiting' || run.value?.state === 'arriving';
  const send = (): void => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    sent.value = params.messages;
    const keep = (now: Run): void => {
      run.value = now;
    };
    void runCompletion(params, keep, { signal, conversation: conversationId.value });
  };
  // Leaving the view aborts the request.
  useEffect(() => () => controller.current?.abort(), []);
  return (
    <div class="row send">
      {isRunning ? (
        <Button kind="danger" id="stop" onClick={() => controller.current?.abort()}>
          Stop
        </Button>
      ) : (
        <Button kind="main" id="send" isDisabled={params.messages.length === 0 || params.model === ''} onClick={send}>
          Send
        </Button>
      )}
      <span class="soft">{plural(params.messages.length, 'message')}</span>
    </div>
  );
}

/** The response, as far as it has come. */
function ResponseCard() {
  const now = run.value;
  const { state, text = '' } = now ?? {};
  const isDone = state === 'complete' && text !== '';
  const evidence = isDone ? evidenceOf(text, sent.value) : [];
  const keep = async (): Promise<void> => {
    const question = drafts.value.at(-1);
    const added: ChatMessage[] = [
      ...(question?.role === 'user' ? [{ role: question.role, content: question.content }] : []),
      { role: 'assistant', content: text },
    ];
    if (conversationId.value !== '') {
      await ask('POST', conversationPath(conversationId.value, '/messages'), { messages: added });
    }
    drafts.value = [...drafts.value, draft({ role: 'assistant', content: text }), draft({ role: 'user', content: '' })];
    run.value = undefined;
  };
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
          <ActionButton act={keep} id="keep">
            {conversationId.value === '' ? 'Continue from here' : 'Add to the conversation'}
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
