import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { createEmulator } from 'context-gateway-emulator';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
// They load without variables, as `next build` does.
import { POST as chat } from '../../examples/use-chat/app/api/chat/route.js';
import { GET as resume, DELETE as stop } from '../../examples/use-chat/app/api/replies/[id]/route.js';
import { POST as tools } from '../../examples/use-chat/app/api/tools/route.js';
import { store } from '../../examples/use-chat/app/database.js';
import { asMessage, earlier } from '../../examples/use-chat/app/store.js';

const emulator = createEmulator({ seed: 'use-chat' });
/** The id of the conversation, new for each test. */
let talk = '';
beforeAll(async () => {
  const { url } = await emulator.listen({ port: 0 });
  vi.stubEnv('CONTEXT_GATEWAY_BASE_URL', url);
  vi.stubEnv('CONTEXT_GATEWAY_API_KEY', emulator.apiKeys.secret);
});
beforeEach(() => {
  emulator.reset();
  talk = crypto.randomUUID();
  vi.spyOn(console, 'error').mockImplementation(() => {}); // the log of the app
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await emulator.close();
});

const of = (role: 'user' | 'assistant', text: string, id: string): UIMessage => ({
  id,
  role,
  parts: [{ type: 'text', text }],
});

const path = '/v1/chat/completions';
const textsOf = (messages: UIMessage[]) => messages.map((message) => `${message.role}: ${asMessage(message).content}`);

/** A chat of the page, as `useChat` has it. */
const transportOf = (fetch: (request: Request) => Promise<Response>) =>
  new DefaultChatTransport({
    api: 'https://app.test/api/chat',
    fetch: (url, init) => fetch(new Request(url, init as RequestInit)),
  });

/** Reads a reply, and calls `show` with each of its states. */
async function read(stream: ReadableStream<UIMessageChunk>, show = (_: UIMessage): void => {}) {
  const errors: Error[] = [];
  let message: UIMessage | undefined;
  for await (const one of readUIMessageStream({ stream, onError: (error) => errors.push(error as Error) })) {
    message = one;
    show(one);
  }
  return { message, errors };
}

/** What `useChat` does with the messages of a page. */
async function send(route: typeof chat, messages: UIMessage[], show?: (reply: UIMessage) => void) {
  const stream = await transportOf(route).sendMessages({
    ...{ trigger: 'submit-message', chatId: talk, messageId: undefined, abortSignal: undefined, messages },
  });
  return read(stream, show);
}

/** What `useChat` has of the reply when its page comes back. */
async function resumed(show?: (reply: UIMessage) => void): Promise<UIMessage | undefined> {
  const transport = transportOf((request) => resume(request, { params: Promise.resolve({ id: talk }) }));
  const stream = await transport.reconnectToStream({ chatId: talk });
  return stream ? (await read(stream, show)).message : undefined;
}

test('the model searches what was said long ago', async () => {
  emulator.chat.on('pier', 'A red one, see the message of the first day.');
  emulator.chat.on('pier', {
    tool_calls: [{ function: { name: 'searchConversation', arguments: { query: 'pier lamp' } } }],
  });
  const messages = [
    of('user', 'The pier gets a red lamp.', 'lamp'),
    ...Array.from({ length: 200 }, (_, n) =>
      of(n % 2 ? 'user' : 'assistant', `Remark ${n} on the grey weather.`, `r${n}`),
    ),
    of('user', 'Which lamp does the pier get?', 'question'),
  ];
  store.append(
    talk,
    messages.slice(0, -1).map((one) => ({ ...asMessage(one), createdAt: '2026-01-15T10:00:00Z' })),
    { edits: 0 },
  );

  const { message, errors } = await send(tools, messages);

  expect(errors).toEqual([]);
  const tool = message?.parts.find(({ type }) => type === 'tool-searchConversation');
  const found = { id: 'lamp', role: 'user', text: 'The pier gets a red lamp.' };
  expect(tool).toMatchObject({ output: expect.arrayContaining([expect.objectContaining(found)]) });
  expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: 'A red one, see the message of the first day.' });
  expect((emulator.requests.at(-1)?.body ?? '').length).toBeLessThan(16_000); // 200 remarks did not all fit
});

test('a question that failed is asked again, one that was answered gets another reply, and a 429 has its wait', async () => {
  const question = [of('user', 'When does the harbour open?', '1')];
  emulator.faults.add({ match: { path }, respond: { status: 500 } });
  emulator.chat.on('harbour', 'At six.');

  const failed = await send(chat, question);
  const replies = [await send(chat, question), await send(chat, question)];
  emulator.faults.add({ match: { path }, respond: { status: 429, message: 'Slow down.', retryAfter: 7 } });
  const limited = await send(chat, question);

  const dataOf = ({ errors }: typeof failed) => JSON.parse((errors[0] as Error).message);
  expect(dataOf(failed)).toMatchObject({ status: 500 });
  for (const { message } of replies) expect(message?.parts).toMatchObject([{ type: 'text', text: 'At six.' }]);
  for (const { body = '' } of emulator.requests) expect(JSON.parse(body).messages).toHaveLength(1);
  expect(dataOf(limited)).toMatchObject({ status: 429, message: 'Slow down.', retryAfter: 7_000 });
});

test.each([chat, tools])(
  'another reply to a question that is not the last one any more, because of another tab, replaces nothing (%#)',
  async (route) => {
    emulator.chat.on('harbour', 'At six.');
    const harbour = [of('user', 'When does the harbour open?', 'harbour')];
    await send(route, harbour);
    await send(route, [of('user', 'Which lamp does the pier get?', 'lamp')]);

    const { message } = await send(route, harbour);

    expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: 'At six.' });
    const stored = (await earlier(talk)).messages;
    expect(stored.map((one) => (one.role === 'user' ? asMessage(one).content : one.role))).toEqual([
      'When does the harbour open?',
      'assistant',
      'Which lamp does the pier get?',
      'assistant',
      'assistant',
    ]);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(5);
  },
);

