import {
  type ChatTurn,
  type Conversation,
  type ConversationMessage,
  type ConversationStore,
  type ConversationStoreError,
  memoryStore,
  type StoredMessage,
} from 'context-gateway/conversation';
import { expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, chatWorld, numberingStore, smallTalk, talkWith, textsIn, user } from './world.js';

const numbered = (messages: readonly ConversationMessage[]) =>
  messages.map((message, at) => ({ ...message, id: message.id ?? `n${at}` }));

/** Forty messages about the weather, one about the lamp among them, and a question about it that is stored. */
const withLamp = () =>
  numbered([...smallTalk(10), user('The lamp of the pier is red.', 'lamp'), ...smallTalk(30, 10), user(LAMP, 'q')]);
const LAMP = 'Before the ferry company orders paint, brushes and ladders from Bergen: which lamp do we have there?';

const [one, two] = [user('One?', 'q1'), user('Two?', 'q2')];
const oneReply = reply('One.', 'q1');
const regenerate = (talk: Conversation) => talk.regenerate().final();
const send =
  (...input: ConversationMessage[]) =>
  (talk: Conversation) =>
    talk.send(input);

test.each([
  { how: 'sent again', ask: send(user(LAMP, 'q')) },
  { how: 'answered by regenerate', ask: regenerate },
  { how: 'passed to buildMessages', ask: (talk: Conversation) => talk.buildMessages([user(LAMP, 'q')]) },
])('a stored question that is $how finds what answers it, and is in the prompt once', async ({ ask }) => {
  const search = () => [{ id: 'q' }, { id: 'lamp' }]; // the app's own finds the question too
  for (const more of [{}, { search }]) {
    const { talk } = talkWith(memoryStore({ talk: withLamp() }), { budget: 300, ...more });

    const { report } = await ask(talk);

    expect(report.recalled.map(({ id }) => id)).toContain('lamp');
    expect(report.recalled.map(({ id }) => id)).not.toContain('q');
  }
});
test.each([
  { how: 'sent again, beside the late reply to another', history: [one, two, oneReply], ask: send(two), kept: 3 },
  { how: 'regenerated, beside the late reply to another', history: [one, two, oneReply], ask: regenerate, kept: 3 },
  { how: 'sent again, before an answered one', history: [one, two, reply('Two.', 'q2')], ask: send(one), kept: 3 },
  { how: 'sent again, with its reply', history: [one, two, oneReply, reply('Two.', 'q2')], ask: send(two), kept: 3 },
  { how: 'regenerated, without replyTo', history: [one, two, assistant('Both.', 'r')], ask: regenerate, kept: 2 },
  { how: 'regenerated, before the app', history: [one, oneReply, assistant('Late.', 'n')], ask: regenerate, kept: 3 },
  { how: 'sent again, after an answered one', history: [one, oneReply, two], ask: send(one, two), kept: 3 },
])('a question that is $how gets its own reply, and no other is lost', async ({ history, ask, kept }) => {
  const store = memoryStore({ talk: history });

  for (const _ of ['once', 'twice']) {
    const { text } = await ask(talkWith(store).talk);
    expect(await textsIn(store)).toEqual([...history.slice(0, kept).map(({ content }) => content), text]);
  }
});

function reply(content: string, replyTo: string): ConversationMessage {
  return { ...assistant(content), replyTo };
}

test('a reply that is recorded twice, after a question without one, is stored once', async () => {
  const store = memoryStore({ talk: [one, two] });
  const { talk } = talkWith(store);

  for (const _ of ['once', 'twice']) await talk.record([two], { text: 'Two.', id: 'r2' });

  expect(await textsIn(store)).toEqual(['One?', 'Two?', 'Two.']);
});

