import { ContextClient, GatewayClient, tool } from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
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

const talkOf = ({ apiKeys, sessionToken, fetch, conversations }: Emulator, onError?: (error: unknown) => void) => {
  const connection = { baseURL: 'http://localhost', fetch };
  return createConversation({
    conversationId: 'talk',
    model: 'atlas-small',
    store: emulatorStore({ conversations }),
    context: new ContextClient({ ...connection, sessionToken }),
    gateway: new GatewayClient({ ...connection, apiKey: apiKeys.secret }),
    onError,
  });
};

/** An emulator with the masked data of another. */
async function maskedCopy(emulator: Emulator) {
  const { body } = await callsTo(emulator).control('GET', '/case?mask=keys,prompts');
  const copy = testEmulator({ seed: 'other' });
  const opened = await callsTo(copy).control('POST', '/case', body);
  expect(opened).toMatchObject({ status: 200, body: { state: true } });
  return { copy, text: JSON.stringify(body) };
}

test('the SDK reads a masked conversation, with its calls, parts and statements', async () => {
  const emulator = testEmulator();
  emulator.chat.on('tide', [
    { tool_calls: [{ function: { name: 'tides', arguments: { port: 'Quokka' } } }] },
    'Zanzibar',
  ]);
  const tides = tool({
    name: 'tides',
    description: 'x',
    parameters: { ...{ type: 'object' } },
    execute: () => 'Quokka',
  });
  const image = { type: 'image_url', image_url: { url: 'https://example.com/Quokka.png' } } as const;
  const talk = talkOf(emulator);
  await talk.send('We decided to sail to Quokka because Zanzibar is near. Zanzibar means the island.');
  await talk.send([{ id: 'a tide?', role: 'user', content: [{ type: 'text', text: 'The tide at Quokka?' }, image] }], {
    tools: [tides],
  });
  for (const level of ['light', 'aggressive', 'aggressive'] as const) await talk.compact(level);
  const said = await talk.messages();
  const { state } = emulatorStore(emulator).load('talk');

  const { copy, text } = await maskedCopy(emulator);

  expect(text).not.toMatch(/Quokka|Zanzibar/);
  const errors: unknown[] = [];
  const read = await talkOf(copy, (error) => errors.push(error)).messages();
  const idOf = (id?: string) => id && (read[said.findIndex((message) => message.id === id)]?.id ?? 'none');
  const formOf = ({ role, tool_call_id, tool_calls = [], ...rest }: (typeof said)[number]) => ({
    ...{ role, tool_call_id, finish_reason: rest.finish_reason, model: rest.model, usage: rest.usage },
    calls: tool_calls.map(({ id, type }) => ({ id, type })),
    types: typeof rest.content === 'string' ? 'text' : rest.content.map(({ type }) => type),
  });
  expect(read.map(formOf)).toEqual(said.map(formOf));
  for (const field of ['replyTo', 'reply'] as const)
    expect(read.map((message) => message[field])).toEqual(said.map((message) => idOf(message[field])));
  expect(said.flatMap(({ role, replyTo, reply }) => [role, replyTo, reply])).toEqual(
    expect.arrayContaining(['tool', 'a tide?']),
  );
  const known = emulatorStore(copy).load('talk').state;
  const sections = ({ lost }: { lost: { section: string }[] }) => lost.map(({ section }) => section);
  expect(sections(state)).not.toEqual([]);
  expect(sections(known)).toEqual(sections(state));
  expect(known).toMatchObject({
    format: 1,
    compaction: state.compaction,
    snapshot: { metadata: state.snapshot.metadata },
  });
  expect((await talkOf(copy, (error) => errors.push(error)).send('And now?')).text).not.toBe('');
  expect(errors).toEqual([]);
});

test('ids that are alike once they are masked still name the same messages', async () => {
  const emulator = testEmulator();
  const store = emulatorStore(emulator);
  const messages = ['m é', 'm ö', 'm ü'].map((id, at) => ({ id, role: 'user', content: id, at: `m ${'öüé'[at]}` }));
  store.append(
    'talk',
    messages.map(({ at, ...message }) => ({ ...message, replyTo: at })),
    PLACE,
  );
  await callsTo(emulator).context('POST', '/api/context/pin/talk', { messageId: 'm ö' });

  const { copy } = await maskedCopy(emulator);

  const read = loaded(copy).messages as { id: string; replyTo?: string }[];
  const ids = read.map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
  expect(read.map(({ replyTo }) => replyTo)).toEqual([ids[1], ids[2], ids[0]]);
  expect((await copy.inspect('talk'))?.pinnedMemory.map(({ messageId }) => messageId)).toEqual([ids[1]]);
});

test('a masked state keeps no term of a definition, wherever it stands', async () => {
  const emulator = testEmulator();
  const store = emulatorStore(emulator);
  const definitions = { Quokka: 'x' };
  store.append(
    'talk',
    [{ id: 'a', role: 'user', content: 'x', extra: { definitions: [definitions] } }] as never,
    PLACE,
  );
  store.saveState('talk', { format: 1, snapshot: { summary: { definitions }, other: { definitions } } }, 0);

  const { text } = await maskedCopy(emulator);

  expect(text).toContain('"definitions":{"xxxxxx":"x"}');
  expect(text).not.toContain('Quokka');
});
