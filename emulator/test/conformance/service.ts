import type { Answer } from '../support.js';

/** The service to test: the emulator or a real one. */
export interface ServiceUnderTest {
  model: string;
  conversationId: string;
  /** A message of that conversation. The tests pin, unpin, exclude and include it. */
  messageId: string;
  gateway(method: string, path: string, body?: unknown, key?: string): Promise<Answer>;
  context(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A call with these headers only. */
  bare(method: string, path: string, headers?: Record<string, string>): Promise<Answer>;
  stream(content: string): Promise<string>;
  upload(): Promise<Answer>;
  publishableKey: string | undefined;
}

/** How a service is reached. */
export interface Access {
  baseURL: string;
  fetch: typeof fetch;
  apiKey: string;
  publishableKey: string | undefined;
  sessionToken: string;
  sessionHeader: string;
  model: string;
  conversationId: string;
  messageId: string;
}

export function serviceAt(access: Access): ServiceUnderTest {
  const send = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Answer> => {
    const json =
      body === undefined
        ? { headers }
        : { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
    return answerOf(await access.fetch(access.baseURL + path, { method, ...json }));
  };
  const key = (given: string = access.apiKey) => ({ authorization: `Bearer ${given}` });
  const isStandard = access.sessionHeader.toLowerCase() === 'authorization';
  const session = { [access.sessionHeader]: isStandard ? `Bearer ${access.sessionToken}` : access.sessionToken };
  return {
    model: access.model,
    conversationId: access.conversationId,
    messageId: access.messageId,
    publishableKey: access.publishableKey,
    gateway: (method, path, body, given) => send(method, path, key(given), body),
    context: (method, path, body) => send(method, path, session, body),
    bare: (method, path, headers = {}) => send(method, path, headers),
    stream: async (content) => {
      const body = JSON.stringify({
        model: access.model,
        stream: true,
        max_tokens: 40,
        messages: [{ role: 'user', content }],
      });
      const headers = { 'content-type': 'application/json', ...key() };
      return (await access.fetch(`${access.baseURL}/v1/chat/completions`, { method: 'POST', headers, body })).text();
    },
    upload: async () => {
      const form = new FormData();
      form.set('purpose', 'conformance');
      form.set('file', new File(['conformance'], 'conformance.txt'));
      return answerOf(await access.fetch(`${access.baseURL}/v1/files`, { method: 'POST', headers: key(), body: form }));
    },
  };
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = text;
  }
  return { status: response.status, headers: response.headers, body };
}
