import { getEventListeners } from 'node:events';
import { type ConversationMessage, type ConversationStore, memoryStore } from 'context-gateway/conversation';
import { expect, onTestFinished, test, vi } from 'vitest';
import { assistant, numberingStore, talkWith, textsIn, user } from './world.js';

const [one, two, edited] = [user('One?', 'q1'), user('Two?', 'q2'), user('One, edited?', 'q1')];
const [zero, no, yes] = [user('Zero?', 'q0'), assistant('No.', 'a0'), assistant('Yes.', 'a1')];

test.each([
  { because: 'a new one after one without a reply', history: [one], input: [one, two], stored: [one, two] },
  { because: 'two stored ones, again', history: [one, two, yes], input: [one, two], stored: [one, two] },
  { because: 'an edited one', history: [zero, no, one, yes], input: [edited], stored: [zero, no, edited] },
])('record loses no question: $because', async ({ history, input, stored }) => {
  const store = memoryStore({ talk: history });

  await talkWith(store).talk.record(input, { text: 'Recorded.' });

  expect(await textsIn(store)).toEqual([...stored.map(({ content }) => content), 'Recorded.']);
});

test('a turn keeps its messages if append freezes them, or takes them out of their array', async () => {
  const rows: ConversationMessage[] = [];
  const append: ConversationStore['append'] = (_, messages) => {
    rows.push(...(messages as ConversationMessage[]).splice(0).map((message) => Object.freeze(message)));
    return rows.slice(-1).map(({ id }) => String(id));
  };
  const { talk } = talkWith({ load: () => ({ messages: rows }), append });

  const turn = await talk.send('One?');

  expect(turn.messages).toEqual(rows);
  expect(rows).toHaveLength(2);
});

test.each([[[1, 2]], ['OK'], [[{ id: 1 }]], [[null, null]], [{ rowCount: 2 }]])(
  'messages keep their ids if append returns %j, as a database does',
  async (result) => {
    const store = memoryStore();
    const append: ConversationStore['append'] = async (id, messages, place) => {
      await store.append(id, structuredClone(messages), place);
      return result as never;
    };

    const turn = await talkWith({ ...store, append }).talk.send('One?');

    expect((await store.load('talk'))?.messages).toEqual(turn.messages);
  },
);

test.each([Number, BigInt])('ids may be numbers of a database: %o', async (toId) => {
  const rows = [
    user('The lamp is red.'),
    ...Array.from({ length: 19 }, (_, at) => (at % 2 ? user : assistant)('Noted in the book of today.')),
  ];
  const store = numberingStore({ talk: rows }, toId);
  const search = () => [{ id: toId(1) as never }];
  const { talk } = talkWith(store, { search, budget: 120 });

  const { messages, report } = await talk.send('Which lamp do we have, and where does it hang today?');

  expect(messages.map(({ id }) => id)).toEqual(['21', '22']);
  expect(report.recalled.map(({ id }) => id)).toContain('1');
  await talk.edit('21', 'Which lamp?').final();
  expect((await store.load('talk'))?.messages).toHaveLength(22);
});

test('a turn is made and stored although countTokens fails on an earlier message, the question and the reply', async () => {
  const store = memoryStore({ talk: [user('What is <|end|>?', 'q1'), assistant('A token.', 'a1')] });
  const onError = vi.fn();
  const countTokens = (text: string): number => {
    if (text.includes('<|end|>')) throw new Error('a special token'); // as tokenizers do
    return text.length;
  };
  const { talk, emulator } = talkWith(store, { countTokens, onError });
  emulator.chat.on('again', 'It is <|end|>.');

  const turn = await talk.send('And <|end|> again?');

  expect(turn).toMatchObject({ text: 'It is <|end|>.', usageEstimated: false });
  expect(turn.report.tokens.total).toBeGreaterThan(0);
  expect((await textsIn(store)).slice(2)).toEqual(['And <|end|> again?', 'It is <|end|>.']);
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: 'a special token' }));
});

test('a turn whose reply was stored right at its deadline succeeds', async () => {
  const store = memoryStore();
  const { now } = performance;
  let late = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + late);
  onTestFinished(() => void vi.restoreAllMocks());
  const append: ConversationStore['append'] = (...turn) => {
    if (turn[1][0]?.role === 'assistant') late = 60_000; // a database that waited for a lock, and blocked the process
    return store.append(...turn);
  };

  const turn = await talkWith({ ...store, append }).talk.send('One?', { deadline: 60_000 });

  expect(await textsIn(store)).toEqual(['One?', turn.text]);
});

test.each([null, undefined])('rows whose columns are inherited are messages, with a name that is %s', async (name) => {
  const store = memoryStore({ talk: [user('One?', 'q1'), assistant('Yes.', 'a1')] });
  const load = async (id: string) => ({
    messages: ((await store.load(id))?.messages ?? []).map((row) => Object.create({ ...row, name })),
  });
  const { talk, prompts } = talkWith({ ...store, load });

  await talk.regenerate().final();
  const copy = await talk.fork('q1');

  expect(prompts[0]?.messages).toEqual([{ role: 'user', content: 'One?' }]);
  expect(await textsIn(store, copy.id)).toEqual(['One?']);
});

test('twenty turns with one signal cause no warning, and leave no listener', async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(String(warning));
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { signal } = new AbortController();
  const talks = Array.from({ length: 20 }, () => talkWith(memoryStore()).talk);

  await Promise.all(talks.map((talk) => talk.send('Hi?', { signal })));
  await new Promise((resolve) => setImmediate(resolve)); // warnings are emitted after the turn of the event loop

  expect(warnings).toEqual([]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
