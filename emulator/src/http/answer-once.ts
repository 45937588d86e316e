import { createHash } from 'node:crypto';
import type { IdempotencyMemory } from '../store/idempotency.js';
import type { Answer } from './answers.js';
import type { Exchange } from './exchange.js';
import { relayBody } from './relay.js';

/** Do the work, or give the answer that was given before. Only successes are kept: a refused request may be tried again. */
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

/** The body, told as a whole once it has passed; one that its reader leaves is not worth keeping. */
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

/** Tells one request from another: by method, path, query and body. */
function fingerprintOf({ method, entry }: Exchange, body: Uint8Array): string {
  return createHash('sha256').update(`${method} ${entry.path}\n`).update(body).digest('base64url');
}
