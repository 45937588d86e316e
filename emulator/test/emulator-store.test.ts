import { testStore } from 'context-gateway/conversation/testing';
import { expect, test } from 'vitest';
import { createEmulator, type Emulator, emulatorStore } from '../src/index.js';
import { callsTo, dataDirectory, testEmulator } from './support.js';

const PLACE = { edits: 0 };
const MESSAGES = [
  { id: 'a', role: 'user', content: 'We decided to write CSV.', createdAt: '2026-01-15T10:00:00.000Z', colour: 'red' },
  { id: 'b', role: 'assistant', content: 'Noted.', createdAt: '2026-01-15T10:00:01.000Z', replyTo: 'a' },
];
const loaded = (emulator: Emulator, id = 'talk') => emulatorStore(emulator).load(id);

test('the store keeps the rules of the SDK, in memory and in a file', async () => {
  await testStore(emulatorStore(createEmulator()));
  const emulator = createEmulator({ data: dataDirectory() });
  await testStore(emulatorStore(emulator));
  await emulator.close();
});

test('edits, the state and all fields are those of the emulator: in its file, in snapshots, and for other stores', async () => {
  const data = dataDirectory();
  const first = testEmulator({ data });
  const store = emulatorStore(first);
  store.append('talk', MESSAGES, PLACE);
  store.append('talk', MESSAGES, { edits: 0, newest: 'b', after: null });
  store.setExcluded('talk', 'b', 1);
  store.saveState('talk', { format: 1 }, 0);
  const before = loaded(first);
  const state = JSON.parse(JSON.stringify(first.state()));
  await first.close();
  const second = testEmulator({ data });

  expect(before).toMatchObject({ messages: MESSAGES, edits: 1, revision: 1, state: { format: 1 } });
  expect(before.messages.map(({ excluded }) => excluded)).toEqual([false, true]);
  expect(loaded(second)).toEqual(before);
  const other = testEmulator();
  expect((await callsTo(other).control('PUT', '/state', state)).status).toBe(200);
  expect(loaded(other)).toEqual(before);
  other.conversations.delete('talk');
  expect(loaded(other)).toEqual({ messages: [], edits: 0, revision: 0 });
  await second.close();
});

test('a message that is excluded at the service is excluded in the store, also when it is given again', async () => {
  const emulator = testEmulator();
  const store = emulatorStore(emulator);
  store.append('talk', MESSAGES, PLACE);
  await callsTo(emulator).context('PATCH', '/api/context/exclude/talk/a', { exclude: true });

  store.append('talk', MESSAGES, { edits: 0, newest: 'b', after: null });

  expect(store.load('talk').messages.map(({ excluded }) => excluded)).toEqual([true, false]);
  expect((await emulator.inspect('talk'))?.messages[0]?.status).toBe('excluded');
});

test('a message that is given again keeps its pin, unless it has another text', async () => {
  const emulator = testEmulator();
  const store = emulatorStore(emulator);
  store.append('talk', MESSAGES, PLACE);
  const { context } = callsTo(emulator);
  for (const messageId of ['a', 'b']) await context('POST', '/api/context/pin/talk', { messageId });

  const content = 'We decided to write Parquet.';
  const edited = MESSAGES.map((message) => (message.id === 'a' ? { ...message, content } : message));
  store.append('talk', edited, { edits: 0, newest: 'b', after: null });

  expect((await emulator.inspect('talk'))?.pinnedMemory).toMatchObject([{ messageId: 'b' }]);
});

test('a cut of the conversation is an edit', () => {
  const emulator = testEmulator();
  const store = emulatorStore(emulator);
  store.append('talk', MESSAGES, PLACE);

  emulator.conversations.cut('talk', 'a');

  expect(() => store.append('talk', MESSAGES, PLACE)).toThrow(
    expect.objectContaining({ name: 'ConversationConflictError' }),
  );
  expect(store.append('talk', MESSAGES, { edits: 1 })).toBe(1);
});

test('what cannot be stored changes nothing', () => {
  const emulator = testEmulator();
  const store = emulatorStore(emulator);
  store.append('talk', MESSAGES, PLACE);
  const before = store.load('talk');
  const other = { id: 'c', role: 'function', content: '4' };

  expect(() => store.append('talk', [other], { edits: 0, newest: 'b', after: 'a' })).toThrow('not a message role');

  expect(store.load('talk')).toEqual(before);
});
