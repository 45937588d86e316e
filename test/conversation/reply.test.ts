import { memoryStore, type ReplyStream } from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { chatWorld, gate } from './world.js';

const STORY = 'Once upon a time there was a lighthouse. '.repeat(20).trim();

/** A conversation whose model tells the story. */
function storyWorld() {
  const world = chatWorld();
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
  await world.open({ store }).record('And then?', { id: 'of-the-app', text: 'Then it was white.' });

  const ids = (await store.load('talk'))?.messages.map((message) => message.id);
  expect(ids).toEqual([messages[0]?.id, id, expect.any(String), 'of-the-app']);
  expect(() => world.open({ store }).record('And?', { id: 5, text: 'No.' } as never)).toThrow(/reply\.id: must be/);
});