test('a reply is not stored after a question that another tab has edited meanwhile', async () => {
  const store = memoryStore();
  const { talk, open, hold } = talkWith(store);
  const slow = hold('/completions');
  const turn = talk.send([user('The lamp is red. Which?', 'q')]);
  await vi.waitFor(async () => expect(await textsIn(store)).toHaveLength(1), { timeout: 30_000 });

  await open().record([user('The lamp is blue. Which?', 'q')], { text: 'Blue.' });
  slow.open();
  const error = await failureOf(turn);

  expect(error).toMatchObject({ name: 'ConversationConflictError', turn: { text: expect.stringMatching(/./) } });
  expect(await textsIn(store)).toEqual(['The lamp is blue. Which?', 'Blue.']);
});

test('what two tabs record at once is stored once', async () => {
  const store = memoryStore();
  const { open } = talkWith(store);
  const both = [open(), open()];

  await Promise.all(both.map((talk) => talk.record([user('One?', 'q')])));
  await Promise.all(both.map((talk) => talk.record([user('One?', 'q')], { text: 'Yes.', id: 'r' })));

  expect(await textsIn(store)).toEqual(['One?', 'Yes.']);
});

test.each([
  { what: 'sent', makeStore: memoryStore, ask: (talk: Conversation) => talk.send('One?') },
  { what: 'recorded', makeStore: memoryStore, ask: (talk: Conversation) => recorded(talk) },
  { what: 'sent', makeStore: numberingStore, ask: (talk: Conversation) => talk.send('One?'), once: 1 },
  { what: 'recorded', makeStore: numberingStore, ask: (talk: Conversation) => recorded(talk) },
])(
  'a turn that is $what is stored once by a store that commits, and repeats itself (%#)',
  async ({ makeStore, ask, once = 0 }) => {
    const store: Required<ConversationStore> = makeStore();
    let appends = 0;
    const append: ConversationStore['append'] = async (...turn) => {
      const ids = await store.append(...turn);
      appends += 1;
      return appends > once ? store.append(...turn) : ids; // a conflict with itself
    };

    const { text, messages } = await ask(talkWith({ ...store, append }).talk);

    expect(await textsIn(store)).toEqual(['One?', text]);
    const rows = (await store.load('talk'))?.messages.map((row) => ({ ...row, id: String(row.id) }));
    expect(messages ?? rows).toEqual(rows);
  },
);

async function recorded(talk: Conversation): Promise<Partial<ChatTurn>> {
  await talk.record('One?', { text: 'Yes.' });
  return { text: 'Yes.' };
}

test('an edited question and its reply are regenerated, also in a database that makes the ids', async () => {
  const store = numberingStore();
  const { talk } = talkWith(store);
  const { messages } = await talk.send('One?');
  await talk.edit(String(messages[0]?.id), 'Two?').final();

  const { text } = await talk.regenerate().final();

  expect(await textsIn(store)).toEqual(['Two?', text]);
});

test('in a fork in a database that makes the ids, regenerate deletes no late reply to another question', async () => {
  const store = numberingStore();
  const { talk } = talkWith(store);
  for (const text of ['One?', 'Two?']) await talk.record(text);
  await talk.record([user('One?', '1')], { text: 'One.' });
  const fork = await talk.fork('3');

  const { text } = await fork.regenerate().final();

  expect(await textsIn(store, fork.id)).toEqual(['One?', 'Two?', 'One.', text]);
});

test('a question that fails again and again is stored once', async () => {
  const store = memoryStore({ talk: [one, oneReply, two] });
  const { talk, emulator } = talkWith(store);
  emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 500 }, times: 6 });

  for (const input of [[one], [one, user('Three?', 'q3')], [user('Three?', 'q3')]])
    for (const _ of ['once', 'twice']) await failureOf(talk.send(input));

  expect(await textsIn(store)).toEqual(['One?', 'One.', 'Two?', 'Three?']);
});

