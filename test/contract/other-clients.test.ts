import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { GatewayClient, StreamTruncatedError } from 'context-gateway';
import { createConversation, memoryStore } from 'context-gateway/conversation';
import { createEmulator, type EmulatorOptions } from 'context-gateway-emulator';
import OpenAI from 'openai';
import { expect, onTestFinished, test, vi } from 'vitest';
import { settled } from '../helpers/manual-runtime.js';

const MODEL = 'atlas-small';
const params = { model: MODEL, messages: [{ role: 'user' as const, content: 'The key is red. What is red?' }] };
const MINUTE = 60_000;

const readme = readFileSync('README.md', 'utf8');
/** The table of the README: what happens, then the cells of `openai` and of `context-gateway`. */
const table = new Map(
  [...readme.matchAll(/^\| \[(.+)\]\[measured\] \| (.+) \| (.+) \|$/gm)].map(([, title, ...cells]) => [title, cells]),
);

/** A test for a row of the table. What it measures, with `openai` and with `context-gateway`, are its cells. */
const row = (title: string, measure: () => Promise<[openai: string, ours: string]>) =>
  test(title, async () => expect(table.get(title)).toEqual(await measure()));

row('The response to a POST is lost', async () => {
  const { emulator, clients } = await start();
  const tokens = (await complete(clients.ours)).usage?.total_tokens ?? expect.fail('no usage');
  const used = async () => (await clients.ours.usage.retrieve()).tokens_used;
  const loseOne = async (client: Client) => {
    emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { type: 'reset', when: 'after' } });
    const before = await used();
    const { error } = await outcomeOf(complete(client));
    return { error, billed: ((await used()) - before) / tokens };
  };

  const theirs = await loseOne(clients.openai);
  const ours = await loseOne(clients.ours);

  return [
    `${theirs.billed} completions billed for one call, ${theirs.error === undefined ? 'no error' : 'an error'}`,
    `${ours.billed} billed, and an error with \`sent: '${ours.error?.sent}'\``,
  ];
});

row('A stream ends in the middle of a reply', async () => {
  const { emulator, clients } = await start();
  const respond = { type: 'cutStream', afterEvents: 3, how: 'end' } as const;
  emulator.faults.add({ match: { path: '/v1/chat/*' }, times: Number.POSITIVE_INFINITY, respond });
  const read = async (client: Client, into: string[]) => {
    for await (const { choices } of await both(client).chat.completions.create({ ...params, stream: true }))
      into.push(choices[0]?.delta.content ?? '');
  };

  const texts = { theirs: [] as string[], ours: [] as string[] };
  const theirs = await outcomeOf(read(clients.openai, texts.theirs));
  const theirHelper = await outcomeOf(clients.openai.chat.completions.stream(params).finalContent());
  const ours = await outcomeOf(read(clients.ours, texts.ours));

  expect([texts.theirs.join(''), texts.ours.join('')]).toEqual(['The key', 'The key']);
  const { name, partial } = ours.error instanceof StreamTruncatedError ? ours.error : expect.fail('it looks complete');
  const hasText = partial?.choices[0]?.message.content === 'The key';
  return [
    `${theirs.error === undefined ? 'no error' : 'an error'} (${theirHelper.error && 'one'} from \`.stream()\`)`,
    `\`${name}\`, with${hasText ? '' : 'out'} the text so far`,
  ];
});

