import { documented, GatewayClient, ResponseValidationError } from 'context-gateway';
import { expect, test } from 'vitest';
import { readAll } from './bench.js';
import { PARAMS, watchProcess } from './measure.js';
import { RHINE } from './script.js';

watchProcess();

const chunk = { choices: [{ index: 0, delta: { content: 'a' } }] };

test.each<{ name: string; decodeChunk: () => unknown }>([
  { name: 'that succeeds', decodeChunk: async () => chunk },
  {
    name: 'that throws',
    decodeChunk: async () => {
      throw new Error('mine');
    },
  },
  // biome-ignore lint/suspicious/noThenProperty: that is the case
  { name: 'that returns a thenable', decodeChunk: () => ({ ...chunk, then: () => {} }) },
])(
  'an async decodeChunk $name fails the stream but not the process, and the error names decodeChunk',
  async (given) => {
    const fetch = async () => new Response(RHINE, { headers: { 'content-type': 'text/event-stream' } });
    const decodeChunk = given.decodeChunk as () => undefined;
    const gateway = new GatewayClient({
      baseURL: 'https://service.test',
      apiKey: 'svc_sk_test',
      fetch,
      completions: { ...documented, decodeChunk },
    });

    const { error, chunks } = await readAll(await gateway.chat.completions.create(PARAMS));
    await new Promise((resolve) => setTimeout(resolve, 0));

    expect(error).toBeInstanceOf(ResponseValidationError);
    expect((error as Error).message).toMatch(/decodeChunk must not be async/);
    expect(chunks).toEqual([]);
  },
);

test.each([{ thrown: new Error('mine') }, { thrown: 'a string' }, { thrown: null }])(
  'a chunk from decodeChunk whose field throws $thrown fails the stream',
  async ({ thrown }) => {
    const fetch = async () => new Response(RHINE, { headers: { 'content-type': 'text/event-stream' } });
    const decodeChunk = () => ({
      get choices(): never {
        throw thrown;
      },
    });
    const gateway = new GatewayClient({
      baseURL: 'https://service.test',
      apiKey: 'svc_sk_test',
      fetch,
      completions: { ...documented, decodeChunk },
    });

    const { error } = await readAll(await gateway.chat.completions.create(PARAMS));

    expect(error).toBeInstanceOf(ResponseValidationError);
    expect((error as Error).cause).toBe(thrown);
  },
);