test.each([
  { first: 'stopped', second: 'whole' },
  { first: 'whole', second: 'stopped' },
  { first: 'whole', second: 'another' },
])(
  'of two replies to a question that was sent twice, the last whole one is stored: $first, then $second',
  async (order) => {
    const store = memoryStore({ talk: [one] });
    const { talk, open, onRequest } = talkWith(store);
    onRequest(async ({ url }) => {
      if (url.endsWith('/completions'))
        await open().record([one], { text: 'First.', stopped: order.first === 'stopped' });
      return undefined;
    });

    if (order.second === 'stopped') {
      const reply = talk.stream([one]);
      for await (const _ of reply) break;
      const error = await failureOf(reply.final());
      expect(error).toMatchObject({ name: 'ConversationConflictError', turn: { stopped: true } });
      expect(await textsIn(store)).toEqual(['One?', 'First.']);
    } else {
      const { text } = await talk.send([one]);
      expect(await textsIn(store)).toEqual(['One?', text]);
    }
  },
);

test.each([
  { how: 'a regenerated reply', ask: regenerate },
  { how: 'a reply to a question that was sent again', ask: send(one) },
  { how: 'an edit', ask: (talk: Conversation) => talk.edit('q1', 'One, edited?').final() },
])('$how that a full disk refused can be recorded from its error', async ({ ask }) => {
  const store = memoryStore({ talk: [one, reply('Old.', 'q1')] });
  const append = vi.fn(store.append).mockRejectedValueOnce(new Error('disk full'));
  const { talk } = talkWith({ ...store, append });

  const { turn } = (await failureOf(ask(talk))) as ConversationStoreError;
  for (const _ of ['once', 'twice']) await talk.record(turn?.messages.slice(0, -1) ?? [], turn);

  expect(await textsIn(store)).toEqual([turn?.messages[0]?.content, turn?.text]);
});

test('an edit is recorded also with the reply that its question had', async () => {
  const store = memoryStore({ talk: [one, reply('Yes.', 'q1')] });

  await talkWith(store).talk.record([user('One, edited?', 'q1')], { text: 'Yes.' });

  expect(await textsIn(store)).toEqual(['One, edited?', 'Yes.']);
});

test('a question whose append was committed is known by its id, in a database without times', async () => {
  const store = memoryStore();
  const append = vi.fn(store.append).mockImplementationOnce(async (id, messages, place) => {
    await store.append(id, messages, place);
    throw new Error('connection lost');
  });
  const load: ConversationStore['load'] = async (id) => {
    const { messages = [] } = (await store.load(id)) ?? {};
    return { messages: messages.map((row) => ({ ...row, createdAt: null })) };
  };

  const { text } = await talkWith({ load, append }).talk.send('One?');

  expect(await textsIn(store)).toEqual(['One?', text]);
});

test('a question is not taken for the same text of another tab', async () => {
  const store = numberingStore();
  const append = vi.fn(store.append).mockImplementationOnce(async (id, [message], place) => {
    await store.append(id, [{ ...message, createdAt: '2026-01-15T10:00:00.000Z' } as StoredMessage], place);
    throw new Error('connection lost');
  });

  const error = await failureOf(talkWith({ ...store, append }).talk.send('Hi!'));

  expect(error).toMatchObject({ name: 'ConversationStoreError' });
  expect(await textsIn(store)).toEqual(['Hi!']);
});

test('a reply belongs to the question of its turn, also if other messages are between them', async () => {
  const store = memoryStore();
  const { talk } = talkWith(store);
  const input = [user('One?', 'q'), { ...assistant('I look it up.'), id: 'a' }];

  for (const text of ['One.', 'Another one.']) await talk.record(input, { text });

  expect((await store.load('talk'))?.messages.at(-1)).toMatchObject({ content: 'Another one.', replyTo: 'q' });
  expect(await textsIn(store)).toEqual(['One?', 'I look it up.', 'Another one.']);
  const { text } = await talk.regenerate().final();
  expect(await textsIn(store)).toEqual(['One?', text]);
});

