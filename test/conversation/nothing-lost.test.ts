import {
  type Conversation,
  type ConversationMessage,
  type ConversationStore,
  type ConversationStoreError,
  memoryStore,
  type StoredMessage,
} from 'context-gateway/conversation';
import { expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, chatWorld, smallTalk, talkWith, textsIn, user, withoutWaits } from './world.js';

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
  { how: 'prepared', ask: (talk: Conversation) => talk.prepare([user(LAMP, 'q')]) },
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
  { how: 'regenerated, with two replies', history: [one, oneReply, assistant('More.', 'n')], ask: regenerate, kept: 1 },
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

test('a reply is not stored after a question that another tab has edited meanwhile', async () => {
  const store = memoryStore();
  const { talk, open, hold } = talkWith(store);
  const slow = hold('/completions');
  const turn = talk.send([user('The lamp is red. Which?', 'q')]);
  await vi.waitFor(async () => expect(await textsIn(store)).toHaveLength(1), { timeout: 30_000 });

  await (await open().prepare('The lamp is blue. Which?', { edit: 'q' })).finish('Blue.');
  slow.open();
  const error = await failureOf(turn);

  expect(error).toMatchObject({ name: 'ConversationConflictError', turn: { text: expect.stringMatching(/./) } });
  expect(await textsIn(store)).toEqual(['The lamp is blue. Which?', 'Blue.']);
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
  { first: 'stopped', second: 'whole', counts: 'second' },
  { first: 'whole', second: 'stopped', counts: 'first' },
  { first: 'whole', second: 'whole', counts: 'second' },
])('of two replies to a question that two tabs ask, the last whole one counts: $first, then $second', async (order) => {
  const store = memoryStore({ talk: [one] });
  const { talk, open } = talkWith(store);
  const turn = await talk.prepare([one]);
  const other = await open().prepare([one]);

  await other.finish({ content: 'first', stopped: order.first === 'stopped' });
  await turn.finish({ content: 'second', stopped: order.second === 'stopped' });

  const { prompt } = await open().prepare('Two?');
  expect(prompt.map(({ content }) => content)).toEqual(['One?', order.counts, 'Two?']);
});

test.each([
  { how: 'a regenerated reply', ask: regenerate },
  { how: 'a reply to a question that was sent again', ask: send(one) },
])('$how that a full disk refused can be added from its error', async ({ ask }) => {
  const { store, talk, repair } = fullDisk();
  const { turn } = (await failureOf(ask(talk))) as ConversationStoreError;
  repair();

  for (const _ of ['once', 'twice']) await talk.add(turn?.messages ?? []);

  expect(await textsIn(store)).toEqual(['One?', 'Old.', turn?.text]);
});

test('an edit that a full disk refused is made again: it cannot be added, because it would replace messages', async () => {
  const { store, talk, repair } = fullDisk();
  const edit = () => talk.edit('q1', 'One, edited?').final();
  const { turn } = (await failureOf(edit())) as ConversationStoreError;
  repair();

  expect(await failureOf(talk.add(turn?.messages ?? []))).toMatchObject({ name: 'ConversationConflictError' });
  expect(await textsIn(store)).toEqual(['One?', 'Old.']);
  await edit();
  expect(await textsIn(store)).toEqual(['One, edited?', turn?.text]);
});

/** A conversation with one turn, on a disk that is full until it is repaired. */
function fullDisk() {
  const store = memoryStore({ talk: [one, reply('Old.', 'q1')] });
  const append = vi.fn(store.append).mockRejectedValue(new Error('disk full'));
  const { talk } = talkWith({ ...store, append }, {}, withoutWaits);
  return { store, talk, repair: () => append.mockImplementation(store.append) };
}

test('a question whose append was committed is known by its id, in a database without times', async () => {
  const store = memoryStore();
  const append = vi.fn(store.append).mockImplementationOnce(async (id, messages, place) => {
    await store.append(id, messages, place);
    throw new Error('connection lost');
  });
  const load: ConversationStore['load'] = async (id) => {
    const { messages = [], ...more } = (await store.load(id)) ?? {};
    return { ...more, messages: messages.map((row) => ({ ...row, createdAt: null })) };
  };

  const { text } = await talkWith({ ...store, load, append }).talk.send('One?');

  expect(await textsIn(store)).toEqual(['One?', text]);
});

