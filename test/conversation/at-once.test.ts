import { type ConversationStore, memoryStore } from 'context-gateway/conversation';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, chatWorld, textsIn, user } from './world.js';

const question = [user('When does the harbour open?', 'q')];

/** Conversations over one store, as a server has them that makes an object for each request. */
function requests(store: ConversationStore) {
  const world = chatWorld();
  return { ...world, open: () => world.open({ context: undefined, store }) };
}

test.each([1, 3])('a question that is sent three times at once is asked once, with %i objects', async (objects) => {
  const store = memoryStore();
  const { open, prompts } = requests(store);
  const talks = Array.from({ length: objects }, open);

  const turns = await Promise.all([0, 1, 2].map((at) => talks[at % objects]?.send(question)));

  expect(prompts).toHaveLength(1);
  expect(await textsIn(store)).toEqual([question[0]?.content, turns[0]?.text]);
  expect(turns[1]).toEqual(turns[0]);
  expect(turns[2]).toEqual(turns[0]);
});

test('a question that is streamed twice at once gives both pages the reply, and its report', async () => {
  const store = memoryStore();
  const { open, prompts } = requests(store);
  const replies = [open().stream(question), open().stream(question)];

  const [one = '', two] = await Promise.all(
    replies.map(async (reply) => {
      let text = '';
      for await (const piece of reply) text += piece;
      return text;
    }),
  );

  expect(one).not.toBe('');
  expect(two).toBe(one);
  expect(replies[1]?.report).toBe(replies[0]?.report);
  expect(prompts).toHaveLength(1);
});

test('a page that mounts twice, and aborts its first request, gets a reply to the second', async () => {
  const store = memoryStore();
  const { open, prompts, hold } = requests(store);
  const slow = hold('/completions');
  const unmount = new AbortController();
  const first = failureOf(open().send(question, { signal: unmount.signal }));
  await vi.waitFor(() => expect(prompts).toHaveLength(1), { timeout: 30_000 });
  const second = open().send(question);

  unmount.abort();
  slow.open();

  expect(await first).toMatchObject({ name: 'AbortError' });
  const { text } = await second;
  expect(await textsIn(store)).toEqual([question[0]?.content, text]);
});

test('a reply that was stopped is not the reply to the same question', async () => {
  const store = memoryStore();
  const { open, emulator } = requests(store);
  emulator.chat.on('harbour', 'It opens at six in the morning.');
  const stopped = open().stream(question);
  const texts = stopped[Symbol.asyncIterator]();
  await texts.next();
  const second = open().send(question);

  await texts.return?.();

  expect(await stopped.final()).toMatchObject({ stopped: true });
  expect((await second).text).toBe('It opens at six in the morning.');
  expect(await textsIn(store)).toEqual([question[0]?.content, 'It opens at six in the morning.']);
});

test.each([
  { how: 'aborted', options: () => ({ signal: AbortSignal.abort() }) },
  { how: 'late', options: () => ({ deadline: 1 }) },
])('a question is asked once, although a second request for it was $how', async ({ options }) => {
  const store = memoryStore();
  const { open, prompts, hold } = requests(store);
  const slow = hold('/completions');
  const first = open().send(question);
  await vi.waitFor(() => expect(prompts).toHaveLength(1), { timeout: 30_000 });
  await failureOf(open().send(question, options()));
  const third = open().send(question);

  slow.open();

  expect(await third).toEqual(await first);
  expect(prompts).toHaveLength(1);
});

test('a question that an edit replaced while its second request waited is a conflict', async () => {
  const store = memoryStore();
  const { open, prompts } = requests(store);

  const ends = await Promise.allSettled([
    open().send(question),
    open().edit('q', 'Or the pier?').final(),
    open().send(question),
  ]);

  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(ends[2]).toMatchObject({ reason: { name: 'ConversationConflictError' } });
  expect(prompts).toHaveLength(2);
});

test('two inputs at once that only end with the same question are two turns', async () => {
  const store = memoryStore();
  const { open } = requests(store);

  await Promise.all([open().send(question), open().send([user('A note.', 'n'), ...question])]);

  expect(await textsIn(store)).toContain('A note.');
});

test('a question whose first request fails is asked again by the second', async () => {
  const store = memoryStore();
  const { open, emulator, prompts } = requests(store);
  emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 500 }, times: 1 });

  const ends = await Promise.allSettled([open().send(question), open().send(question)]);

  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(prompts).toHaveLength(2);
  expect(await textsIn(store)).toHaveLength(2);
});

test('turns of objects over one store run in order, whatever they ask', async () => {
  const store = memoryStore();
  const { open } = requests(store);

  const turns = await Promise.all([
    open().send('One?'),
    open().send('Two?'),
    open().add([user('Three?'), assistant('Three.')]),
  ]);

  const [one, two] = turns;
  expect(await textsIn(store)).toEqual(['One?', one?.text, 'Two?', two?.text, 'Three?', 'Three.']);
});

test('two conversations of one store do not wait for each other', async () => {
  const store = memoryStore();
  const world = chatWorld();
  const open = (conversationId: string) => world.open({ context: undefined, store, conversationId });
  const slow = world.hold('/completions');
  const first = open('one').send('One?');
  await vi.waitFor(() => expect(world.prompts).toHaveLength(1), { timeout: 30_000 });
  world.onRequest(() => undefined);

  await open('two').send('Two?');
  slow.open();
  await first;

  expect(await textsIn(store, 'two')).toHaveLength(2);
});

test('in workerd, where no request may wait for another, a question that has no reply yet is asked again, and one reply counts', async () => {
  vi.stubGlobal('WebSocketPair', class {});
  onTestFinished(() => void vi.unstubAllGlobals());
  const store = memoryStore();
  const { open, prompts, hold } = requests(store);
  const slow = hold('/completions');
  const turns = [open().send(question)];
  await vi.waitFor(() => expect(prompts).toHaveLength(1), { timeout: 30_000 });
  turns.push(open().send(question));
  await vi.waitFor(() => expect(prompts).toHaveLength(2), { timeout: 30_000 });

  slow.open();
  await Promise.all(turns);

  const [, ...replies] = await open().messages();
  expect(replies.map(({ excluded = false }) => excluded)).toEqual([true, false]);
});

test('messages that are added again after others are stored once', async () => {
  const store = memoryStore();
  const { open } = requests(store);
  const turn = await open().add([user('Where is the pier?'), assistant('In Oslo.')]);
  await open().send('Another question?');
  const before = await textsIn(store);

  await Promise.all([open().add(turn), open().add(turn)]);

  expect(await textsIn(store)).toEqual(before);
});
