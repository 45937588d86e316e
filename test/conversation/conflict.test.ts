import { type ConversationMessage, type ConversationStore, memoryStore } from 'context-gateway/conversation';
import { expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, elsewhere, gate, talkWith, textsIn, user, withoutWaits } from './world.js';

const ZERO = [user('Zero?', 'q0'), assistant('Nought.', 'a0')];
const OLD = [...ZERO, user('One?', 'q1'), assistant('Old.', 'a1')];
const OTHER = [user('Other?', 'q9'), assistant('Other.', 'a9')];

type Talk = ReturnType<typeof talkWith>['talk'];
type Does = (talk: Talk) => Promise<unknown>;

const asks: Does = (talk) => talk.send([user('One?', 'q1')]);
const asksBelow =
  (newest: string): Does =>
  (talk) =>
    talk.send([user('One?', 'q1')], { newest });
const repeats: Does = (talk) => talk.regenerate().final();
const edits: Does = (talk) => talk.edit('q1', 'One, edited?').final();
const adds: Does = (talk) => talk.add([user('One?', 'q1'), { ...assistant('One.', 'a1'), replyTo: 'q1' }]);

/** What another process does meanwhile. */
const TAB: Record<string, Does> = {
  'adds a turn': (talk) => talk.add(OTHER),
  'adds the same question': (talk) => talk.add([user('One?', 'q1')]),
  'adds the same id with another text': (talk) => talk.add([user('Two?', 'q1')]),
  'answers the same question': async (talk) => (await talk.prepare([user('One?', 'q1')])).finish('Elsewhere.'),
  'edits the question': async (talk) => (await talk.prepare('Edited?', { edit: 'q1' })).finish('Elsewhere.'),
  'edits an earlier question': async (talk) => (await talk.prepare('Edited?', { edit: 'q0' })).finish('Elsewhere.'),
};

/** A turn in one process, and what another one does before its first `append`, or while its reply is generated. */
async function played(how: Does, tab: string, when: 'append' | 'reply', history: readonly ConversationMessage[]) {
  const store = memoryStore({ talk: history });
  let isDone = false;
  const meanwhile = async (): Promise<void> => {
    if (isDone) return;
    isDone = true;
    await TAB[tab]?.(talkWith(elsewhere(store)).talk);
  };
  const append: ConversationStore['append'] = async (...given) => {
    if (when === 'append') await meanwhile();
    return store.append(...given);
  };
  const { talk, emulator, onRequest, prompts } = talkWith({ ...store, append });
  emulator.chat.on(/./, 'Ours.');
  onRequest(({ url }) => (when === 'reply' && url.endsWith('/completions') ? meanwhile() : undefined));
  const end = await how(talk).catch((error) => error);
  // The first message of each prompt.
  const sent = prompts.map(({ messages }) => messages[0]?.content);
  return { end, sent, texts: (await textsIn(store)).join(' ') };
}

test.each<[how: string, tab: string, does: Does, texts: string, sent: string[]]>([
  ['a question', 'adds a turn', asks, 'Zero? Nought. Other? Other. One? Ours.', ['Zero?']],
  ['a question begins again', 'edits an earlier question', asks, 'Edited? Elsewhere. One? Ours.', ['Edited?']],
  ['messages', 'adds a turn', adds, 'Zero? Nought. Other? Other. One? One.', []],
  ['messages', 'adds the same question', adds, 'Zero? Nought. One? One.', []],
  ['messages', 'edits an earlier question', adds, 'Edited? Elsewhere. One? One.', []],
])('%s: stored, although another process first %s', async (_, tab, does, texts, sent) => {
  const { end, ...now } = await played(does, tab, 'append', ZERO);

  expect(end).not.toBeInstanceOf(Error);
  expect(now).toEqual({ texts, sent });
});

test.each<[how: string, tab: string, does: Does, texts: string]>([
  ['a question', 'adds the same question', asks, 'Zero? Nought. One?'],
  ['a question', 'adds the same id with another text', asks, 'Zero? Nought. Two?'],
  ['a question of a page', 'adds a turn', asksBelow('a0'), 'Zero? Nought. Other? Other.'],
  ['a question of a page', 'edits an earlier question', asksBelow('a0'), 'Edited? Elsewhere.'],
  ['a message', 'adds the same id with another text', (talk) => talk.add([user('One?', 'q1')]), 'Zero? Nought. Two?'],
])('%s: a conflict, and nothing is sent, because another process first %s', async (_, tab, does, texts) => {
  const { end, ...now } = await played(does, tab, 'append', ZERO);

  expect(end).toMatchObject({ name: 'ConversationConflictError', turn: undefined });
  expect(now).toEqual({ texts, sent: [] });
});