test('a database may return replyTo as a number', async () => {
  const late = { ...assistant('One.', '3'), replyTo: 1 };
  const append = vi.fn<NonNullable<ConversationStore['append']>>();

  await talkWith({ load: () => ({ messages: [user('One?', '1'), user('Two?', '2'), late] }), append }).talk.send([
    user('Two?', '2'),
  ]);

  expect(append.mock.calls[0]?.[2]).toEqual({ after: '3', newest: '3' });
});

test('without append, a question that the app has stored is sent', async () => {
  const { talk, prompts } = talkWith({ load: () => ({ messages: [user('One?', 'q')] }) });

  expect((await talk.send([user('One?', 'q')])).text).not.toBe('');
  expect(prompts[0]?.messages).toEqual([{ role: 'user', content: 'One?' }]);
});

/** A store during whose append of a message of this role the turn is stopped. */
function stoppedStore(role: string) {
  const [store, stop] = [memoryStore(), new AbortController()];
  const append: ConversationStore['append'] = async (...turn) => {
    if (turn[1][0]?.role === role) stop.abort();
    await new Promise((resolve) => setImmediate(resolve));
    return store.append(...turn);
  };
  return { ...store, append, signal: stop.signal };
}

test('a stop while the question is stored waits until it is', async () => {
  const { signal, ...store } = stoppedStore('user');
  const { talk, prompts } = talkWith(store);

  expect(await failureOf(talk.send('One?', { signal }))).toMatchObject({ name: 'AbortError' });
  expect(await textsIn(store)).toEqual(['One?']);
  expect(prompts).toEqual([]);
  expect(await talkWith(store).talk.send('Two?')).toMatchObject({ stopped: false }); // no conflict
});

test('a turn that was stopped before stores nothing', async () => {
  const store = memoryStore();
  const { talk } = talkWith(store);

  expect(await failureOf(talk.send('One?', { signal: AbortSignal.abort() }))).toMatchObject({ name: 'AbortError' });
  expect(await textsIn(store)).toEqual([]);
});

test('a stop while the reply is stored is no error', async () => {
  const { signal, ...store } = stoppedStore('assistant');

  const { text } = await talkWith(store).talk.send('One?', { signal });

  expect(await textsIn(store)).toEqual(['One?', text]);
});

test('record without a reply reads no context, because the turn follows', async () => {
  const world = chatWorld();

  await world.open().record('One?');

  expect(world.count('context')).toBe(0);
});

test('with newest: null, a page that shows no message conflicts only if there is one', async () => {
  const store = memoryStore();
  const { talk, open } = talkWith(store);

  await talk.send('One?', { newest: null });

  expect(await failureOf(open().send('Two?', { newest: null }))).toMatchObject({ name: 'ConversationConflictError' });
  expect(await textsIn(store)).toHaveLength(2);
});

test('half a character in an input is stored as a database can keep it', async () => {
  const store = memoryStore();

  await talkWith(store).talk.send('Half a smile: \ud83d');

  expect((await textsIn(store))[0]).toBe('Half a smile: \ufffd');
});

test('the error of a turn that was recorded, and not stored, says nothing of a reply', async () => {
  const store = memoryStore();
  const append = () => Promise.reject(new Error('disk full'));

  const error = await failureOf(talkWith({ ...store, append }).talk.record('One?', { text: 'Yes.' }));

  const message = 'Your message could not be stored. Send it again.';
  expect(error).toMatchObject({ name: 'ConversationStoreError', errorData: { message } });
});