test('a question whose append failed is not taken for the same text of another tab', async () => {
  const store = memoryStore();
  const append = vi.fn(store.append).mockImplementationOnce(async (id, [message], place) => {
    await store.append(id, [{ ...message, id: 'theirs' } as StoredMessage], place);
    throw new Error('connection lost');
  });

  const { text } = await talkWith({ ...store, append }, {}, withoutWaits).talk.send('Hi!');

  expect(await textsIn(store)).toEqual(['Hi!', 'Hi!', text]);
});

test('a database may return replyTo as a number', async () => {
  const late = { ...assistant('One.', '3'), replyTo: 1 };
  const store = memoryStore();
  const append = vi.fn(store.append).mockReturnValue(1);
  const load = () => ({ messages: [user('One?', '1'), user('Two?', '2'), late], edits: null });

  await talkWith({ ...store, load, append })
    .talk.regenerate()
    .final();

  expect(append.mock.calls.map(([, [message], place]) => [message?.replyTo, place])).toEqual([['2', { edits: 0 }]]);
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

test('add reads no context', async () => {
  const world = chatWorld();

  await world.open().add([user('One?')]);

  expect(world.count('context')).toBe(0);
});

test('with newest: null, a page that shows no message conflicts only if there is one', async () => {
  const store = memoryStore();
  const { talk, open } = talkWith(store);

  await talk.send('One?', { newest: null });

  expect(await failureOf(open().send('Two?', { newest: null }))).toMatchObject({ name: 'ConversationConflictError' });
  expect(await textsIn(store)).toHaveLength(2);
});

test('what no database can keep is removed from an input before it is stored', async () => {
  const store = memoryStore();
  const more = { note: 'No\0te' }; // a field of the app

  await talkWith(store).talk.send([{ ...user('Half a smile: \ud83d, and a zero: \0.', 'q'), ...more }]);

  const [question] = (await store.load('talk'))?.messages ?? [];
  expect(question).toMatchObject({ content: 'Half a smile: , and a zero: .', note: 'Note' });
});

test('the error of a question that was not stored says nothing of a reply', async () => {
  const append = () => Promise.reject(new Error('disk full'));
  const { talk } = talkWith({ ...memoryStore(), append }, {}, withoutWaits);

  const message = 'Your message could not be stored. Send it again.';
  const expected = { name: 'ConversationStoreError', errorData: { message }, turn: undefined };
  expect(await failureOf(talk.prepare('One?'))).toMatchObject(expected);
});

test('an excluded message stays out of prompts, also of a fork', async () => {
  const store = memoryStore();
  const { talk } = talkWith(store);
  const { messages } = await talk.send('My PIN is 4711.');
  await talk.exclude(String(messages[0]?.id));
  const fork = await talk.fork(String(messages[1]?.id));
  const history = ((await store.load('talk'))?.messages ?? []) as ConversationMessage[];

  const turns = [talk.prepare('Hi?', { history }), fork.prepare('Hi?'), talk.prepare('Hi?')];

  expect((await Promise.all(turns)).map(({ prompt }) => prompt)).toEqual(
    Array(3).fill([{ role: 'user', content: 'Hi?' }]),
  );
});

test('an exclusion by another tab holds', async () => {
  const store = memoryStore();
  const { talk, open } = talkWith(store);
  const { messages } = await talk.send('My PIN is 4711.');

  await open().exclude(String(messages[0]?.id));

  expect(JSON.stringify((await talk.prepare('Two?')).prompt)).not.toContain('4711');
});

test('a stored question finds what the same new question finds, also by the beginning of a word', async () => {
  const history = numbered([user('The refrigeration is made by Nordfrost.', 'fact'), ...smallTalk(120)]);
  const { talk } = talkWith(memoryStore({ talk: history }), { budget: 700 });
  const question = [user('Who sells the refrigerators?', 'q')];
  await talk.add(question);

  const { report } = await talk.prepare(question);

  expect(report.recalled.map(({ id }) => id)).toContain('fact');
});

test('a reply to a question that was sent again is kept, if another tab has stored a turn meanwhile', async () => {
  const store = memoryStore({ talk: [user('One?', 'q'), assistant('Old.', 'r')] });
  const { talk, open, onRequest } = talkWith(store);
  onRequest(async ({ url }) => {
    if (url.endsWith('/completions')) await (await open().prepare('Other?')).finish('Other.');
    return undefined;
  });

  const { text } = await talk.send([user('One?', 'q')]);

  expect(await textsIn(store)).toEqual(['One?', 'Old.', 'Other?', 'Other.', text]);
});
