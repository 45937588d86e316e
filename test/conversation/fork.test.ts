import {
  type ConversationMessage,
  type ConversationStore,
  memoryStore,
  type StoredRow,
} from 'context-gateway/conversation';
import { expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, smallTalk, talkWith, textsIn, user } from './world.js';

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

test('a fork has the messages in the order of their turns, with their ids and what they name', async () => {
  const store = memoryStore({ talk: LATE });

  const fork = await talkWith(store).talk.fork('6');

  const rows = await rowsIn(store, fork.id);
  expect(rows).toEqual(['1', '3', '2', '4', '5', '6'].map((id) => expect.objectContaining(LATE[Number(id) - 1])));
  const { text } = await fork.regenerate().final();
  expect((await textsIn(store, fork.id)).slice(4)).toEqual(['Three?', text]);
  expect(await textsIn(store)).toHaveLength(6);
});

test.each([
  { last: 'a question', id: '2', texts: ['One?', 'Reply 3.', 'Two?'] },
  { last: 'a reply', id: '3', texts: ['One?', 'Reply 3.'] },
  { last: 'a late reply', id: '4', texts: ['One?', 'Reply 3.', 'Two?', 'Reply 4.'] },
])('a fork ends with $last', async ({ id, texts }) => {
  const store = memoryStore({ talk: LATE });

  const fork = await talkWith(store).talk.fork(id);

  expect(await textsIn(store, fork.id)).toEqual(texts);
});

test('a long conversation is copied in few steps', async () => {
  const rows = smallTalk(400).map((message, at) => (at % 2 ? { ...message, replyTo: `m${at - 1}` } : message));
  const store = memoryStore({ talk: rows });
  const append = vi.fn(store.append);
  const { talk } = talkWith({ ...store, append });

  await talk.fork('m399');

  expect(append).toHaveBeenCalledTimes(1);
});

const withoutIds = () => ({ messages: [user('The pier gets a red lamp.'), assistant('Noted.')], edits: 0 });

test('a store whose rows have no ids works in all that stores nothing', async () => {
  const { talk, prompts } = talkWith({ load: withoutIds });

  const { text } = await talk.send('Which lamp does the pier get?');
  const turn = await talk.prepare('Which lamp?');

  expect(text).toContain('red lamp');
  expect(turn.messages).toHaveLength(3);
  expect(await turn.finish('A red one.')).toMatchObject({ text: 'A red one.' });
  expect(await talk.search('lamp')).toHaveLength(1);
  expect(await talk.messages()).toHaveLength(2);
  expect(await talk.lost()).toEqual([]);
  expect(prompts).toHaveLength(1);
});

const CHANGES: [string, (talk: ReturnType<typeof talkWith>['talk']) => Promise<unknown>][] = [
  ['add', (talk) => talk.add([user('One?')])],
  ['regenerate', (talk) => talk.regenerate().final()],
  ['edit', (talk) => talk.edit('m1', 'One?').final()],
  ['fork', (talk) => talk.fork('m1')],
];

test.each(CHANGES)('%s needs a store with append', async (name, use) => {
  const { talk, prompts } = talkWith({ load: withoutIds });

  const message = `${name} needs a store with append and setExcluded.`;
  expect(await failureOf(use(talk))).toMatchObject({ name: 'ConfigurationError', message });
  expect(prompts).toEqual([]);
});

test.each<(typeof CHANGES)[number]>([
  ['send', (talk) => talk.send('One?')],
  ['prepare', (talk) => talk.prepare('One?')],
  ...CHANGES,
])('a store with append whose rows have no ids is named: %s', async (_, use) => {
  const append = vi.fn();
  const { talk, prompts } = talkWith({ load: withoutIds, append, setExcluded: vi.fn() });

  const message = expect.stringContaining('store.load: messages[0].id is missing');
  expect(await failureOf(use(talk))).toMatchObject({ name: 'ConfigurationError', message });
  expect(append).not.toHaveBeenCalled();
  expect(prompts).toEqual([]);
});
