import type { OutgoingRequest } from './engine.js';

/** The options of `fetch` on servers and in workers. Redirects are never followed: 'manual' returns the 3xx. */
export function requestInit({ method, headers, body }: OutgoingRequest): RequestInit {
  const upload = typeof body === 'object' ? body : undefined;
  const whole = typeof body === 'object' ? body.asBlob() : body;
  const bytes = whole === undefined ? upload?.open?.() : undefined;
  if (bytes === undefined) return { method, headers, body: whole ?? null, redirect: 'manual' };
  const streamed: RequestInit & { duplex: 'half' } = {
    method,
    headers,
    body: streamOf(bytes),
    // With 'manual', Node keeps a second copy of a streamed body.
    redirect: knowsRedirectError() ? 'error' : 'manual',
    duplex: 'half',
  };
  return streamed;
}

/** Whether the platform implements `redirect: 'error'`. workerd does not. */
function knowsRedirectError(): boolean {
  try {
    return new Request('http://localhost', { redirect: 'error' }).redirect === 'error';
  } catch {
    return false;
  }
}

function streamOf(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
