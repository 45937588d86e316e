/** The actions of the page under test, which is bundled like an app. The tests call them from outside. */
import * as sdk from 'context-gateway';
// @ts-expect-error: plain JavaScript, shared with the other runtimes
import { runSuite } from '../../compat/suite.js';

const messages = [
  { role: 'system', content: 'We decided to keep invoices in PostgreSQL.' },
  { role: 'user', content: 'Where do we keep invoices?' },
] as const;

const actions = {
  suite: (server: string): Promise<unknown> => runSuite(sdk, server),

  async stream(baseURL: string, apiKey: string) {
    const gateway = new sdk.GatewayClient({ baseURL, apiKey });
    const stream = await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true });
    const texts: string[] = [];
    for await (const text of stream.textStream) texts.push(text);
    return { texts, rateLimit: stream.response.rateLimit?.raw, keyType: gateway.keyType };
  },

  async construct(apiKey: string) {
    try {
      new sdk.GatewayClient({ baseURL: 'https://gateway.example.com', apiKey });
      return 'constructed';
    } catch (error) {
      return String(error);
    }
  },

  async rotatingKey(baseURL: string, apiKey: string) {
    const gateway = new sdk.GatewayClient({ baseURL, apiKey: () => apiKey });
    return gateway.presets.list().then(String, String);
  },

  async upload(baseURL: string, apiKey: string) {
    const gateway = new sdk.GatewayClient({ baseURL, apiKey, dangerouslyAllowBrowser: true });
    const frame = document.body.appendChild(document.createElement('iframe')).contentWindow as Window &
      typeof globalThis;
    const file = new frame.File(['x'.repeat(1_000)], 'frame.txt');
    const progress: number[] = [];
    const record = await gateway.files.upload({ file, purpose: 'test' }, { onProgress: (sent) => progress.push(sent) });
    return { record, progress };
  },

  async refused(baseURL: string, apiKey: string) {
    const gateway = new sdk.GatewayClient({ baseURL, apiKey, maxRetries: 0 });
    const [model, input] = ['atlas-small', 'Hello'];
    const error = await gateway.presets.execute('summarize', { model, input }).catch((failure: unknown) => failure);
    return { name: (error as Error).name, message: (error as Error).message, facts: JSON.stringify(error) };
  },

  /** Two POSTs, one after the other. The second has an idempotency key. */
  async executeTwice(baseURL: string, apiKey: string) {
    const gateway = new sdk.GatewayClient({ baseURL, apiKey, maxRetries: 0 });
    const params = { model: 'atlas-small', input: 'Hello' };
    await gateway.presets.execute('summarize', params);
    const second = gateway.presets.execute('summarize', params, { idempotencyKey: 'order-7' });
    return second.withResponse().then(({ response }) => response.attempts.length, String);
  },

  async relay(url: string) {
    const stream = await sdk.readChatCompletionStream(await fetch(url));
    return (await stream.finalCompletion()).choices[0]?.message.content;
  },
};

const violations: string[] = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective }) => violations.push(violatedDirective));
Object.assign(globalThis, { actions, violations });

export type Actions = typeof actions;