test.each<[how: string, tab: string, does: Does, texts: string]>([
  ['a question', 'adds a turn', asks, 'Zero? Nought. One? Other? Other. Ours.'],
  ['a question', 'answers the same question', asks, 'Zero? Nought. One? Elsewhere. Ours.'],
  ['another reply', 'adds a turn', repeats, 'Zero? Nought. One? Old. Other? Other. Ours.'],
  ['another reply', 'answers the same question', repeats, 'Zero? Nought. One? Elsewhere. Ours.'],
])('%s: its reply is added, although another process %s', async (_, tab, does, texts) => {
  const { end, ...now } = await played(does, tab, 'reply', does === asks ? ZERO : OLD);

  expect(end).toMatchObject({ text: 'Ours.' });
  expect(now.texts).toBe(texts);
});

test.each<[how: string, tab: string, does: Does, texts: string]>([
  ['a question', 'edits the question', asks, 'Zero? Nought. Edited? Elsewhere.'],
  ['a question', 'edits an earlier question', asks, 'Edited? Elsewhere.'],
  ['another reply', 'edits the question', repeats, 'Zero? Nought. Edited? Elsewhere.'],
  ['another reply', 'edits an earlier question', repeats, 'Edited? Elsewhere.'],
  ['an edit', 'adds a turn', edits, 'Zero? Nought. One? Old. Other? Other.'],
  ['an edit', 'answers the same question', edits, 'Zero? Nought. One? Elsewhere.'],
  ['an edit', 'edits the question', edits, 'Zero? Nought. Edited? Elsewhere.'],
  ['an edit', 'edits an earlier question', edits, 'Edited? Elsewhere.'],
])('%s: a conflict, which has the reply, because another process %s', async (_, tab, does, texts) => {
  const { end, ...now } = await played(does, tab, 'reply', does === asks ? ZERO : OLD);

  expect(end).toMatchObject({ name: 'ConversationConflictError', turn: { text: 'Ours.' } });
  expect(now.texts).toBe(texts);
});

test('a reply is not added to a question that another process has removed', async () => {
  const store = memoryStore({ talk: OLD });
  const append = vi.fn(async (...given: Parameters<typeof store.append>) => {
    if (append.mock.calls.length === 1) store.append('talk', [], { edits: 0, after: null });
    return store.append(...given);
  });

  const { talk } = talkWith({ ...store, append });

  expect(await failureOf(talk.add([{ ...assistant('Late.', 'a5'), replyTo: 'q0' }]))).toMatchObject({
    message: expect.stringContaining('The question that the reply a5 names is not stored'),
  });
  expect(await textsIn(store)).toEqual([]);
});

test.each([
  { edits: 3, ends: 'its reply', calls: 1 },
  { edits: 4, ends: 'a conflict', calls: 0 },
])('a question that finds the conversation edited $edits times ends with $ends', async ({ edits, calls }) => {
  const store = memoryStore({ talk: ZERO });
  let left = edits;
  const append: ConversationStore['append'] = (...given) => {
    if (left > 0) store.append('talk', [], { edits: edits - left, after: 'a0' });
    left -= 1;
    return store.append(...given);
  };
  const { talk, prompts } = talkWith({ ...store, append });

  const [end] = await Promise.allSettled([talk.send('One?')]);

  expect(end.status).toBe(calls === 1 ? 'fulfilled' : 'rejected');
  expect(prompts).toHaveLength(calls);
  expect(await textsIn(store)).toHaveLength(2 + 2 * calls);
});

test.each<[how: string, does: Does, texts: string]>([
  ['a question', asks, 'Zero? Nought. One? Ours.'],
  ['another reply', repeats, 'Zero? Ours.'],
  ['an edit', (talk) => talk.edit('q0', 'One?').final(), 'One? Ours.'],
  ['messages', adds, 'Zero? Nought. One? One.'],
])('%s: stored once, although each response of the store is lost', async (_, does, texts) => {
  const store = memoryStore({ talk: ZERO });
  const append = vi.fn((...given: Parameters<typeof store.append>) => {
    store.append(...given);
    throw new Error('The connection was closed.');
  });
  const { talk, emulator, prompts } = talkWith({ ...store, append }, {}, withoutWaits);
  emulator.chat.on(/./, 'Ours.');

  await does(talk);

  expect((await textsIn(store)).join(' ')).toBe(texts);
  expect(append).toHaveBeenCalledTimes(does === asks ? 2 : 1); // nothing is stored that is there
  expect(prompts.length).toBeLessThanOrEqual(1);
});

