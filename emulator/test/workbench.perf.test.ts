import { expect, test } from 'vitest';
import { callsTo, dataDirectory, testEmulator } from './support.js';
import { threadTime, turnsOfTheLoop } from './thread-time.js';

test('a search finds any word of any message among 2,000 conversations and 100,000 messages, without a stall', async () => {
  const emulator = testEmulator();
  for (let i = 0; i < 2000; i += 1) {
    const messages = Array.from({ length: 50 }, (_, j) => ({
      role: 'user' as const,
      content: `Message ${j} of ${i}: the crew of the boat told us all morning about the storm and the old harbour.`,
    }));
    emulator.conversations.create({ id: `conv_${i}`, messages });
  }
  emulator.conversations.append('conv_7', [{ id: 'm', role: 'assistant', content: 'The Walrus is on the quay.' }]);
  const turns = turnsOfTheLoop();

  const find = async (query: string) => (await callsTo(emulator).control('GET', `/search/conversations?${query}`)).body;
  const { total, all, conversations } = await find('q=quay%20walrus');

  expect([total, all]).toEqual([1, 2000]);
  expect(conversations[0]).toMatchObject({ id: 'conv_7', messages: 51, match: { messageId: 'm', text: /Walrus/ } });
  const page = await find('offset=1950&limit=100');
  expect([page.conversations.length, page.conversations.at(-1).id, page.next]).toEqual([50, 'conv_0', undefined]);
  expect((await find('limit=500')).next).toBe(500);
  expect(turns().longest).toBeLessThan(mostOf(250));
});

test.each([
  { what: 'with a conversation', path: '/_emulator/conversations', head: { id: 'big' }, data: undefined },
  { what: 'in a conversation', path: '/_emulator/conversations/known/messages', head: {}, data: undefined },
  { what: 'in a file', path: '/_emulator/conversations', head: { id: 'big' }, data: dataDirectory() },
])(
  'a call that creates 100,000 messages $what does not stall other calls',
  { timeout: 120_000 },
  async ({ path, head, data }) => {
    const emulator = testEmulator({ data });
    emulator.conversations.create({ id: 'known' });
    const messages = Array.from({ length: 100_000 }, (_, i) => ({
      role: 'user',
      content: `Message ${i} of the crew.`,
    }));
    const body = JSON.stringify({ ...head, messages });
    const turns = turnsOfTheLoop();

    const response = await emulator.fetch(`http://emulator.test${path}`, { method: 'POST', body });
    let size = 0;
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) size += piece.byteLength;

    expect(turns().longest).toBeLessThan(mostOf(250));
    expect(response.status).toBe(201);
    expect(size).toBeGreaterThan(body.length);
    const [found] = emulator.conversations.list().filter((one) => one.messages.length > 0);
    expect(found?.messages.length).toBe(100_000);
  },
);

/** Milliseconds on this machine of what takes so many on one that reads the JSON of 100,000 small objects in 60. */
function mostOf(milliseconds: number): number {
  const json = JSON.stringify(Array.from({ length: 100_000 }, (_, i) => ({ role: 'user', content: `Message ${i}.` })));
  const now = threadTime();
  const times = [1, 2, 3].map(() => {
    const start = now();
    JSON.parse(json);
    return now() - start;
  });
  return milliseconds * Math.max(1, Math.min(...times) / 60);
}
