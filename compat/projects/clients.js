/**
 * A client of another package over `gateway.fetch`: `clients.js <client>`. It calls and streams, does not repeat a call
 * whose response is lost, and does not take a stream that is cut off for a whole one.
 */
import assert from 'node:assert';
import { GatewayClient } from 'context-gateway';

const question = 'We keep invoices in PostgreSQL. Where do we keep invoices?';
const name = 'atlas-small';
let fault = '';
const posts = [];
const gateway = new GatewayClient({ onEvent: ({ type }) => type === 'request' && posts.push(type) });
const connection = {
  baseURL: `${process.env.CONTEXT_GATEWAY_BASE_URL}/v1`,
  apiKey: 'unused',
  fetch(address, init) {
    const headers = new Headers(init.headers);
    if (fault) headers.set('x-emulator-fault', fault);
    return gateway.fetch(address, { ...init, headers });
  },
};

/** A call and a stream of each client. */
const CLIENTS = {
  async openai() {
    const { default: OpenAI } = await import('openai');
    const { completions } = new OpenAI(connection).chat; // with its own retries
    const asked = { model: name, messages: [{ role: 'user', content: question }] };
    return {
      call: async () => (await completions.create(asked)).choices[0].message.content,
      async *stream() {
        for await (const { choices } of await completions.create({ ...asked, stream: true }))
          yield choices[0]?.delta.content ?? '';
      },
    };
  },
  async langchain() {
    const { ChatOpenAI } = await import('@langchain/openai');
    const { apiKey, ...configuration } = connection;
    const model = new ChatOpenAI({ model: name, apiKey, maxRetries: 0, configuration });
    return {
      call: async () => (await model.invoke(question)).content,
      async *stream() {
        for await (const { content } of await model.stream(question)) yield content;
      },
    };
  },
  async 'ai-sdk'() {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const { generateText, streamText } = await import('ai');
    const asked = {
      model: createOpenAICompatible({ name: 'gateway', ...connection })(name),
      prompt: question,
      maxRetries: 0,
    };
    return {
      call: async () => (await generateText(asked)).text,
      async *stream() {
        for await (const { type, text, error } of streamText({ ...asked, onError() {} }).fullStream) {
          if (type === 'text-delta') yield text;
          if (type === 'error') throw new Error(error.message ?? error); // the first versions give its message alone
        }
      },
    };
  },
};

const { call, stream } = await CLIENTS[process.argv[2]]();
let text = '';
const read = async () => {
  text = '';
  for await (const piece of stream()) text += piece;
};

assert.match(await call(), /PostgreSQL/);
await read();
assert.match(text, /PostgreSQL/);
fault = 'reset-after';
for (const lost of [call, read]) await assert.rejects(lost, /No usable response/);
fault = 'cut=3';
await assert.rejects(read, /The stream ended before/);
assert.deepStrictEqual([text, posts.length], ['We keep', 5]);
await gateway.close();