test.each([
  { failures: 1, ends: 'is sent', waits: [200], calls: 1 },
  { failures: 2, ends: 'is sent', waits: [200, 1_000], calls: 1 },
  { failures: 3, ends: 'is not sent', waits: [200, 1_000], calls: 0 },
])('a question that the store fails to add $failures times $ends', async ({ failures, waits, calls }) => {
  const store = memoryStore();
  const append = vi.fn(store.append);
  for (let left = failures; left > 0; left -= 1) append.mockRejectedValueOnce(new Error('The database restarts.'));
  const setTimer = vi.fn(withoutWaits.setTimer);
  const { talk, prompts } = talkWith({ ...store, append }, {}, { ...withoutWaits, setTimer });

  const [end] = await Promise.allSettled([talk.send('One?')]);

  if (calls === 0) expect(end).toMatchObject({ reason: { name: 'ConversationStoreError', turn: undefined } });
  expect(setTimer.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 200 || ms === 1_000)).toEqual(waits);
  expect(prompts).toHaveLength(calls);
  expect(await textsIn(store)).toHaveLength(2 * calls);
});

test('an edit does not replace another one, although the newest message has the same id again', async () => {
  const store = memoryStore({ talk: [user('First?', 'q1'), assistant('First.', 'a1'), user('Second?', 'q2')] });
  const { open, emulator, onRequest, prompts } = talkWith(store);
  emulator.chat.on(/by A/, 'Reply to A.');
  emulator.chat.on(/by B/, 'Reply to B.');
  const held = gate();
  onRequest(({ url }) => (url.endsWith('/completions') && prompts.length === 1 ? held.passed : undefined));
  const one = failureOf(open().edit('q1', 'First, edited by A?').final());
  await vi.waitFor(() => expect(prompts).toHaveLength(1), { timeout: 30_000 });
  await open().edit('q1', 'First, edited by B?').final();
  await talkWith(store).talk.add([user('Second?', 'q2')]);

  held.open();

  expect(await one).toMatchObject({ name: 'ConversationConflictError', turn: { text: 'Reply to A.' } });
  expect(await textsIn(store)).toEqual(['First, edited by B?', 'Reply to B.', 'Second?']);
});

test.each<[how: string, does: Does]>([
  ['a question', asks],
  ['a message', (talk) => talk.add([user('One?', 'q1')])],
])('%s: a conflict if another process stores the id with another text after a failure', async (_, does) => {
  const store = memoryStore({ talk: ZERO });
  const append = vi.fn(store.append).mockImplementationOnce((id, _, place) => {
    store.append(id, [{ ...user('Two?'), id: 'q1', createdAt: '2026-05-03T09:00:00Z' }], place);
    throw new Error('The connection was closed.');
  });
  const { talk, prompts } = talkWith({ ...store, append }, {}, withoutWaits);

  expect(await failureOf(does(talk))).toMatchObject({ name: 'ConversationConflictError', turn: undefined });
  expect(await textsIn(store)).toEqual(['Zero?', 'Nought.', 'Two?']);
  expect(prompts).toEqual([]);
});

test.each([
  { names: 'a reply', given: [{ ...assistant('One.', 'a1'), replyTo: 'a0' }] },
  { names: 'itself', given: [{ ...assistant('One.', 'a1'), replyTo: 'a1' }] },
  { names: 'a later question', given: [{ ...assistant('One.', 'a1'), replyTo: 'q1' }, user('One?', 'q1')] },
])('a reply that names $names is not added', async ({ given }) => {
  const store = memoryStore({ talk: ZERO });

  expect(await failureOf(talkWith(store).talk.add(given))).toMatchObject({
    name: 'ConversationConflictError',
    message: expect.stringContaining('The question that the reply a1 names is not stored'),
  });
  expect(await textsIn(store)).toEqual(['Zero?', 'Nought.']);
});

test.each([
  { behind: 'nothing', more: [], isAsked: true },
  { behind: 'its reply', more: [{ ...assistant('One.', 'a1'), replyTo: 'q1' }], isAsked: false },
  { behind: 'a late reply to another', more: [{ ...assistant('Zero.', 'b0'), replyTo: 'q0' }], isAsked: false },
  { behind: 'another turn', more: OTHER, isAsked: false },
])(
  'a page that shows the message before may ask again, and gets no second reply: behind its question is $behind',
  async ({ more, isAsked }) => {
    const { talk, prompts } = talkWith(memoryStore({ talk: [...ZERO, user('One?', 'q1'), ...more] }));

    const [end] = await Promise.allSettled([asksBelow('a0')(talk)]);

    if (!isAsked) expect(end).toMatchObject({ reason: { name: 'ConversationConflictError', turn: undefined } });
    expect(prompts).toHaveLength(Number(isAsked));
  },
);
