'use client';
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import type { ErrorData } from 'context-gateway';
import { sources } from 'context-gateway/conversation';
import { useEffect, useState } from 'react';
import type { ChatMessage } from './store';

// Classes of Tailwind, which create-next-app installs.
const BOX = 'rounded-2xl border border-gray-500/40 px-4 py-2';
const BUTTON = `${BOX} shrink-0 cursor-pointer disabled:cursor-default disabled:opacity-50`;

export function Chat({ api, ...chat }: { api: string; id: string; messages: ChatMessage[]; resume: boolean }) {
  const reply = `/api/replies/${encodeURIComponent(chat.id)}`;
  const transport = new DefaultChatTransport<ChatMessage>({
    api,
    prepareReconnectToStreamRequest: () => ({ api: reply }),
  });
  const { messages, sendMessage, regenerate, resumeStream, status, error } = useChat<ChatMessage>({
    ...chat,
    transport,
  });
  const problem = error && problemOf(error);
  const isLost = error !== undefined && problem === undefined;
  useEffect(() => {
    if (!error || problemOf(error)) return;
    const timer = setTimeout(resumeStream, 1000); // the connection broke: the reply goes on, on the server
    return () => clearTimeout(timer);
  }, [error, resumeStream]);
  const wait = useCountdown(error, problem?.retryAfter);
  const isBusy = status === 'submitted' || status === 'streaming';
  const isResuming = chat.resume && messages.length === chat.messages.length;
  // Such as a message that never reached the server.
  const isUnanswered = !isBusy && !error && !isResuming && messages.at(-1)?.role === 'user';

  return (
    <main className="mx-auto flex h-dvh w-full max-w-3xl flex-col gap-3 p-4">
      <div className="flex flex-1 flex-col-reverse overflow-y-auto">
        <ol className="mb-auto flex flex-col gap-3" aria-live="polite" aria-busy={isBusy}>
          {messages.map(({ id, role, parts }) => (
            <li
              key={id}
              id={id}
              className={`${BOX} max-w-[88%] ${role === 'user' ? 'self-end bg-blue-500/15' : 'self-start'}`}
            >
              {parts.map((part) =>
                part.type === 'tool-searchConversation' ? (
                  <small key={part.toolCallId}>Searched for “{part.input?.query}”</small>
                ) : null,
              )}
              <p className="wrap-anywhere whitespace-pre-wrap">
                {parts.map((part) => (part.type === 'text' ? part.text : ''))}
              </p>
              {parts.map((part) =>
                part.type === 'data-recalled' ? (
                  <Sources key="sources" found={sources({ recalled: part.data }, 3)} />
                ) : null,
              )}
            </li>
          ))}
        </ol>
      </div>
      {error && (
        <p role="alert" className={`${BOX} bg-red-500/15`}>
          {problem ? problem.message : 'The connection broke. Connecting…'}
        </p>
      )}
      {status === 'submitted' && <p role="status">Waiting for the reply…</p>}
      {isUnanswered && <p role="status">No reply yet: press Again.</p>}
      <form
        className="flex gap-2"
        action={(form) => {
          sendMessage({ text: String(form.get('text')) });
        }}
      >
        <input
          className={`${BOX} min-w-0 flex-1`}
          name="text"
          aria-label="Your message"
          placeholder="Your message"
          required
        />
        {isBusy ? (
          <button type="button" className={BUTTON} onClick={() => fetch(reply, { method: 'DELETE' })}>
            Stop
          </button>
        ) : (
          <button
            type="button"
            className={BUTTON}
            onClick={() => regenerate()}
            disabled={wait > 0 || messages.length === 0}
          >
            {wait > 0 ? `Again in ${wait} s` : 'Again'}
          </button>
        )}
        <button type="submit" className={BUTTON} disabled={isBusy || wait > 0 || isLost}>
          Send
        </button>
      </form>
    </main>
  );
}

/** The earlier messages that a reply was given. */
function Sources({ found }: { found: { id?: string; role: string; text: string }[] }) {
  if (found.length === 0) return null;
  return (
    <details className="text-sm opacity-80">
      <summary>{found.length === 1 ? '1 source' : `${found.length} sources`}</summary>
      <ul className="list-disc pl-5">
        {found.map(({ id, role, text }) => (
          <li key={id ?? text} className="wrap-anywhere">
            <a href={id && `#${id}`}>
              {role}: {text.slice(0, 120)}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** What the server says is wrong. Nothing if the connection broke. */
function problemOf(error: Error): Pick<ErrorData, 'message' | 'retryAfter'> | undefined {
  try {
    const said = JSON.parse(error.message);
    return said.error ?? said;
  } catch {
    return undefined;
  }
}

/** Seconds until the next try. */
function useCountdown(error: Error | undefined, retryAfter = 0): number {
  const [past, setPast] = useState<{ error?: Error; seconds: number }>({ seconds: 0 });
  useEffect(() => {
    if (!error) return;
    const tick = () => setPast((last) => ({ error, seconds: last.error === error ? last.seconds + 1 : 1 }));
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [error]);
  return Math.max(0, Math.ceil(retryAfter / 1000) - (past.error === error ? past.seconds : 0));
}
