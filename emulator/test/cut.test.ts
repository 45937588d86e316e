import { expect, test } from 'vitest';
import type { Emulator, MessageInput } from '../src/index.js';
import { callsTo, dataDirectory, PROJECT_TALK, testEmulator } from './support.js';

/** The talk with one more decision and more small talk, with a pin of each. */
async function compacted(options: Parameters<typeof testEmulator>[0] = {}): Promise<Emulator> {
  const emulator = testEmulator(options);
  emulator.conversations.create({ id: 'talk', messages: [...PROJECT_TALK, LATER, ...SMALL_TALK] });
  const { context } = callsTo(emulator);
  await context('POST', '/api/context/pin/talk', { messageId: 'req' });
  await context('PATCH', '/api/context/exclude/talk/small3', { exclude: true });
  await emulator.compact('talk', 'light');
  await context('POST', '/api/context/pin/talk', { messageId: 'small5' });
  return emulator;
}

const LATER: MessageInput = {
  id: 'later',
  role: 'user',
  content: 'We decided to store the backups in Oslo because the rooms there are cold.',
};
const SMALL_TALK = Array.from(
  { length: 12 },
  (_, i): MessageInput => ({
    id: `small${i}`,
    role: 'user',
    content: `The ferry number ${i} was late again this week.`,
  }),
);
const again = (id: string, content: string): MessageInput => ({ id, role: 'user', content });
const summaryOf = async (emulator: Emulator) => JSON.stringify((await emulator.inspect('talk'))?.rollingSummary);

test('a cut deletes the messages after one, and everything taken from them', async () => {
  const emulator = await compacted();
  expect(await summaryOf(emulator)).toContain('Oslo');

  expect(emulator.conversations.cut('talk', 'plan')).toBe(24);

  const after = await emulator.inspect('talk');
  expect(after?.messages.map(({ id }) => id)).toEqual(PROJECT_TALK.slice(0, 9).map(({ id }) => id));
  expect(after?.pinnedMemory.map(({ messageId }) => messageId)).toEqual(['req']);
  expect(after?.sources.every(({ messageId }) => after.messages.some(({ id }) => id === messageId))).toBe(true);
  expect(await summaryOf(emulator)).not.toContain('Oslo');
  expect(await summaryOf(emulator)).toContain('Parquet');
  expect(after?.versions.at(-1)).toMatchObject({ cause: 'cut', summary: after?.rollingSummary });
  expect(after?.versions.map(({ summary }) => summary.version)).toEqual([1, 2]);
  expect(emulator.state().conversations[0]).toMatchObject({ folded: 9, leftOut: ['req'], cuts: 1 });
});

test('a cut of messages that no compaction has folded changes no summary', async () => {
  const emulator = await compacted();
  emulator.conversations.append('talk', [again('last', 'Which lamp does the pier get?')]);
  const before = await emulator.inspect('talk');

  expect(emulator.conversations.cut('talk', 'small11')).toBe(1);
  expect(emulator.conversations.cut('talk', 'small11')).toBe(0);

  const after = await emulator.inspect('talk');
  expect([after?.rollingSummary, after?.versions]).toEqual([before?.rollingSummary, before?.versions]);
});

test('what a deleted message had revoked is in the summary again', async () => {
  const emulator = testEmulator();
  const revoked = again('revoked', 'We decided against Parquet files. We decided to write CSV files instead.');
  emulator.conversations.create({ id: 'talk', messages: [...PROJECT_TALK, revoked, ...SMALL_TALK] });
  await emulator.compact('talk', 'light');
  expect(await summaryOf(emulator)).toContain('CSV');

  emulator.conversations.cut('talk', 'talk10');
  await emulator.compact('talk', 'light');

  const fresh = testEmulator();
  fresh.conversations.create({ id: 'talk', messages: PROJECT_TALK });
  const statements = async (one: Emulator) => (await one.inspect('talk'))?.statements.map(({ text }) => text);
  expect(await statements(emulator)).toEqual(await statements(fresh));
  expect(await summaryOf(emulator)).not.toContain('CSV');
});

test('a conversation without messages can be compacted and continued', async () => {
  const emulator = await compacted();

  expect(emulator.conversations.cut('talk', null)).toBe(33);

  const empty = await emulator.inspect('talk');
  expect(empty).toMatchObject({
    messages: [],
    pinnedMemory: [],
    sources: [],
    metadata: { totalTokens: 0, compressedTokens: 0 },
  });
  await emulator.compact('talk', 'aggressive');
  expect(await summaryOf(emulator)).not.toContain('Parquet');
  emulator.conversations.append('talk', PROJECT_TALK);
  await emulator.compact('talk', 'aggressive');
  expect(await summaryOf(emulator)).toContain('Parquet');
  expect(emulator.conversations.receipts('talk').map(({ number }) => number)).toEqual([1, 2, 3]);
});

test('a compaction that runs during a cut summarizes the messages that are there when it ends', async () => {
  const emulator = testEmulator();
  emulator.conversations.create({ id: 'talk', messages: [...PROJECT_TALK, LATER, ...SMALL_TALK] });
  const compacting = emulator.compact('talk', 'aggressive');

  emulator.conversations.cut('talk', 'talk10');
  emulator.conversations.append('talk', [again('later', 'We decided to store the backups in Bergen.'), ...SMALL_TALK]);
  await compacting;

  expect(await summaryOf(emulator)).not.toContain('Oslo');
  expect(emulator.conversations.receipts('talk')[0]?.kept.some(({ text }) => text.includes('Oslo'))).toBe(false);
});

test('a prompt that quotes a deleted message belongs to no conversation', async () => {
  const emulator = await compacted();
  const { ask } = callsTo(emulator);
  await ask(LATER.content);
  emulator.conversations.cut('talk', 'plan');
  await ask(LATER.content);
  emulator.conversations.append('talk', [LATER]);
  await ask(LATER.content);

  expect(emulator.requests.slice(-3).map(({ conversation }) => conversation)).toEqual(['talk', undefined, 'talk']);
});

test('a cut is in the data file and in snapshots', async () => {
  const data = dataDirectory();
  const first = await compacted({ data });
  first.conversations.cut('talk', 'plan');
  first.conversations.append('talk', [again('later', 'We decided to store the backups in Bergen.')]);
  const state = JSON.parse(JSON.stringify(first.state()));
  await first.close();

  const second = testEmulator({ data });
  const other = testEmulator({ state });

  expect(JSON.parse(JSON.stringify(second.state()))).toEqual(state);
  expect((await callsTo(other).control('PUT', '/state', state)).status).toBe(200);
  for (const emulator of [second, other]) {
    expect(emulator.conversations.get('talk')?.messages.at(-1)?.content).toContain('Bergen');
    await emulator.compact('talk', 'aggressive');
    expect(emulator.conversations.receipts('talk')).toHaveLength(2);
  }
  await second.close();
});

test('a cut at an unknown place changes nothing', async () => {
  const emulator = await compacted();
  const before = emulator.state();

  expect(() => emulator.conversations.cut('talk', 'none')).toThrow('there is no message none');
  expect(() => emulator.conversations.cut('none', null)).toThrow('there is no conversation none');

  expect(emulator.state()).toEqual(before);
});
