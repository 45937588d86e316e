import { createHash } from 'node:crypto';
import type { IdempotencyMemory } from '../store/idempotency.js';
import type { Answer } from './answers.js';
import type { Exchange } from './exchange.js';
import { relayBody } from './relay.js';

/** Does the work, or replays its earlier response. Only successes are kept: a rejected request may be retried. */
export async function answerOnce(
  memory: IdempotencyMemory,
  key: string,
  exchange: Exchange,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const found = await memory.lookUp(
    `${exchange.userId || 'account'} ${key}`,
    fingerprintOf(exchange, await exchange.bytes()),
  );
  if ('answer' in found) return { ...found.answer, headers: Object.fromEntries(found.answer.headers) };
  try {
    const answer = await work();
    const { status, body } = answer;
    const headers = Object.entries(answer.headers);
    if (status >= 300 || body === null) {
      found.keep();
    } else if (typeof body === 'string') {
      found.keep({ status, headers, body });
    } else {
      return {
        ...answer,
        body: watched(body, (text) => found.keep(text === undefined ? undefined : { status, headers, body: text })),
      };
    }
    return answer;
  } catch (error) {
    found.keep();
    throw error;
  }
}

/** Calls `tell` with the whole body after it was sent, or with undefined if the client disconnected. */
function watched(
  stream: ReadableStream<Uint8Array>,
  tell: (text: string | undefined) => void,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  let text = '';
  return relayBody(stream, {
    onChunk: (chunk) => {
      text += decoder.decode(chunk, { stream: true });
    },
    onEnd: (outcome) => tell(outcome === 'answered' ? text : undefined),
  });
}

/** Identifies a request by method, path, query and body. */
function fingerprintOf({ method, entry }: Exchange, body: Uint8Array): string {
  return createHash('sha256').update(`${method} ${entry.path}\n`).update(body).digest('base64url');
}
