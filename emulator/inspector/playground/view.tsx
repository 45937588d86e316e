import type { ChatCompletionParams } from 'context-gateway';
import { useEffect } from 'preact/hooks';
import type { Answers, EmulatorModel } from '../../src/index.js';
import { sourceText } from '../answers/view.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { bound, Field, Select } from '../parts/field.js';
import { STOPPED_BY } from '../requests/detail.js';
import { requests } from '../service/live.js';
import { goTo, linkTo } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, duration, plural } from '../service/words.js';
import type { Run } from './run.js';
import { playground } from './store.js';

/** A form for a completion request, and its response. With an id, it has the context of a conversation. */
export function PlaygroundView({ id }: { id: string }) {
  const { data, error } = useLoaded<EmulatorModel[]>('/models', ['models']);
  const answers = useLoaded<Answers>('/answers', []);
  const models = data?.map((model) => model.id) ?? [];
  const params = playground.params(models[0] ?? '');
  return (
    <>
      <Title name="Playground">
        Send a completion request through the SDK, with a key and limits of its own.{' '}
        {answers.data !== undefined && sourceText(answers.data)}
      </Title>
      <ErrorLine>{error}</ErrorLine>
      <div class="columns playground">
        <Card title="Request">
          <Before id={id} />
          <Field label="Instructions (optional)" id="instructions" rows={2} of={playground.instructions} />
          <Field label="Question" id="question" rows={3} of={playground.question} placeholder="What did we decide?" />
          <Settings models={models} />
          <Send params={params} />
        </Card>
        <ResponseCard />
      </div>
    </>
  );
}

/** What was said before the question: of a conversation, or here. */
function Before({ id: asked }: { id: string }) {
  const { run: act, error } = useAction();
  const id = playground.conversationId.value;
  const history = playground.history.value;
  useEffect(() => {
    if (asked !== '' && asked !== playground.conversationId.value) void act(() => playground.load(asked));
  }, [asked]);
  const clear = (): void => {
    playground.clear();
    goTo('playground');
  };
  return (
    <>
      <ErrorLine>{error}</ErrorLine>
      {id !== '' && <p id="source">With the context of {id}.</p>}
      {history.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <ol class="messages before" tabIndex={0} aria-label="Earlier messages">
          {history.map(({ role, content }, i) => (
            <li key={i} class="message">
              <strong>{role}</strong>
              <p>{content}</p>
            </li>
          ))}
        </ol>
      )}
      {(id !== '' || history.length > 0) && (
        <Button kind="quiet" id="clear-history" onClick={clear}>
          Begin without earlier messages
        </Button>
      )}
    </>
  );
}

function Settings({ models }: { models: readonly string[] }) {
  const { model, maxTokens, temperature } = playground;
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
  return (
    <Card title="Response" aside={now && <span class={`badge ${now.state}`}>{now.state}</span>}>
      {now === undefined ? <Empty>No response yet.</Empty> : <Answer run={now} />}
      <div class="row">
        {state === 'complete' && text !== '' && (
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
  // The log has no reply that was stopped before its headers came.
  const stoppedBy = logged?.stoppedBy ?? (state === 'stopped' ? 'client' : undefined);
  const facts = [
    stoppedBy !== undefined && `stopped by ${STOPPED_BY[stoppedBy] ?? stoppedBy}`,
    logged?.answeredBy && `answered by: ${logged.answeredBy}`,
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
      <p class="soft">{facts.join(' · ')}</p>
    </>
  );
}
