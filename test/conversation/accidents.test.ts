import { getEventListeners } from 'node:events';
import { type ConversationMessage, type ConversationStore, memoryStore } from 'context-gateway/conversation';
import { testStore } from 'context-gateway/conversation/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, talkWith, textsIn, user } from './world.js';

const [one, two] = [user('One?', 'q1'), user('Two?', 'q2')];
const yes = assistant('Yes.', 'a1');

test.each([
  { because: 'a new one after one without a reply', history: [one], input: [one, two] },
  { because: 'two stored ones, again', history: [one, two, yes], input: [one, two] },
])('a turn loses no question: $because', async ({ history, input }) => {
  const store = memoryStore({ talk: history });

  await (await talkWith(store).talk.prepare(input)).finish('Finished.');

  expect(await textsIn(store)).toEqual(['One?', 'Two?', 'Finished.']);
});

test('a turn keeps its messages if append freezes them, or takes them out of their array', async () => {
  const rows: ConversationMessage[] = [];
  const append: ConversationStore['append'] = (_, messages) => {
    const added = (messages as ConversationMessage[]).splice(0).map((message) => Object.freeze(message));
    return rows.push(...added) && added.length;
  };
  const load = () => ({ messages: rows, edits: 0 });
  const { talk } = talkWith({ load, append, setExcluded: () => {} });

  const turn = await talk.send('One?');

  expect(turn.messages).toEqual(rows);
  expect(rows).toHaveLength(2);
});

/** A store whose `append` returns another value than a number. */
function returning(result: (added: number) => unknown) {
  const store = memoryStore();
  const append: ConversationStore['append'] = async (...given) => result(await store.append(...given)) as never;
  return { ...store, append };
}

test.each([BigInt, String])('append may return its count as a database does: %o', async (result) => {
  const store = returning(result);

  const turn = await talkWith(store).talk.send('One?');

  expect((await store.load('talk'))?.messages).toEqual(turn.messages);
});

test.each([undefined, null, -1, 2, 0.5, 'OK', [{ id: 1 }], { rowCount: 1 }])(
  'a question is not sent if append returns no count, but %j',
  async (result) => {
    const { talk, prompts } = talkWith(returning(() => result));

    const message = 'store.append must return how many messages it added: those whose id was not stored.';
    expect(await failureOf(talk.send('One?'))).toMatchObject({ name: 'ConfigurationError', message });
    expect(prompts).toEqual([]);
  },
);

test.each([Number, BigInt])('ids of a store without append may be numbers of a database: %o', async (toId) => {
  const texts = ['The lamp is red.', ...Array.from({ length: 19 }, () => 'Noted in the book of today.')];
  const messages = texts.map((content, at) => ({ role: 'user', content, id: toId(at + 1) }));
  const { talk } = talkWith({ load: () => ({ messages }) }, { search: () => [{ id: toId(1) as never }], budget: 120 });

  const { report } = await talk.send('Which lamp do we have, and where does it hang today?');

  expect(report.recalled.map(({ id }) => id)).toContain('1');
});

test('a question is stored and asked once by a database that returns ids in another case, and testStore names it', async () => {
  const lowered = () => {
    const store = memoryStore();
    const append: ConversationStore['append'] = (id, messages, { newest, after, ...place }) => {
      const lower = <T>(value: T): T => (typeof value === 'string' ? (value.toLowerCase() as T) : value);
      const rows = messages.map((row) => ({ ...row, id: lower(row.id), replyTo: lower(row.replyTo) }));
      return store.append(id, rows, { ...place, newest: lower(newest), after: lower(after) });
    };
    return { ...store, append };
  };
  const store = lowered();
  const question = [user('One?', 'A0B1C2D3-0000-4000-8000-000000000000')]; // as an iPhone makes them
  const { text } = await talkWith(store).talk.send(question);
  const { talk, prompts } = talkWith(store);

  expect(await failureOf(talk.send(question))).toMatchObject({ name: 'ConversationConflictError' });

  expect(prompts).toEqual([]);
  expect(await textsIn(store)).toEqual(['One?', text]);
  await expect(testStore(lowered())).rejects.toThrow(/load returns ids unchanged/);
});

test('a page that sends its whole history, with ids of its own for the replies, is told so, and nothing is stored', async () => {
  const store = memoryStore();
  const page = [one];
  const { text } = await talkWith(store).talk.send(page);
  const { talk, prompts } = talkWith(store);

  const error = await failureOf(talk.send([...page, assistant(text, 'page-a1'), two]));

  const message = expect.stringContaining('is a reply that is not stored: send the new message of the user alone');
  expect(error).toMatchObject({ name: 'RequestValidationError', issues: [{ path: ['input', 1], message }] });
  expect(prompts).toEqual([]);
  expect(await textsIn(store)).toEqual(['One?', text]);
});

test('what an app keeps with a question is still there after an edit, and in a fork', async () => {
  const store = memoryStore();
  const { talk } = talkWith(store);
  const own = { attachments: [{ url: 'https://files.test/a.pdf' }], locale: 'de', name: 'Ada' };
  await talk.send([{ ...own, ...user('See the file.', 'q') }]);

  await talk.edit('q', 'See this file.').final();
  const fork = await talk.fork('q');

  const edited = { ...own, id: 'q', content: 'See this file.' };
  expect((await store.load('talk'))?.messages[0]).toMatchObject(edited);
  expect((await store.load(fork.id))?.messages[0]).toMatchObject(edited);
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
    ...(await store.load(id)),
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
