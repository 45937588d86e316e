import { memoryStore, type ReplyStream } from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { chatWorld, gate, withoutWaits } from './world.js';

const STORY = 'Once upon a time there was a lighthouse. '.repeat(20).trim();

/** A conversation whose model tells the story. */
function storyWorld() {
  const world = chatWorld({ runtime: withoutWaits });
  world.emulator.chat.on('story', STORY);
  return world;
}

async function all(reply: ReplyStream): Promise<string> {
  let text = '';
  for await (const piece of reply) text += piece;
  return text;
}

async function leaveAtOnce(reply: ReplyStream): Promise<void> {
  for await (const _ of reply) break;
}

test('several loops read a reply, each from its start, and one request is sent', async () => {
  const world = storyWorld();
  const reply = world.open().stream('Tell me a story.');

  const early = [all(reply), all(reply)];
  const [first] = await Promise.all(early);
  const late = await all(reply);

  expect([first, await early[1], late]).toEqual([STORY, STORY, STORY]);
  expect(world.count('chat')).toBe(1);
});

test('a reply goes on while one loop reads, and is stopped when the last one is left', async () => {
  const world = storyWorld();
  const read = world.open().stream('Tell me a story.');
  const whole = all(read);
  await leaveAtOnce(read);
  expect(await whole).toBe(STORY);
  expect(await read.final()).toMatchObject({ stopped: false });

  const left = world.open().stream('Tell me a story.');
  const other = left[Symbol.asyncIterator]();
  await other.next();
  await leaveAtOnce(left);
  const ended = { done: true, value: undefined };
  expect([await other.return?.(), await other.return?.()]).toEqual([ended, ended]);

  expect(await left.final()).toMatchObject({ stopped: true });
  expect(await other.next()).toEqual(ended);
});

test('a reply in the background is stopped by its signal', async () => {
  const world = storyWorld();
  const stop = new AbortController();
  const stopped = world.open().stream('Tell me a story.', { background: true, signal: stop.signal });
  const reading = failureOf(all(stopped));
  await leaveAtOnce(stopped);
  stop.abort();

  expect(await stopped.final()).toMatchObject({ stopped: true });
  expect(await reading).toMatchObject({ name: 'AbortError' });
});

test('a reply in the background is complete without a reader, once it has begun', async () => {
  const world = storyWorld();
  const answered = gate();
  world.onRequest(() => answered.passed);
  const reply = world.open().stream('Tell me a story.', { background: true });

  const loop = reply[Symbol.asyncIterator](); // of a page that leaves before the first word
  void loop.return?.();
  void loop.next();
  answered.open();

  await expect.poll(() => world.stored()).toMatchObject([{ role: 'user' }, { content: STORY }]);
});

test('a reply is stored with the id that it has from the start', async () => {
  const world = storyWorld();
  const store = memoryStore();
  const reply = world.open({ store }).stream('Tell me a story.');
  const { id } = reply;

  const { messages } = await reply.final();
  const turn = await world.open({ store }).prepare('And then?');
  await turn.finish('Then it was white.');

  const ids = (await store.load('talk'))?.messages.map((message) => message.id);
  expect(ids).toEqual([messages[0]?.id, id, expect.any(String), turn.replyId]);
});

/** A store that fails from the second append on: that of the reply. */
function fullDisk() {
  const store = memoryStore();
  let appends = 0;
  const append: typeof store.append = (...turn) => {
    appends += 1;
    if (appends > 1) throw new Error('The disk is full.');
    return store.append(...turn);
  };
  return { ...store, append };
}

test('onError hears once of a reply in the background that cannot be stored when its page has gone', async () => {
  const world = storyWorld();
  const reply = world.open({ context: undefined, store: fullDisk() }).stream('Tell me a story.', { background: true });
  const ended = reply.final().catch(() => {}); // of an app that wants to know when it ends

  await leaveAtOnce(reply);
  await ended;

  expect(world.errors).toMatchObject([{ name: 'ConversationStoreError', turn: { text: STORY } }]);
});

test('onError hears of a connection that breaks while nobody reads, and the text so far is stored', async () => {
  const world = storyWorld();
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const choices = [{ index: 0, delta: { content: 'Once upon' }, finish_reason: null }];
  const broken = gate();
  world.onRequest(({ url }) => {
    if (!url.includes('/v1/chat')) return undefined;
    const body = new ReadableStream({
      start: async (controller) => {
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`));
        await broken.passed;
        controller.error(new Error('The connection broke.'));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  const reply = world.open({ context: undefined }).stream('Tell me a story.', { background: true });

  await leaveAtOnce(reply);
  broken.open();

  await expect.poll(() => world.errors).toHaveLength(1);
  expect(await world.stored()).toMatchObject([{ role: 'user' }, { content: 'Once upon', stopped: true }]);
});

test('onError hears nothing of a reply whose reader gets the error, nor of one that was stopped', async () => {
  const world = storyWorld();
  const open = () => world.open({ context: undefined, store: fullDisk() });

  expect(await failureOf(open().send('Tell me a story.'))).toMatchObject({ name: 'ConversationStoreError' });
  expect(await failureOf(all(open().stream('Tell me a story.')))).toMatchObject({ name: 'ConversationStoreError' });
  await leaveAtOnce(world.open({ context: undefined }).stream('Tell me a story.'));

  expect(world.errors).toEqual([]);
});
