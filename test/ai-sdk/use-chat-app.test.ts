import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { createEmulator } from 'context-gateway-emulator';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
// They load without variables, as `next build` does. `npm run compat` tests the page.
import { POST as chat } from '../../examples/apps/use-chat/app/api/chat/route.js';
import { POST as tools } from '../../examples/apps/use-chat/app/api/tools/route.js';
import { store } from '../../examples/apps/use-chat/app/store.js';

const emulator = createEmulator({ seed: 'use-chat' });
beforeAll(async () => {
  const { url } = await emulator.listen({ port: 0 });
  vi.stubEnv('CONTEXT_GATEWAY_BASE_URL', url);
  vi.stubEnv('CONTEXT_GATEWAY_API_KEY', emulator.apiKeys.secret);
});
beforeEach(() => {
  emulator.reset();
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

/** What `useChat` does with the messages of a page. */
async function send(
  route: typeof chat,
  messages: UIMessage[],
): Promise<{ message: UIMessage | undefined; errors: Error[] }> {
  const transport = new DefaultChatTransport({
    api: 'https://app.test/api/chat',
    fetch: (url, init) => route(new Request(url, init as RequestInit)),
  });
  const stream = await transport.sendMessages({
    ...{ trigger: 'submit-message', chatId: 'talk', messageId: undefined, abortSignal: undefined, messages },
  });
  const errors: Error[] = [];
  let message: UIMessage | undefined;
  for await (const one of readUIMessageStream({ stream, onError: (error) => errors.push(error as Error) }))
    message = one;
  return { message, errors };
}

test('the model searches what the page sent long ago', async () => {
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

  const { message, errors } = await send(tools, messages);

  expect(errors).toEqual([]);
  const tool = message?.parts.find(({ type }) => type === 'tool-searchConversation');
  expect(tool).toMatchObject({ output: [{ id: 'lamp', role: 'user', text: 'The pier gets a red lamp.' }] });
  expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: 'A red one, see the message of the first day.' });
  expect((emulator.requests.at(-1)?.body ?? '').length).toBeLessThan(16_000); // 200 remarks did not all fit
});

test('a question that failed is asked again, one that was answered gets another reply, and a 429 has its wait', async () => {
  const path = '/v1/chat/completions';
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

test('another reply to a question that is not the last one any more, because of another tab, replaces nothing', async () => {
  emulator.chat.on('harbour', 'At six.');
  const harbour = [of('user', 'When does the harbour open?', 'harbour')];
  await send(chat, harbour);
  await send(chat, [of('user', 'Which lamp does the pier get?', 'lamp')]);

  const { message } = await send(chat, harbour);

  expect(message?.parts).toMatchObject([{ type: 'text', text: 'At six.' }]);
  expect((await store.load('talk'))?.messages.map(({ id, role }) => (role === 'user' ? id : role)).slice(-6)).toEqual([
    ...['harbour', 'assistant', 'lamp', 'assistant', 'harbour', 'assistant'],
  ]);
});
