import { unlessSilent, withHeartbeats } from '../../base/heartbeats.js';
import { ignoreErrors } from '../../base/ignore-errors.js';
import { shownSources } from '../../base/shown-sources.js';
import { shownTurn } from '../../base/shown-turn.js';
import { streamOf } from '../../base/stream-of.js';
import { ConfigurationError, type ErrorData, type ToolCall, toErrorData, toErrorResponse } from '../../index.js';
import type { CompactionReceipt, FoundMessage, PageTurn, ReplyPart, ReplyStream } from '../model.js';

/**
 * What a page learns about a turn, in this order: the best ten messages that were `recalled`, the `text` in pieces, between them each
 * `call` of a tool and, if you show them, its `result`, the `turn` as it was stored, an `error` if there was one, and the `receipt` of a
 * compaction that ran after it.
 */
export type TurnEvent =
  | { type: 'recalled'; recalled: FoundMessage[] }
  | { type: 'text'; text: string }
  | { type: 'call'; id: string; name: string }
  | { type: 'result'; id: string; name: string; result: string }
  | { type: 'turn'; turn: PageTurn }
  | { type: 'error'; error: ErrorData }
  | { type: 'receipt'; receipt: CompactionReceipt };

/** Options of `toResponse`. */
export type ResponseOptions = {
  /** Called with errors of your own server, of which a page gets no details. */
  onError?: ((error: unknown) => void) | undefined;
  /**
   * Whether the page gets the results of tools. It gets the arguments only of calls that wait for the app, as `turn.toolCalls`.
   * @default false
   */
  showResults?: boolean | undefined;
};

/**
 * Creates the response for a page, which reads it with `readTurn`: server-sent events, or a JSON error with its status if the
 * turn fails within eight seconds, before its first text. If the turn starts a compaction, the response ends after it. While
 * the model is silent, a comment is sent every eight seconds, so that no proxy ends the response.
 *
 * If the page is closed, the reply is stopped, and its text so far is stored. Also pass the signal of the request to the
 * reply: it stops before the first text, too. With `background`, and without that signal, the reply continues. A page gets no details
 * of problems of your own server; `onError` gets the error.
 *
 * @throws {ConfigurationError} for anything else than a reply of `stream`, such as the promise of `send`
 *
 * @example
 * ```ts
 * const response = await toResponse(conversation.stream('The harbour opens at six. When does the harbour open?'));
 * console.log(response.status, (await response.text()).split('\n')[0]);
 * ```
 */
export async function toResponse(
  reply: ReplyStream,
  { onError, showResults = false }: ResponseOptions = {},
): Promise<Response> {
  if (typeof reply?.[Symbol.asyncIterator] !== 'function')
    throw new ConfigurationError(
      'toResponse takes what conversation.stream(…) returns: toResponse(conversation.stream(input)).',
    );
  const parts = reply.parts()[Symbol.asyncIterator]();
  const tell = (error: unknown): void => {
    const { status } = toErrorData(error);
    // A visitor reads a 404, too, but only you can correct the name of a model.
    if (status >= 500 || status === 404) ignoreErrors(() => onError?.(error));
  };
  const first = parts.next();
  try {
    await unlessSilent(first);
  } catch (error) {
    tell(error);
    return toErrorResponse(error);
  }
  const events = eventsOf(reply, parts, first, { tell, showResults });
  first.catch(() => {}); // the page may leave before it reads the events
  return eventResponse(events, () => parts.return?.());
}

function namesOf({ id, function: { name } }: ToolCall): { id: string; name: string } {
  return { id, name };
}

/** The events for a page. */
async function* eventsOf(
  reply: ReplyStream,
  parts: AsyncIterator<ReplyPart>,
  first: Promise<IteratorResult<ReplyPart>>,
  { tell, showResults }: { tell: (error: unknown) => void; showResults: boolean },
): AsyncGenerator<TurnEvent, undefined> {
  let failure: { error: unknown } | undefined;
  try {
    let step = await first;
    const recalled = shownSources(reply.report?.recalled ?? [], showResults);
    if (recalled.length > 0) yield { type: 'recalled', recalled };
    for (; !step.done; step = await parts.next()) {
      const { value } = step;
      if (value.type === 'text') yield value;
      else if (value.type === 'call') yield { type: 'call', ...namesOf(value.call) };
      else if (showResults) yield { type: 'result', ...namesOf(value.call), result: value.result };
    }
  } catch (error) {
    failure = { error };
    tell(error);
  }
  const ended = await reply.final().catch(() => undefined); // with the error of the loop
  if (ended !== undefined) yield { type: 'turn', turn: shownTurn(ended, showResults) };
  if (failure !== undefined) yield { type: 'error', error: toErrorData(failure.error) };
  const receipt = await reply.receipt();
  if (receipt !== undefined) yield { type: 'receipt', receipt };
}

/** A response of server-sent events. `leave` is called if the page leaves. */
function eventResponse(events: AsyncGenerator<TurnEvent>, leave: () => unknown): Response {
  const body = streamOf(withHeartbeats(encoded(events)), leave);
  // Without `no-transform`, middleware that compresses holds the text back; without the last header, nginx does.
  const cache = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };
  const headers = { 'content-type': 'text/event-stream', ...cache };
  return new Response(body, { headers });
}

async function* encoded(events: AsyncGenerator<TurnEvent>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  for await (const event of events) yield encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
}
