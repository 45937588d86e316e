import type { Clock } from '../base/clock.js';
import { errorBody, HttpError } from '../base/errors.js';
import { countedText, joinPieces, type ReplyPiece } from '../upstream/tool-calls.js';
import { type Completion, type LiveCompletion, usageOf } from './completions.js';
import { waitWithHeartbeat, withHeartbeat } from './heartbeat.js';

/** The pace of a stream, with all defaults filled in. */
export interface Pace {
  ttft: number;
  tokensPerSecond: number;
  chunkBy: 'token' | 'word' | 'char';
  splitBytes: number;
  lineEnd: 'lf' | 'crlf' | 'cr';
  heartbeat: number;
}

/** What a stream needs besides its completion. */
export interface StreamContext {
  id: string;
  created: number;
  clock: Clock;
  pace: Pace;
  /** Ends all waits when the client disconnects. */
  signal: () => AbortSignal;
  /** Called once with the tokens actually sent, at the end or when the client disconnects. */
  bill: (completionTokens: number) => void;
}

/** The events of a streamed completion (A7). */
export async function* completionEvents(completion: Completion, context: StreamContext): AsyncGenerator<string, void> {
  const { clock, pace } = context;
  const { heartbeat } = pace;
  const write = chunkWriter(completion.model, context);
  const bill = once(context.bill);
  const waitFor = (ms: number) =>
    waitWithHeartbeat(clock, ms, { heartbeat, comment: write.comment, signal: context.signal() });
  let sentTokens = 0;
  try {
    yield write.choice({ role: 'assistant', content: '' }, null);
    if (pace.ttft > 0) yield* waitFor(pace.ttft);
    const startedAt = clock.now();
    for (const { text, tokens } of paced(completion.tokens.pieces, pace.chunkBy)) {
      sentTokens += tokens;
      yield write.choice({ content: text }, null);
      const wait = startedAt + (sentTokens * 1000) / pace.tokensPerSecond - clock.now();
      if (wait > 0) yield* waitFor(wait);
    }
    for (const delta of toolCallDeltas(completion.toolCalls)) yield write.choice(delta, null);
    sentTokens = completion.tokenCount;
    yield write.choice({}, completion.finishReason);
    yield write.usage(completion.promptTokens, sentTokens);
    bill(sentTokens);
    yield write.done;
  } finally {
    bill(sentTokens);
  }
}

/** First the name of each tool call, then its arguments in pieces, as models write them. */
function* toolCallDeltas(calls: Completion['toolCalls']): Generator<object> {
  for (const [index, { id, type, function: called }] of calls.entries()) {
    yield { tool_calls: [{ index, id, type, function: { name: called.name, arguments: '' } }] };
    for (const piece of called.arguments.match(/.{1,8}/gsu) ?? [])
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
  }
}

/** The events of a live completion, in the pieces and at the pace of the upstream. */
export async function* liveEvents(completion: LiveCompletion, context: StreamContext): AsyncGenerator<string, void> {
  const write = chunkWriter(completion.model, context);
  const bill = once(context.bill);
  const pieces: ReplyPiece[] = [];
  let counted: number | undefined;
  const count = (): number => {
    const { content, toolCalls } = joinPieces(pieces);
    return completion.countTokens(content + countedText(toolCalls));
  };
  try {
    yield write.choice({ role: 'assistant', content: '' }, null);
    const { clock, pace } = context;
    const waits = { heartbeat: pace.heartbeat, signal: context.signal() };
    for await (const piece of withHeartbeat(clock, completion.response.pieces, waits)) {
      if (piece === undefined) {
        yield write.comment;
        continue;
      }
      pieces.push(piece);
      yield write.choice(typeof piece === 'string' ? { content: piece } : piece, null);
    }
    const { finishReason, usage } = completion.response.ended();
    counted = usage?.completion_tokens ?? count();
    yield write.choice({}, finishReason);
    yield write.usage(usage?.prompt_tokens ?? completion.promptTokens, counted);
    bill(counted);
    yield write.done;
  } catch (error) {
    if (context.signal().aborted) throw error;
    const message = error instanceof HttpError ? error.message : 'The upstream closed the stream early';
    yield write.event(errorBody('gateway', 503, message, { code: 'upstream_unavailable' }));
  } finally {
    bill(counted ?? count());
  }
}

/**
 * Bills on the first call only: before `[DONE]`, so that the usage is then up to date, or when the client disconnects.
 */
function once(bill: (tokens: number) => void): (tokens: number) => void {
  let isBilled = false;
  return (tokens) => {
    if (isBilled) return;
    isBilled = true;
    bill(tokens);
  };
}

/** Writes the events of one stream. The common head of all chunks is serialized once. */
function chunkWriter(model: string, { id, created, pace }: StreamContext) {
  const head = `"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)}`;
  const end = `${LINE_ENDS[pace.lineEnd]}${LINE_ENDS[pace.lineEnd]}`;
  return {
    choice: (delta: object, finishReason: string | null): string =>
      `data: {${head},"choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finishReason)}}]}${end}`,
    usage: (promptTokens: number, completionTokens: number): string =>
      `data: {${head},"choices":[],"usage":${JSON.stringify(usageOf(promptTokens, completionTokens))}}${end}`,
    event: (data: object): string => `data: ${JSON.stringify(data)}${end}`,
    done: `data: [DONE]${end}`,
    comment: `: keep-alive${end}`,
  };
}

const LINE_ENDS = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

/** Joins pieces into chunks. Tokens that end inside a character count with the chunk that completes the character. */
function* paced(
  pieces: readonly string[],
  chunkBy: 'token' | 'word' | 'char',
): Generator<{ text: string; tokens: number }> {
  let text = '';
  let tokens = 0;
  for (const [i, piece] of pieces.entries()) {
    text += piece;
    tokens += 1;
    if (piece === '') continue;
    if (chunkBy === 'word' && !/^\s/.test(pieces[i + 1] ?? ' ')) continue;
    if (chunkBy === 'char') {
      for (const character of text) {
        yield { text: character, tokens };
        tokens = 0;
      }
    } else {
      yield { text, tokens };
    }
    text = '';
    tokens = 0;
  }
  if (text !== '') yield { text, tokens };
}
