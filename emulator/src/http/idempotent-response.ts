import { createHash } from 'node:crypto';
import type { IdempotencyMemory } from '../store/idempotency.js';
import { EventBody } from './event-body.js';
import type { Exchange } from './exchange.js';
import type { PlainResponse } from './plain-response.js';
import { relayBody } from './relay.js';

/** Does the work, or replays its earlier response. Only successes are kept: a rejected request may be retried. */
export async function idempotentResponse(
  memory: IdempotencyMemory,
  key: string,
  exchange: Exchange,
  work: () => Promise<PlainResponse>,
): Promise<PlainResponse> {
  const found = await memory.lookUp(
    `${exchange.userId || 'account'} ${key}`,
    fingerprintOf(exchange, await exchange.bytes()),
  );
  if ('stored' in found) return { ...found.stored, headers: Object.fromEntries(found.stored.headers) };
  try {
    const response = await work();
    const { status, body } = response;
    const headers = Object.entries(response.headers);
    if (status >= 300 || body === null) {
      found.keep();
    } else if (typeof body === 'string') {
      found.keep({ status, headers, body });
    } else {
      return {
        ...response,
        body: watched(body instanceof EventBody ? body.stream() : body, (text) =>
          found.keep(text === undefined ? undefined : { status, headers, body: text }),
        ),
      };
    }
    return response;
  } catch (error) {
    found.keep();
    throw error;
  }
}

/** Calls `onEnd` with the whole body after it was sent, or with undefined if the client disconnected. */
function watched(
  stream: ReadableStream<Uint8Array>,
  onEnd: (text: string | undefined) => void,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  let text = '';
  return relayBody(stream, {
    onChunk: (chunk) => {
      text += decoder.decode(chunk, { stream: true });
    },
    onEnd: (outcome) => onEnd(outcome === 'answered' ? text : undefined),
  });
}

/** Identifies a request by method, path, query and body. */
function fingerprintOf({ method, entry }: Exchange, body: Uint8Array): string {
  return createHash('sha256').update(`${method} ${entry.path}\n`).update(body).digest('base64url');
}
