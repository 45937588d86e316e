import { type Answer, sender } from '../support.js';

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
  const send = sender(access.fetch, access.baseURL);
  const key = (given: string = access.apiKey) => ({ authorization: `Bearer ${given}` });
  const isStandard = access.sessionHeader.toLowerCase() === 'authorization';
  const session = { [access.sessionHeader]: isStandard ? `Bearer ${access.sessionToken}` : access.sessionToken };
  return {
    ...access,
    gateway: (method, path, body, given) => send(method, path, body, key(given)),
    context: (method, path, body) => send(method, path, body, session),
    bare: (method, path, headers = {}) => send(method, path, undefined, headers),
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
      return send('POST', '/v1/files', form, key());
    },
  };
}
