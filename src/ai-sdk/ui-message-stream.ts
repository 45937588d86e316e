import { shownSources } from '../base/shown-sources.js';
import { streamOf } from '../base/stream-of.js';
import type { FoundMessage, PageTurn, ReplyStream } from '../conversation/index.js';
import { APIAbortError, toErrorData } from '../index.js';

/** A chunk of a message for `useChat`. The same in `ai` 5, 6 and 7. */
export type UIMessageChunk =
  | { type: 'start'; messageId?: string }
  | { type: 'data-recalled'; data: FoundMessage[] }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | { type: 'error'; errorText: string }
  | { type: 'abort' }
  | { type: 'finish'; messageMetadata?: TurnMetadata };

/** The metadata of a message: the turn without its text. */
export type TurnMetadata = Omit<PageTurn, 'text'>;

/** Options of `toUIMessageStream`. */
export interface UIMessageStreamOptions {
  /** Returns the text of an error for the page. @default toErrorData(error).message */
  onError?: ((error: unknown) => string) | undefined;
}

/** The id of the message's only text. */
const TEXT = { id: '0' };

/**
 * Streams a reply to `useChat`: `createUIMessageStreamResponse({ stream: toUIMessageStream(conversation.stream(input)) })`.
 * The message has the reply's id. The best ten messages that were recalled are a data part, `data-recalled`. The metadata of
 * the message is the turn: messages with ids, usage, model, finish reason, report. If the page is closed, the reply is stopped, and its text so far is stored; with
 * the option `background`, it continues.
 */
export function toUIMessageStream(
  reply: ReplyStream,
  { onError = (error) => toErrorData(error).message }: UIMessageStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  const texts = reply[Symbol.asyncIterator]();
  return streamOf(chunksOf(reply, texts, onError), () => texts.return?.());
}

async function* chunksOf(
  reply: ReplyStream,
  texts: AsyncIterator<string>,
  onError: (error: unknown) => string,
): AsyncGenerator<UIMessageChunk, undefined> {
  let hasText = false;
  let failure: { error: unknown } | undefined;
  try {
    for (let step = await texts.next(); !step.done; step = await texts.next()) {
      if (!hasText) {
        yield { type: 'start', messageId: reply.id }; // not before: with an id, the page shows a message
        const recalled = shownSources(reply.report?.recalled ?? []);
        if (recalled.length > 0) yield { type: 'data-recalled', data: recalled };
        yield { type: 'text-start', ...TEXT };
      }
      hasText = true;
      yield { type: 'text-delta', ...TEXT, delta: step.value };
    }
  } catch (error) {
    failure = { error };
  }
  if (hasText) yield { type: 'text-end', ...TEXT };
  const turn = await reply.final().catch((error: unknown) => {
    failure ??= { error };
  });
  if (!hasText && failure !== undefined) yield { type: 'start' };
  if (APIAbortError.is(failure?.error)) yield { type: 'abort' };
  else if (failure !== undefined) yield { type: 'error', errorText: onError(failure.error) };
  if (turn === undefined) return;
  const { completion: _, text: __, report, ...rest } = turn;
  const { recalled: ___, ...shown } = report;
  yield { type: 'finish', messageMetadata: { ...rest, report: shown } };
}
