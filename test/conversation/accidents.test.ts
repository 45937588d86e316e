import { getEventListeners } from 'node:events';
import {
  ConversationConflictError,
  type ConversationMessage,
  type ConversationStore,
  memoryStore,
  type StoredRow,
} from 'context-gateway/conversation';
import { emulatorStore } from 'context-gateway-emulator';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, chatWorld, smallTalk, talkWith, textsIn, user } from './world.js';

test.each([
  {
    because: 'a new question after a stored one without a reply',
    history: [user('One?', 'q1')],
    input: [user('One?', 'q1'), user('Two?', 'q2')],
    texts: ['One?', 'Two?', 'Recorded.'],
  },
  {
    because: 'a new question after a stored one with a reply',
    history: [user('One?', 'q1'), assistant('Yes.', 'a1')],
    input: [user('One?', 'q1'), user('Two?')],
    texts: ['One?', 'Yes.', 'Two?', 'Recorded.'],
  },
  {
    because: 'two stored questions, again',
    history: [user('One?', 'q1'), user('Two?', 'q2'), assistant('Yes.', 'a1')],
    input: [user('One?', 'q1'), user('Two?', 'q2')],
    texts: ['One?', 'Two?', 'Recorded.'],
  },
  {
    because: 'a stored question with another text',
    history: [user('Zero?', 'q0'), assistant('No.', 'a0'), user('One?', 'q1'), assistant('Yes.', 'a1')],
    input: [user('One, edited?', 'q1')],
    texts: ['Zero?', 'No.', 'One, edited?', 'Recorded.'],
  },
])('record loses no question: $because', async ({ history, input, texts }) => {
  const store = memoryStore({ talk: history });

  await talkWith(store).talk.record(input, { text: 'Recorded.' });

  expect(await textsIn(store)).toEqual(texts);
});

test.each([
  { because: 'freezes them', take: (messages: object[]) => Object.freeze(messages.map(Object.freeze)) },
  { because: 'takes them out of their array', take: (messages: object[]) => messages.splice(0) },
])('a turn keeps its messages if append $because', async ({ take }) => {
  const rows: ConversationMessage[] = [];
  const append: ConversationStore['append'] = (_, messages) => {
    rows.push(...(take(messages as ConversationMessage[]) as ConversationMessage[]));
    return messages.map(({ id }) => id);
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

/** A database whose ids are numbers. */
function numbering(toId: (id: number) => number | bigint): ConversationStore {
  const rows: StoredRow[] = Array.from({ length: 20 }, (_, at) => at + 1).map((id) => ({
    ...{
      id: toId(id),
      role: id % 2 ? 'user' : 'assistant',
      content: id === 1 ? 'The lamp is red.' : 'Noted in the book of today.',
    },
  }));
  const isId = (row: StoredRow | undefined, id: string | undefined) => String(row?.id ?? '') === (id ?? '');
  return {
    load: () => ({ messages: rows }),
    append: (_, messages, { after, newest }) => {
      if (!isId(rows.at(-1), newest)) throw new ConversationConflictError();
      rows.splice(rows.findLastIndex((row) => isId(row, after)) + 1);
      const added = messages.map((message, at) => ({ ...message, id: toId(rows.length + 1 + at) }));
      rows.push(...added);
      return added.map(({ id }) => id);
    },
  };
}

test.each([Number, BigInt])('ids may be numbers of a database: %o', async (toId) => {
  const store = numbering(toId);
  const search = () => [{ id: toId(1) as never }];
  const { talk } = talkWith(store, { search, budget: 120, reserveOutput: 5 });

  const { messages, report } = await talk.send('Which lamp do we have, and where does it hang today?');

  expect(messages.map(({ id }) => id)).toEqual(['21', '22']);
  expect(report.recalled.map(({ id }) => id)).toContain('1');
  await talk.edit('21', 'Which lamp?').final();
  expect((await store.load('talk'))?.messages).toHaveLength(22);
});

test('a turn is stored although countTokens fails on its reply', async () => {
  const store = memoryStore();
  const onError = vi.fn();
  const countTokens = (text: string): number => {
    if (text.includes('<|end|>')) throw new Error('a special token'); // as tokenizers do
    return text.length;
  };
  const { talk, emulator } = talkWith(store, { countTokens, onError });
  emulator.chat.on('token', 'It is <|end|>.');

  const turn = await talk.send('Which token?');

  expect(turn).toMatchObject({ text: 'It is <|end|>.', usageEstimated: false });
  expect(await textsIn(store)).toEqual(['Which token?', 'It is <|end|>.']);
  expect(onError).toHaveBeenCalledOnce();
});

test('a conversation goes on after a message on which countTokens fails', async () => {
  const store = memoryStore({ talk: [user('What is <|end|>?', 'q1'), assistant('It is <|end|>.', 'a1')] });
  const onError = vi.fn();
  const countTokens = (text: string): number => {
    if (text.includes('<|end|>')) throw new Error('a special token');
    return text.length;
  };

  const { report } = await talkWith(store, { countTokens, onError }).talk.send('And <|end|> again?');

  expect(report.tokens.total).toBeGreaterThan(0);
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

test.each([null, undefined])('rows whose columns are getters are messages, with a name that is %s', async (name) => {
  class Row {
    readonly #columns: StoredRow;
    constructor(columns: StoredRow) {
      this.#columns = columns;
    }
    get id() {
      return this.#columns.id;
    }
    get role() {
      return this.#columns.role;
    }
    get content() {
      return this.#columns.content;
    }
    get name() {
      return name;
    }
  }
  const store = memoryStore({ talk: [user('One?', 'q1'), assistant('Yes.', 'a1')] });
  const load = async (id: string) => ({
    messages: ((await store.load(id))?.messages ?? []).map((row) => new Row(row)),
  });
  const { talk, prompts } = talkWith({ ...store, load });

  await talk.regenerate().final();
  const copy = await talk.fork('q1');

  expect(prompts[0]?.messages).toEqual([{ role: 'user', content: 'One?' }]);
  expect(await textsIn(store, copy.id)).toEqual(['One?']);
});

test.each([0, -1, 0.01, 1e300])('a state whose calibration is %d is dropped, and the turn goes on', async (latin) => {
  const store = memoryStore({ talk: smallTalk(400) });
  const onError = vi.fn();
  const options = { contextWindow: 4_000, reserveOutput: 100, onError };
  await talkWith(store, options).talk.send('Hello?');
  const load: ConversationStore['load'] = async (id) => {
    const { messages = [], state } = (await store.load(id)) ?? {};
    return { messages, state: { ...state, calibration: { latin } } as never };
  };
  const { talk, prompts } = talkWith({ ...store, load }, options);

  await talk.send('Hello again?');

  expect(JSON.stringify(prompts[0]).length).toBeLessThan(20_000);
  expect(onError).toHaveBeenCalledOnce();
});

test('emulatorStore removes nothing if the message to follow is gone', async () => {
  const { emulator } = chatWorld({ messages: [user('One?', 'q1'), assistant('Yes.', 'a1')] as never });
  const store = emulatorStore(emulator);

  const error = await failureOf((async () => store.append('talk', [], { after: 'gone', newest: 'a1' }))());

  expect(error).toMatchObject({ name: 'ConversationConflictError' });
  expect(store.load('talk').messages).toHaveLength(2);
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
