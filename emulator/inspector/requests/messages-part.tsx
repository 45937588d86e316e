import { useState } from 'preact/hooks';
import type { RequestRecord } from '../../src/http/log/request-record.js';
import { Button } from '../parts/button.js';
import { Folded } from '../parts/folded.js';
import { type Color, Gauge, inColor, Legend } from '../parts/gauge.js';
import { count, percent, plural } from '../service/words.js';
import type { ShownMessage } from './messages.js';

type Prompt = NonNullable<RequestRecord['prompt']>;
type Part = NonNullable<Prompt['messages'][number]['part']>;

/** What a part of a prompt of the SDK's conversations is, and its colour. */
const PARTS: Readonly<Record<Part, { name: string; kind: Color }>> = {
  instructions: { name: 'instructions', kind: 'series-4' },
  context: { name: 'context', kind: 'summary' },
  newest: { name: 'newest messages', kind: 'recent' },
  recalled: { name: 'recalled', kind: 'pinned' },
  input: { name: 'input', kind: 'series-3' },
};

/** What was said: the newest turn and its reply, with calls of tools and their results. The rest on demand. */
export function MessagesPart({ messages, prompt }: { messages: readonly ShownMessage[]; prompt: Prompt | undefined }) {
  const [isAll, setAll] = useState(false);
  const turn = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'user'),
  );
  const calls = messages.reduce((sum, message) => sum + message.calls.length, 0);
  return (
    <details open id="messages">
      <summary>
        {plural(messages.length, 'message')}
        {calls > 0 && `, ${plural(calls, 'tool call')}`}
      </summary>
      {prompt !== undefined && <PromptTokens prompt={prompt} />}
      {!isAll && turn > 0 && (
        <Button kind="quiet" onClick={() => setAll(true)}>
          Show {plural(turn, 'earlier message')}
        </Button>
      )}
      <ol class="turn">
        {messages.map(
          (message, i) =>
            (isAll || i >= turn) && (
              <li key={i} class={message.role}>
                <MessageOf
                  {...message}
                  number={i + 1}
                  counted={prompt?.messages.find(({ index }) => index === (message.index ?? i))}
                />
              </li>
            ),
        )}
      </ol>
    </details>
  );
}

/** How long a prompt is, and because of what. */
function PromptTokens({ prompt: { tokens, contextWindow, messages } }: { prompt: Prompt }) {
  const sumOf = (part: string): number =>
    messages.filter((message) => message.part === part).reduce((sum, each) => sum + each.tokens, 0);
  const shares = Object.entries(PARTS).map(([part, look]) => ({ ...look, value: sumOf(part) }));
  const used = shares.filter(({ value }) => value > 0);
  return (
    <>
      <p class="soft">
        The prompt has {plural(tokens, 'token')}, {percent(tokens / contextWindow)} of the model's window of{' '}
        {count(contextWindow)}.
      </p>
      {used.length > 0 && (
        <>
          <Gauge shares={used} total={tokens} label={used.map((each) => `${each.name} ${each.value}`).join(', ')} />
          <Legend of={used} />
        </>
      )}
    </>
  );
}

interface MessageProps extends ShownMessage {
  number: number;
  counted: Prompt['messages'][number] | undefined;
}

function MessageOf({ role, text, calls, resultOf, number, counted }: MessageProps) {
  const { part, lines, tokens = 0 } = counted ?? {};
  return (
    <>
      <p>
        <strong>{resultOf === undefined ? role : 'result of '}</strong>
        {resultOf !== undefined && <code>{resultOf}</code>} <span class="soft">{count(number)}</span>
        {part !== undefined && (
          <span class="badge part" style={inColor(PARTS[part].kind)}>
            {PARTS[part].name}
            {lines !== undefined && `, ${lines === 1 ? '1 entry' : `${lines} entries`}`}
          </span>
        )}
        {tokens > 0 && <span class="soft"> · {plural(tokens, 'token')}</span>}
      </p>
      {text !== '' && <Folded text={text} isCode={resultOf !== undefined} />}
      {calls.map(({ name, args }, i) => (
        <div key={i} class="tool-call">
          <p>
            calls <code>{name}</code>
          </p>
          <Folded text={args} isCode />
        </div>
      ))}
    </>
  );
}
