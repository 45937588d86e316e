'use client';
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import type { ErrorData } from 'context-gateway';
import { useEffect, useState } from 'react';
import type { ChatMessage } from './store';

export function Chat({ api, ...chat }: { api: string; id?: string; messages?: ChatMessage[] }) {
  const transport = new DefaultChatTransport<ChatMessage>({ api });
  const { messages, sendMessage, regenerate, stop, status, error } = useChat<ChatMessage>({ ...chat, transport });
  const problem = error && problemOf(error);
  const wait = useCountdown(error, problem?.retryAfter);
  const isBusy = status === 'submitted' || status === 'streaming';

  return (
    <main>
      <ol aria-live="polite" aria-busy={isBusy}>
        {messages.map(({ id, role, parts }) => (
          <li key={id} className={role}>
            {parts.map((part) =>
              part.type === 'tool-searchConversation' ? (
                <small key={part.toolCallId}>Searched for “{part.input?.query}”</small>
              ) : null,
            )}
            <p>{parts.map((part) => (part.type === 'text' ? part.text : ''))}</p>
          </li>
        ))}
      </ol>
      {problem && <p role="alert">{problem.message}</p>}
      <form
        action={(form) => {
          sendMessage({ text: String(form.get('text')) });
        }}
      >
        <input name="text" aria-label="Your message" placeholder="Your message" required />
        {isBusy ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="button" onClick={() => regenerate()} disabled={wait > 0 || messages.length === 0}>
            {wait > 0 ? `Again in ${wait} s` : 'Again'}
          </button>
        )}
        <button type="submit" disabled={isBusy || wait > 0}>
          Send
        </button>
      </form>
    </main>
  );
}

function problemOf(error: Error): Pick<ErrorData, 'message' | 'retryAfter'> {
  try {
    return JSON.parse(error.message);
  } catch {
    return { message: 'The connection broke.' };
  }
}

/** Seconds until the next try. */
function useCountdown(error: Error | undefined, retryAfter = 0): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(error ? Math.ceil(retryAfter / 1000) : 0);
    const timer = setInterval(() => setSeconds((left) => Math.max(0, left - 1)), 1000);
    return () => clearInterval(timer);
  }, [error, retryAfter]);
  return seconds;
}
