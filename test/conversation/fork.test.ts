import {
  type ConversationMessage,
  type ConversationStore,
  memoryStore,
  type StoredRow,
} from 'context-gateway/conversation';
import { expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, numberingStore, smallTalk, talkWith, textsIn, user } from './world.js';

const rowsIn = async (store: ConversationStore, id: string): Promise<StoredRow[]> => [
  ...((await store.load(id))?.messages ?? []),
];

const withReply = (id: string, replyTo: string, more: Partial<ConversationMessage> = {}) => ({
  ...assistant(`Reply ${id}.`, id),
  ...{ replyTo, ...more },
});

/** Two questions at once, whose replies are late and quote other messages, and an ordinary turn. */
const LATE = [
  user('One?', '1'),
  user('Two?', '2'),
  withReply('3', '1', { recalled: [{ id: '2', score: 1, match: 'words' }] }),
  withReply('4', '2'),
  user('Three?', '5'),
  withReply('6', '5', {
    recalled: [
      { id: '1', score: 1, match: 'words' },
      { text: 'Lost.', score: 1, match: 'words' },
    ],
  }),
];

test.each([memoryStore, numberingStore])(
  'what a copy names is in the fork, whoever makes the ids: %o',
  async (make) => {
    const store: ConversationStore = make({ talk: LATE });
    const { talk } = talkWith(store);

    const fork = await talk.fork('6');

    const rows = await rowsIn(store, fork.id);
    const ids = rows.map(({ id }) => id);
    expect(rows.map(({ content }) => content)).toEqual(LATE.map(({ content }) => content));
    expect(rows.map(({ replyTo }) => replyTo && ids.findIndex((id) => String(id) === String(replyTo)))).toEqual(
      [undefined, undefined, 0, 1, undefined, undefined], // the last one follows its question
    );
    const recalled = rows.map((row) =>
      row.recalled?.map(({ id, text }) => text ?? ids.findIndex((one) => String(one) === id)),
    );
    expect(recalled).toEqual([undefined, undefined, [1], undefined, undefined, [0, 'Lost.']]);
    await fork.regenerate().final();
    expect((await textsIn(store, fork.id)).slice(0, 5)).toEqual(LATE.slice(0, 5).map(({ content }) => content));
    expect(await textsIn(store, fork.id)).toHaveLength(6);
  },
);

test('in a fork of one turn, regenerate replaces the reply, also if the database makes the ids', async () => {
  const store = numberingStore();
  const { talk } = talkWith(store);
  const { messages } = await talk.send('One?');

  const fork = await talk.fork(String(messages[1]?.id));
  const { text } = await fork.regenerate().final();

  expect(await textsIn(store, fork.id)).toEqual(['One?', text]);
});

test('a long conversation is copied in few steps', async () => {
  const rows = smallTalk(400).map((message, at) => (at % 2 ? { ...message, replyTo: `m${at - 1}` } : message));
  const store = memoryStore({ talk: rows });
  const append = vi.fn(store.append);
  const { talk } = talkWith({ ...store, append });

  await talk.fork('m399');

  expect(append).toHaveBeenCalledTimes(1);
});

test('a store whose rows have no ids works in all that needs none', async () => {
  const rows = [user('The pier gets a red lamp.'), assistant('Noted.')];
  const { talk, prompts } = talkWith({ load: () => ({ messages: rows }) });

  await talk.send('Which lamp does the pier get?');
  await talk.record('And the harbour?', { text: 'A green one.' });
  expect(await talk.search('lamp')).toHaveLength(1);
  expect((await talk.buildMessages('Which lamp?')).messages).toHaveLength(3);
  expect(await talk.contextMessage('Which lamp?')).toMatchObject({ role: 'user' });
  expect(await talk.lost()).toEqual([]);

  expect(prompts).toHaveLength(1);
});

test.each<[string, (talk: ReturnType<typeof talkWith>['talk']) => Promise<unknown>]>([
  ['send', (talk) => talk.send('One?')],
  ['record', (talk) => talk.record('One?')],
  ['regenerate', (talk) => talk.regenerate().final()],
  ['edit', (talk) => talk.edit('m1', 'One?').final()],
  ['fork', (talk) => talk.fork('m1')],
  ['newest', (talk) => talk.send('One?', { newest: 'm1' })],
])('a store whose rows have no ids is named by what needs them: %s', async (_, use) => {
  const append = vi.fn();
  const { talk, prompts } = talkWith({ load: () => ({ messages: [user('Hello?'), assistant('Hi.')] }), append });

  const message = expect.stringContaining('store.load must return the id of each message');
  expect(await failureOf(use(talk))).toMatchObject({ name: 'ConfigurationError', message });
  expect(append).not.toHaveBeenCalled();
  expect(prompts).toEqual([]);
});

test('equal questions of one moment get ids of their own in a fork', async () => {
  const createdAt = '2026-01-15T10:00:00.000Z';
  const rows = [user('Yes?', '1'), user('Yes?', '2'), withReply('3', '1'), withReply('4', '2')];
  const store = numberingStore({ talk: rows.map((row) => ({ ...row, createdAt })) });
  const { talk } = talkWith(store);

  const fork = await talk.fork('4');

  const copied = await rowsIn(store, fork.id);
  const ids = copied.map(({ id }) => String(id));
  expect(copied.map(({ replyTo }) => (replyTo ? ids.indexOf(String(replyTo)) : undefined))).toEqual([
    undefined,
    undefined,
    0,
    1,
  ]);
});

test('in a fork of rows that have no ids, a reply names none', async () => {
  const rows = [user('One?'), assistant('One.'), user('Two?', 'q'), assistant('Two.')];
  const store = memoryStore();
  const load = () => ({ messages: rows });
  const append = vi.fn(store.append);
  const { talk } = talkWith({ load, append });

  await talk.fork('q');

  expect(append.mock.calls[0]?.[1].map(({ replyTo }) => replyTo)).toEqual([undefined, undefined, undefined]);
});
