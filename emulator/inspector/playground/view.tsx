import type { Signal } from '@preact/signals';
import type { ChatCompletionParams, ChatMessage } from 'context-gateway';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Overview } from '../../src/control/overview.js';
import type { Answers } from '../../src/index.js';
import { sourceText } from '../catalog/source.js';
import { Button, CopyButton } from '../parts/button.js';
import { Card, ErrorLine, Title } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { Field, Segments, Select, TextArea } from '../parts/field.js';
import { ask, conversationPath } from '../service/control.js';
import { requests } from '../service/live.js';
import { linkTo, route } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, duration, plural } from '../service/words.js';
import { asCurl, asProgram } from './code.js';
import { evidenceOf } from './evidence.js';
import { type Run, runCompletion } from './run.js';
import {
  bareRun,
  conversationId,
  draft,
  drafts,
  isCompared,
  isStream,
  leaveConversation,
  loadConversation,
  maxTokens,
  model,
  run,
  type Source,
  sent,
  source,
  temperature,
} from './store.js';

/** A form for a completion request, its response, and the request as code. */
export function PlaygroundView() {
  const { data, error } = useLoaded('overview', () => ask<Overview>('GET', '/overview'), ['conversations/*', 'models']);
  const answers = useLoaded('answers', () => ask<Answers>('GET', '/answers'), []);
  const { run: act, error: failure } = useAction();
  const asked = route.value.id;
  useEffect(() => {
    if (asked !== '') void act(() => loadConversation(asked, source.value));
  }, [asked]);
  const models = data?.models.map(({ id }) => id) ?? [];
  const params = paramsOf(model.value || (models[0] ?? ''));
  return (
    <>
      <Title name="Playground">
        Send a completion request through the SDK, as your program would.{' '}
        {answers.data !== undefined && sourceText(answers.data)}
      </Title>
      <ErrorLine>{error}</ErrorLine>
      <div class={`columns playground ${isCompared.value ? 'comparing' : ''}`}>
        <Card title="Request">
          <div class="form">
            <Select
              label="Conversation"
              id="from-conversation"
              value={conversationId.value}
              onChange={(id) => (id === '' ? leaveConversation() : act(() => loadConversation(id, source.value)))}
              options={[
                { value: '', label: 'none' },
                ...(data?.conversations ?? []).map(({ id, title }) => ({
                  value: id,
                  label: `${id}  ${title.slice(0, 30)}`,
                })),
              ]}
            />
            {conversationId.value !== '' && (
              <Segments<Source>
                label="Use"
                value={source.value}
                onChange={(as) => act(() => loadConversation(conversationId.value, as))}
                options={[
                  { value: 'context', label: 'Context' },
                  { value: 'messages', label: 'All messages' },
                ]}
              />
            )}
            {params.messages.length > 1 && (
              <label class="check">
                <input
                  type="checkbox"
                  id="compare"
                  checked={isCompared.value}
                  onChange={(event) => {
                    isCompared.value = event.currentTarget.checked;
                    if (!isCompared.value) bareRun.value = undefined;
                  }}
                />
                Also ask without it
              </label>
            )}
          </div>
          <ErrorLine>{failure}</ErrorLine>
          <Messages />
          <Settings models={models} />
          <Send params={params} />
        </Card>
        <div class="stack">
          <div class={isCompared.value ? 'compared' : ''}>
            <ResponseCard />
            {isCompared.value && <BareCard />}
          </div>
          <CodeCard params={params} />
        </div>
      </div>
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
                value={role as (typeof ROLES)[number]}
                onChange={(chosen) => set(number, { role: chosen })}
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
            <TextArea
              label={`Message ${at}`}
              isBare
              id={at === all.length ? 'question' : undefined}
              rows={at === all.length ? 3 : 2}
              value={content}
              onInput={(text) => set(number, { content: text })}
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
        value={model.value || (models[0] ?? '')}
        onChange={(chosen) => {
          model.value = chosen;
        }}
        options={models}
      />
      <Field
        label="Max tokens"
        type="number"
        min={1}
        value={maxTokens.value}
        placeholder="4096"
        onInput={(value) => {
          maxTokens.value = value;
        }}
      />
      <Field
        label="Temperature"
        type="number"
        min={0}
        max={2}
        step="0.1"
        value={temperature.value}
        placeholder="1"
        onInput={(value) => {
          temperature.value = value;
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          id="stream"
          checked={isStream.value}
          onChange={(event) => {
            isStream.value = event.currentTarget.checked;
          }}
        />
        Stream
      </label>
    </div>
  );
}

function Send({ params }: { params: ChatCompletionParams }) {
  const controller = useRef<AbortController>();
  const isRunning = [run.value, bareRun.value].some((each) => each?.state === 'waiting' || each?.state === 'arriving');
  const send = (): void => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    sent.value = params.messages;
    const keepIn = (target: Signal<Run | undefined>) => (now: Run) => {
      target.value = now;
    };
    void runCompletion(params, keepIn(run), signal);
    const question = params.messages.at(-1);
    if (isCompared.value && question !== undefined)
      void runCompletion({ ...params, messages: [question] }, keepIn(bareRun), signal);
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

const STATES = { waiting: 'waiting', arriving: 'arriving', done: 'complete', stopped: 'stopped', failed: 'failed' };

function ResponseCard() {
  const now = run.value;
  const { run: act, error } = useAction();
  if (now === undefined) {
    return (
      <Card title="Response">
        <p class="empty">No response yet.</p>
      </Card>
    );
  }
  const { state, text, requestId } = now;
  const evidence = state === 'done' ? evidenceOf(text, sent.value) : [];
  const keep = () =>
    act(async () => {
      const question = drafts.value.at(-1);
      const added: ChatMessage[] = [
        ...(question?.role === 'user' ? [{ role: question.role, content: question.content }] : []),
        { role: 'assistant', content: text },
      ];
      if (conversationId.value !== '') {
        await ask('POST', conversationPath(conversationId.value, '/messages'), { messages: added });
      }
      drafts.value = [
        ...drafts.value,
        draft({ role: 'assistant', content: text }),
        draft({ role: 'user', content: '' }),
      ];
      run.value = undefined;
    });
  return (
    <Card
      title={isCompared.value ? 'With the context' : 'Response'}
      aside={<span class={`badge ${state}`}>{STATES[state]}</span>}
    >
      <Answer run={now} id="answer" />
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
        {state === 'done' && text !== '' && (
          <Button onClick={keep} id="keep">
            {conversationId.value === '' ? 'Continue from here' : 'Add to the conversation'}
          </Button>
        )}
        {requestId !== undefined && <a href={linkTo('requests', requestId)}>Show request</a>}
      </div>
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

/** The text of a run, and its facts. */
function Answer({ run: now, id }: { run: Run; id: string }) {
  const { state, text, finishReason, usage, firstToken } = now;
  const isOpen = state === 'waiting' || state === 'arriving';
  const answeredBy = requests.value.find(({ requestId }) => requestId === now.requestId)?.answeredBy;
  const facts = [
    answeredBy !== undefined && `answered by: ${answeredBy}`,
    finishReason !== undefined && `finish reason ${finishReason}`,
    usage && `${count(usage.prompt_tokens)} + ${plural(usage.completion_tokens, 'token')}`,
    firstToken !== undefined && `first token after ${duration(firstToken)}`,
    now.duration !== undefined && duration(now.duration),
  ].filter(Boolean);
  return (
    <>
      <div class="answer" id={id} aria-live="polite" aria-busy={isOpen}>
        {text}
        {isOpen && <span class="cursor" aria-hidden="true" />}
      </div>
      <ErrorLine>{now.error}</ErrorLine>
      {facts.length > 0 && (
        <p class="soft" id={`${id}-facts`}>
          {facts.join(' · ')}
        </p>
      )}
    </>
  );
}

/** The answer to the question alone. */
function BareCard() {
  const now = bareRun.value;
  return (
    <Card title="Without the context" aside={now && <span class={`badge ${now.state}`}>{STATES[now.state]}</span>}>
      {now === undefined ? <p class="empty">No response yet.</p> : <Answer run={now} id="bare-answer" />}
      {now?.requestId !== undefined && <a href={linkTo('requests', now.requestId)}>Show request</a>}
    </Card>
  );
}

function CodeCard({ params }: { params: ChatCompletionParams }) {
  const [form, setForm] = useState<'curl' | 'sdk'>('curl');
  const text = form === 'curl' ? asCurl(location.origin, params) : asProgram(location.origin, params);
  return (
    <Card title="Code" aside={<CopyButton text={() => text} id="copy-code" />}>
      <Segments
        label="Format"
        value={form}
        onChange={setForm}
        options={[
          { value: 'curl', label: 'curl' },
          { value: 'sdk', label: 'SDK' },
        ]}
      />
      <Code label="The request as code" text={text} />
    </Card>
  );
}