test.each([memoryStore, numberingStore])(
  'an excluded message stays out of prompts, also of a fork: %o',
  async (makeStore) => {
    const store = makeStore();
    const { talk, prompts } = talkWith(store);
    const { messages } = await talk.send('My PIN is 4711.');
    await talk.exclude(String(messages[0]?.id));
    const fork = await talk.fork(String(messages[1]?.id));
    prompts.length = 0;

    await talk.send('Hi?');
    await fork.send('Hi?');
    const passed = ((await store.load('talk'))?.messages ?? []) as ConversationMessage[];
    prompts.push((await talk.buildMessages('Hi?', { messages: passed })) as never);

    expect(prompts).toHaveLength(3);
    expect(JSON.stringify(prompts)).not.toContain('4711');
  },
);

test('a turn has the ids of its database, although they cannot be looked up', async () => {
  const store = numberingStore();
  const load = vi.fn(store.load).mockImplementationOnce(store.load).mockRejectedValueOnce(new Error('one failed read'));

  const { messages } = await talkWith({ ...store, load }).talk.send('One?');

  expect(messages.map(({ id }) => id)).toEqual(['1', '2']);
});

test('an exclusion by another tab holds, although a state of this one could not be saved before', async () => {
  const store = memoryStore();
  const saveState = vi.fn(store.saveState);
  const { talk, prompts } = talkWith({ ...store, saveState });
  const { messages } = await talk.send('My PIN is 4711.');
  saveState.mockRejectedValueOnce(new Error('busy'));
  await talk.send('One?');
  await talkWith(store).talk.exclude(String(messages[0]?.id));
  prompts.length = 0;

  await talk.send('Two?');

  expect(JSON.stringify(prompts)).not.toContain('4711');
});

test('a stored question finds what the same new question finds, also by the beginning of a word', async () => {
  const history = numbered([user('The refrigeration is made by Nordfrost.', 'fact'), ...smallTalk(120)]);
  const { talk } = talkWith(memoryStore({ talk: history }), { budget: 700 });
  const question = [user('Who sells the refrigerators?', 'q')];
  await talk.record(question);

  const { report } = await talk.buildMessages(question);

  expect(report.recalled.map(({ id }) => id)).toContain('fact');
});

test('a reply to a question that was sent again is kept, if another tab has stored a turn meanwhile', async () => {
  const store = memoryStore({ talk: [user('One?', 'q'), assistant('Old.', 'r')] });
  const { talk, open, onRequest } = talkWith(store);
  onRequest(async ({ url }) => {
    if (url.endsWith('/completions')) await open().record('Other?', { text: 'Other.' });
    return undefined;
  });

  const { text } = await talk.send([user('One?', 'q')]);

  expect(await textsIn(store)).toEqual(['One?', 'Old.', 'Other?', 'Other.', text]);
});

test('record edits the last question, and leaves alone what stands before it', async () => {
  const store = memoryStore({ talk: [{ ...one, createdAt: '2026-01-15T10:00:00.000Z' }, oneReply, two] });

  await talkWith(store).talk.record([one, editedTwo], answer);

  expect((await store.load('talk'))?.messages).toMatchObject([
    { id: 'q1', createdAt: '2026-01-15T10:00:00.000Z' },
    { content: 'One.' },
    { id: 'q2', content: 'Two, edited?' },
    { content: 'Two.' },
  ]);
});

const [editedOne, editedTwo] = [user('One, edited?', 'q1'), user('Two, edited?', 'q2')];
const answer = { text: 'Two.' };
test.each([
  { because: 'without a reply', history: [one, oneReply], input: [editedOne], answer: undefined },
  { because: 'before another message', history: [one], input: [editedOne, two], answer },
  { because: 'before a late reply to another', history: [one, two, oneReply], input: [editedTwo], answer },
])('record refuses a changed text $because, because something would be lost', async ({ history, input, answer }) => {
  const store = memoryStore({ talk: history });

  const error = await failureOf(talkWith(store).talk.record(input, answer));

  const message = expect.stringMatching(/input\[\d\] is known with another text/);
  expect(error).toMatchObject({ name: 'ConversationConflictError', message });
  expect(await textsIn(store)).toEqual(history.map(({ content }) => content));
});
