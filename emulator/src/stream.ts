import type { Clock } from './clock.js';
import { type Completion, usageOf } from './completions.js';
import type { Settings } from './options.js';

/** What a stream needs beside its completion. */
export interface StreamContext {
  id: string;
  created: number;
  clock: Clock;
  pace: Settings['pace'];
  /** Ends the waiting when the reader has gone. */
  signal: AbortSignal;
  /** Called once with the tokens that were really sent, at the end or when the reader leaves. */
  bill: (completionTokens: number) => void;
}

/** The events of a streamed completion, in the form of A7. */
export async function* completionEvents(completion: Completion, context: StreamContext): AsyncGenerator<string, void> {
  const { clock, pace, signal } = context;
  const head = `"id":${JSON.stringify(context.id)},"object":"chat.completion.chunk","created":${context.created},"model":${JSON.stringify(completion.model)}`;
  const choice = (delta: object, finishReason: string | null): string =>
    `data: {${head},"choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finishReason)}}]}\n\n`;
  let sentTokens = 0;
  try {
    yield choice({ role: 'assistant', content: '' }, null);
    if (pace.ttft > 0) await clock.sleep(pace.ttft, signal);
    const startedAt = clock.now();
    for (const { text, tokens } of paced(completion.tokens.pieces, pace.chunkBy)) {
      sentTokens += tokens;
      yield choice({ content: text }, null);
      const wait = startedAt + (sentTokens * 1000) / pace.tokensPerSecond - clock.now();
      if (wait > 0) await clock.sleep(wait, signal);
    }
    sentTokens = completion.tokens.count;
    yield choice({}, completion.finishReason);
    yield `data: {${head},"choices":[],"usage":${JSON.stringify(usageOf(completion.promptTokens, sentTokens))}}\n\n`;
    yield 'data: [DONE]\n\n';
  } finally {
    context.bill(sentTokens);
  }
}

/** The pieces put together to chunks. Tokens that end inside a character count with the chunk that completes it. */
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

/** A generator of event texts as a body: one chunk per event, produced only as it is read. */
export function eventBody(events: AsyncGenerator<string, void>, stop: AbortController): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await events.next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        } catch (error) {
          controller.error(error);
        }
      },
      async cancel(reason) {
        stop.abort(reason);
        // The generator may be inside a wait that has just been ended; either way its `finally` runs.
        await events.return().catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