row('One call, then 19 at once, at 10 per minute', async () => {
  const burst = async (create: (options: { apiKey: string; fetch: typeof fetch }) => Client) => {
    // The first call comes when a minute begins.
    vi.useFakeTimers({ now: 30_000_000 * MINUTE, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const emulator = emulate({ limits: { gateway: 10 } });
    const since = emulator.clock.now();
    const client = create({ apiKey: emulator.apiKeys.secret, fetch: emulator.fetch });
    await complete(client);

    const call = async () => ({ ...(await outcomeOf(complete(client))), took: emulator.clock.now() - since });
    const calls = Promise.all(Array.from({ length: 19 }, call));
    for (const isOver = settling(calls); !isOver(); await vi.advanceTimersByTimeAsync(500)) await settled();

    const outcomes = await calls;
    const rejections = emulator.requests.filter(({ status }) => status === 429);
    return {
      failed: outcomes.filter(({ error }) => error !== undefined).length || 'none',
      later: outcomes.filter(({ error, took }) => error === undefined && took >= MINUTE).length,
      rejections: rejections.length || 'no',
      rejection: outcomes.map(({ error }) => error).find((error) => error instanceof OpenAI.RateLimitError),
    };
  };

  const theirs = await burst((options) => new OpenAI({ baseURL: 'https://emulator.test/v1', ...options }));
  const ours = await burst((options) => new GatewayClient({ baseURL: 'https://emulator.test', ...options }));

  // What the README says of a 429.
  expect(theirs.rejection?.error).toMatchObject({ retry_after: expect.any(Number) });
  expect(theirs.rejection?.headers.has('retry-after')).toBe(false);

  return [
    `${theirs.failed} fail, after ${theirs.rejections} responses 429`,
    `${ours.later} wait for the next minute, ${ours.failed} fails, ${ours.rejections} 429`,
  ];
});

row('A question about the first of 10,000 messages', async () => {
  const { clients } = await start();
  const said = Array.from({ length: 10_000 }, (_, i) => ({
    role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content:
      i === 0
        ? 'The pier gets a red lamp.'
        : `On day ${i}, a boat left the pier ${i % 24} minutes late, and a ferry took its place with ${i} crates of fish.`,
  }));
  const question = { role: 'user' as const, content: 'Which lamp does the pier get?' };
  const ask = async (messages: typeof said) =>
    (await clients.openai.chat.completions.create({ model: MODEL, messages })).choices[0]?.message.content;

  const all = await outcomeOf(ask([...said, question]));
  const newest = await ask([...said.slice(-500), question]);
  const store = memoryStore({ pier: said });
  const ours = createConversation({ gateway: clients.ours, model: MODEL, conversationId: 'pier', store });
  const { text, usage } = await ours.send(question.content);

  const verdict = (reply: typeof newest) => (reply === said[0]?.content ? 'answered' : 'no answer');
  return [
    `all: ${all.error?.status}. The newest 500: ${verdict(newest)}`,
    `${verdict(text)}, from a prompt of under ${Math.ceil(usage.prompt_tokens / 1000)},000 tokens`,
  ];
});

row('`console.log(client)`', async () => {
  const { emulator, clients } = await start();
  const printed = (client: Client) =>
    inspect(client).includes(emulator.apiKeys.secret) ? 'prints the API key' : 'prints no key';

  return [printed(clients.openai), printed(clients.ours)];
});

test('the table has no other rows, and names the version of `openai`', () => {
  const { version } = JSON.parse(readFileSync('node_modules/openai/package.json', 'utf8'));

  expect(table.size).toBe(5);
  expect(readme).toContain(`\`openai\` ${version} and`);
  expect(readme).toMatch(/^\[measured\]: .*\/blob\/main\/test\/contract\/other-clients\.test\.ts$/m);
});

type Client = OpenAI | GatewayClient;

/** The methods that these tests call have the same form in both. */
const both = (client: Client) => client as OpenAI;

const complete = (client: Client) => both(client).chat.completions.create(params);

function emulate(options: EmulatorOptions = {}) {
  const emulator = createEmulator({ seed: 'other clients', ...options });
  onTestFinished(() => emulator.close());
  return emulator;
}

/** An emulator on a port, and clients with their default options. */
async function start() {
  const emulator = emulate();
  const { url } = await emulator.listen({ port: 0 });
  const apiKey = emulator.apiKeys.secret;
  const ours = new GatewayClient({ baseURL: url, apiKey });
  onTestFinished(() => ours.close());
  return { emulator, clients: { openai: new OpenAI({ baseURL: `${url}/v1`, apiKey }), ours } };
}

type Failure = Error & { sent?: string; status?: number };

async function outcomeOf(call: PromiseLike<unknown>): Promise<{ error?: Failure }> {
  try {
    await call;
    return {};
  } catch (error) {
    return { error: error as Failure };
  }
}

/** Whether the promise has settled, so far. */
function settling(promise: Promise<unknown>): () => boolean {
  let isSettled = false;
  void promise.then(() => {
    isSettled = true;
  });
  return () => isSettled;
}