test.each([chat, tools])('a question without a reply is sent with the next one (%#)', async (route) => {
  const [harbour, pier] = [of('user', 'When does the harbour open?', '1'), of('user', 'And the pier?', '2')];
  emulator.faults.add({ match: { path }, respond: { status: 400 } });

  await send(route, [harbour]);
  await send(route, [harbour, pier]);

  const sent = JSON.parse(emulator.requests.at(-1)?.body ?? '').messages;
  expect(sent).toMatchObject([{ content: 'When does the harbour open?' }, { content: 'And the pier?' }]);
  expect(textsOf((await earlier(talk)).messages).slice(0, 2)).toEqual([
    'user: When does the harbour open?',
    'user: And the pier?',
  ]);
});

/** Asks for a story, whose reply stalls after its first words. */
function askForStory(route: typeof chat) {
  emulator.chat.on('story', 'Once upon a time there was a lighthouse.');
  emulator.faults.add({ match: { path }, respond: { type: 'cutStream', afterEvents: 4, how: 'stall' } });
  return (show: (reply: UIMessage) => void) => send(route, [of('user', 'Tell me a story.', '1')], show);
}

/** Begins to read a reply, and waits until its page shows the first words. */
async function untilShown<Result>(read: (show: (reply: UIMessage) => void) => Promise<Result>) {
  let shown = '';
  const ended = read((reply) => {
    shown = asMessage(reply).content;
  });
  await expect.poll(() => shown, { timeout: 20_000 }).toContain('Once');
  return { ended };
}

const stopReply = () =>
  stop(new Request('https://app.test', { method: 'DELETE' }), { params: Promise.resolve({ id: talk }) });

test.each([chat, tools])('a second tab is refused while a reply is written (%#)', async (route) => {
  const first = await untilShown(askForStory(route));

  const second = send(route, [of('user', 'When does the harbour open?', '2')]);

  await expect(second).rejects.toThrow('perhaps in another tab');
  await stopReply();
  await first.ended;
  const stored = textsOf((await earlier(talk)).messages);
  expect(stored).toEqual(['user: Tell me a story.', expect.stringMatching(/^assistant: Once/)]);
});

test.each([chat, tools])('files are left out of the stored text (%#)', async (route) => {
  const file = { type: 'file' as const, mediaType: 'text/csv', url: 'data:text/csv,a' };
  const texts = ['How many ships', 'are there?'].map((text) => ({ type: 'text' as const, text }));
  await send(route, [{ id: '1', role: 'user', parts: route === chat ? [file, ...texts] : texts }]);

  expect((await earlier(talk)).messages.at(0)?.parts).toEqual([{ type: 'text', text: 'How many ships\nare there?' }]);
});

test.each([chat, tools])('a request that no page sends is refused (%#)', async (route) => {
  for (const body of ['{"id":"1","messages":[]}', '{}', 'hello'])
    expect((await route(new Request('https://app.test', { method: 'POST', body }))).status).toBe(400);
});

test('with tools, replies are stored, and one generated again replaces the older one', async () => {
  const question = of('user', 'When does the harbour open?', '1');
  emulator.chat.on('harbour', 'At six.');
  await send(tools, [question]);
  emulator.chat.on('harbour', 'At seven.');
  await send(tools, [question]);

  expect(textsOf((await earlier(talk)).messages)).toEqual([
    'user: When does the harbour open?',
    'assistant: At seven.',
  ]);
});

test.each([chat, tools])(
  'a page that comes back has the reply from its start, also after its end, when it is stored as stopped (%#)',
  async (route) => {
    expect(await resumed()).toBeUndefined();
    const left = await untilShown(askForStory(route)); // reads on, as a second tab

    const during = await untilShown(resumed);
    expect(await earlier(talk)).toMatchObject({ messages: [{ id: '1' }], resume: true });
    await stopReply();
    const message = await during.ended;

    expect(await left.ended).toMatchObject({ errors: [] });
    expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: expect.stringMatching(/^Once/) });
    expect(await resumed()).toMatchObject({ id: message?.id });
    expect(await earlier(talk)).toMatchObject({ messages: [{ id: '1' }, { id: message?.id }], resume: false });
    const stopped = { content: expect.stringMatching(/^Once/), stopped: true };
    expect(store.load(talk)).toMatchObject({ messages: [{}, stopped] });
  },
);

test('the sources of a reply are the same after a reload', async () => {
  emulator.chat.on('lamp', 'A red one.');
  const remarks = Array.from({ length: 4_000 }, (_, n) => ({
    role: n % 2 ? 'assistant' : 'user',
    content: `Remark ${n} on the weather at sea.`,
  }));
  const messages = [{ role: 'user', content: 'The pier gets a red lamp.', id: 'lamp' }, ...remarks];
  const dated = messages.map((one, n) => ({ id: `r${n}`, createdAt: '2026-01-15T10:00:00Z', ...one }));
  store.append(talk, dated, { edits: 0 });

  const { message } = await send(chat, [of('user', 'Which lamp does the pier get?', 'question')]);
  const stored = (await earlier(talk)).messages.at(-1);

  const source = expect.objectContaining({ id: 'lamp', role: 'user', match: 'words' });
  for (const one of [message, stored])
    expect(one?.parts[0]).toMatchObject({ type: 'data-recalled', data: expect.arrayContaining([source]) });
});
