import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Folded } from '../parts/folded.js';
import { count, plural } from '../service/words.js';
import type { ShownMessage } from './messages.js';

/** What was said: the newest turn and its reply, with calls of tools and their results. The rest on demand. */
export function MessagesPart({ messages }: { messages: readonly ShownMessage[] }) {
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
                <MessageOf {...message} number={i + 1} />
              </li>
            ),
        )}
      </ol>
    </details>
  );
}

function MessageOf({ role, text, calls, resultOf, number }: ShownMessage & { number: number }) {
  return (
    <>
      <p>
        <strong>{resultOf === undefined ? role : 'result of '}</strong>
        {resultOf !== undefined && <code>{resultOf}</code>} <span class="soft">{count(number)}</span>
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
