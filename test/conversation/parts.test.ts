import {
  type ConversationMessage,
  type ConversationStore,
  memoryStore,
  type StoredRow,
  textOf,
} from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { partsOf } from './parts.js';
import { chatWorld, user } from './world.js';

/** 15 tokens each. With a budget of 400 tokens, a turn wants the newest 26. */
const remark = (i: number): ConversationMessage => ({
  id: `m${i}`,
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: `Remark ${i} is about the weather of day ${i}.`,
  createdAt: new Date(Date.UTC(2026, 0, 1) + i * 3.6e6).toISOString(),
});

/** A conversation of 600 messages, one of which is about a lamp, in a store that returns parts. */
function longTalk(more: { messages?: readonly ConversationMessage[]; budget?: number } = {}) {
  const history = Array.from({ length: 600 }, (_, i) => remark(i));
  history[100] = { ...remark(100), content: 'The pier gets a red lamp.' };
  const kept = memoryStore({ talk: more.messages ?? history });
  const { store, read } = partsOf(kept);
  const world = chatWorld();
  const open = (options: { store?: ConversationStore } = {}) =>
    world.open({ context: undefined, budget: more.budget ?? 400, store, ...options });
  const texts = async () => ((await kept.load('talk'))?.messages ?? []).map(({ content }) => content);
  return { world, kept, read, open, texts };
}

test('a turn reads the newest messages, those with its words, and those beside them, however long the conversation', async () => {
  const { world, open, read } = longTalk();

  const { report } = await open().send('Which lamp does the pier get?');

  expect(report.recalled[0]).toMatchObject({
    position: 100,
    id: 'm100',
    text: 'The pier gets a red lamp.',
    match: 'words',
  });
  expect(report.recalled.filter(({ match }) => match === 'beside').map(({ position }) => position)).toContain(101);
  expect(world.prompts[0]?.messages.map(({ content }) => content).join()).toContain('The pier gets a red lamp.');
  expect(read.reduce((sum, rows) => sum + rows)).toBeLessThan(90);
  expect(report.dropped[0]).toMatchObject({ section: 'history', reason: 'budget' });
  expect(report.dropped[0]?.messages).toBeGreaterThan(580);
});

test('finds what it finds with all messages, and counts the same', async () => {
  for (const question of ['Which lamp does the pier get?', 'What was remark 77?']) {
    const part = await longTalk().open().prepare(question);
    const { open, kept: store } = longTalk();
    const all = await open({ store }).prepare(question);

    expect(part.report.recalled.map(({ position, text, match }) => [position, text, match])).toEqual(
      all.report.recalled.map(({ position, text, match }) => [position, text, match]),
    );
    expect([part.start, part.report.dropped]).toEqual([all.start, all.report.dropped]);
  }
});

test('begins with the same bytes, turn after turn, while new messages push older ones out of the part', async () => {
  const { world, open } = longTalk({ budget: 800 });
  for (let i = 0; i < 8; i += 1) await open().send(`And remark ${i + 10}?`);

  const starts = world.prompts.map(({ messages }) => messages[0]?.content);

  expect(new Set(starts).size).toBeLessThanOrEqual(3);
});

test('sends everything as long as it fits, with one load', async () => {
  const { open, read } = longTalk({ messages: [remark(0), remark(1)] });

  const { report } = await open().prepare('And?');

  expect(report.dropped).toEqual([]);
  expect(read).toEqual([2]);
});

test.each([
  ['that is older than the part', 'm100'],
  ['with which the part begins', 'm574'],
  ['in the part', 'm590'],
])('edits a message %s, and removes only what follows it', async (_, id) => {
  const { open, texts } = longTalk();
  const before = await texts();

  await open().edit(id, 'Anything else?').final();

  expect((await texts()).slice(0, -1)).toEqual([...before.slice(0, Number(id.slice(1))), 'Anything else?']);
});

test('knows a question that is older than the part', async () => {
  const { open, texts, world } = longTalk();
  const input = [{ ...user('The pier gets a red lamp.'), id: 'm100' }];

  const { report } = await open().send(input);

  expect((await texts()).length).toBe(601);
  expect(world.prompts[0]?.messages.at(-1)?.content).toBe('The pier gets a red lamp.');
  expect(report.recalled.every(({ position }) => position < 100)).toBe(true);
  expect(await failureOf(open().send([user('Another text?', 'm102')]))).toMatchObject({
    name: 'ConversationConflictError',
  });
});

test('regenerates the reply to a question that is followed by more replies than a part has', async () => {
  const replies = Array.from({ length: 40 }, (_, i) => ({ ...remark(i + 1), role: 'assistant' as const }));
  const { open, texts } = longTalk({ messages: [remark(0), ...replies] });

  await open().regenerate().final();

  expect(await texts()).toHaveLength(2);
});

test('stores a reply after more messages of other processes than a part has', async () => {
  const { open, texts, kept, world } = longTalk();
  world.onRequest(async () => {
    const newest = (await kept.load('talk'))?.messages.at(-1)?.id as string;
    const others = Array.from({ length: 30 }, (_, i) => ({
      ...remark(700 + i),
      id: `o${i}`,
      createdAt: '2026-05-03T09:00:00Z',
    }));
    await kept.append('talk', others, { edits: 0, newest });
  });

  const { text, messages } = await open().send('Which lamp does the pier get?');

  expect((await texts()).at(-1)).toBe(text);
  expect(await texts()).toHaveLength(600 + 1 + 30 + 1);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('forks, excludes and searches messages that are older than the part', async () => {
  const { open, kept } = longTalk();
  const talk = open();

  const fork = await talk.fork('m101');
  await talk.exclude('m100');

  expect((await kept.load(fork.id))?.messages).toHaveLength(102);
  expect(await talk.search('red lamp')).toEqual([]);
  await talk.exclude('m100', { undo: true });
  expect((await talk.search('red lamp'))[0]).toMatchObject({ id: 'm100', position: 100 });
});

test('loads what the own search of an app finds', async () => {
  const { world, kept } = longTalk();
  const { store } = partsOf(kept);
  const talk = world.open({ context: undefined, budget: 400, store, search: () => [{ id: 'm41' }] });

  const [first] = await talk.search('nothing that anyone said');

  expect(first).toMatchObject({ id: 'm41', position: 41, match: 'search' });
});

test('finds the day of the user, where it is another than the day of UTC', async () => {
  const late = { ...remark(100), content: 'The ferry was late.', createdAt: '2026-05-04T03:30:00.000Z' };
  const { kept, world } = longTalk({ messages: [late, ...Array.from({ length: 300 }, (_, i) => remark(i + 101))] });
  const { store } = partsOf(kept);
  const talk = world.open({ context: undefined, budget: 400, store, timeZone: 'America/Los_Angeles' });

  const [first] = await talk.search('What happened on May 3rd?');

  expect(first?.text).toBe('The ferry was late.');
});

test('counts in a receipt all messages that only the history has', async () => {
  const world = chatWorld({
    messages: Array.from({ length: 60 }, (_, i) => ({
      id: `m${i}`,
      role: 'user' as const,
      content: textOf(remark(i)),
    })),
  });
  const { store } = partsOf(memoryStore({ talk: Array.from({ length: 60 }, (_, i) => remark(i)) }));
  const receipts: { onlyInHistory: number }[] = [];
  const talk = world.open({ store, budget: 400, onCompaction: (receipt) => receipts.push(receipt) });
  await talk.prepare('And?');

  await talk.compact('aggressive');
  await talk.idle();

  expect(receipts[0]?.onlyInHistory).toBeGreaterThan(20);
});

test('edits a message in the part when the app has deleted those with which the part began', async () => {
  const { kept } = longTalk();
  const rows = (await kept.load('talk'))?.messages ?? [];
  const gone = new Set(['m574', 'm575', 'm576', 'm577']);
  const edited: unknown[] = [];
  const store: ConversationStore = {
    load: (_, wanted) => {
      const placed = rows.map((row, position) => ({ ...row, position })).filter(({ id }) => !gone.has(String(id)));
      if (wanted === undefined) return { messages: placed, edits: 0 };
      const messages = placed.filter(
        ({ id, position }) => position >= 600 - wanted.newest || wanted.ids.includes(String(id)),
      );
      return { messages, count: 600, edits: 0 };
    },
    append: (_, messages, { after }) => edited.push(after) && messages.length,
    setExcluded: () => {},
  };

  await chatWorld().open({ context: undefined, budget: 400, store }).edit('m578', 'Anything else?').final();

  expect(edited).toEqual(['m573']);
});

test('reads parts of any size: a budget for which a turn wants two thousand messages', async () => {
  const messages = Array.from({ length: 4000 }, (_, i) => remark(i));
  messages[7] = { ...remark(7), content: 'The pier gets a red lamp.' };
  const { open, world, texts } = longTalk({ messages, budget: 50_000 });

  const { report } = await open().send('Which lamp does the pier get?');

  expect(report.recalled[0]?.id).toBe('m7');
  expect(world.prompts[0]?.messages.length).toBeGreaterThan(200);
  await open().send([{ ...user('Remark 3990 is about the weather of day 3990.'), id: 'm3990' }]);
  expect((await texts()).length).toBe(4003);
});

test('a row in a part that is no message fails the turn, and nothing else', async () => {
  const messages = Array.from({ length: 4000 }, (_, i) => remark(i));
  const { store } = partsOf({
    ...memoryStore(),
    load: () => ({ messages: messages.map((one, i) => (i === 3998 ? { ...one, role: 'system' } : one)) }),
  });

  const talk = chatWorld().open({ context: undefined, budget: 50_000, store });

  expect(await failureOf(talk.send('And?'))).toMatchObject({ name: 'ConfigurationError' });
});

test('calls at once on one object do not change what another has loaded', async () => {
  const { open, kept } = longTalk();
  for (let i = 0; i < 5; i += 1) {
    const talk = open();
    const searches = Array.from({ length: i }, () => talk.search('weather'));

    const [fork] = await Promise.all([talk.fork('m590'), ...searches, talk.search('lamp')]);

    expect((await kept.load(fork.id))?.messages).toHaveLength(591);
  }
});

test('begins with the same bytes although the whole part is short', async () => {
  const messages = Array.from({ length: 900 }, (_, i) => ({ ...remark(i), content: `${i}.` }));
  const { open, world } = longTalk({ messages, budget: 7000 });
  for (let i = 0; i < 6; i += 1) await open().send(`And ${i}?`);

  const starts = world.prompts.map((prompt) => prompt.messages[0]);

  expect(new Set(starts.map((one) => one?.content)).size).toBe(1);
  expect(starts[0]?.role).toBe('user');
});

test.each([
  ['a word with digits at its end', 'The covid19 rules of the ferry.', 'What about covid?', {}],
  [
    'a month that begins earlier for the user',
    'The ferry was late.',
    'What did I say in April?',
    { createdAt: '2026-05-01T03:30:00.000Z' },
  ],
  [
    'a weekday that ends later for the user',
    'The ferry was late.',
    'What was on Sunday?',
    { createdAt: '2026-05-04T03:30:00.000Z' },
  ],
])('finds %s as with all messages', async (_, content, question, more) => {
  const messages = [
    { ...remark(0), content, ...more },
    ...Array.from({ length: 300 }, (_, i) => ({ ...remark(i + 1), createdAt: '2026-06-09T12:00:00.000Z' })),
  ];
  const recalled = async (store: ConversationStore) =>
    (
      await chatWorld()
        .open({ context: undefined, budget: 400, store, timeZone: 'America/Los_Angeles' })
        .prepare(question)
    ).report.recalled.map(({ text }) => text);

  expect(await recalled(partsOf(memoryStore({ talk: messages })).store)).toContain(content);
  expect(await recalled(memoryStore({ talk: messages }))).toContain(content);
});

test('takes a load without count for all messages, whatever their position says', async () => {
  const { kept, world } = longTalk();
  const { store } = partsOf(kept);
  const load: ConversationStore['load'] = async (id, wanted) => {
    const loaded = await store.load(id, wanted?.newest ? wanted : undefined);
    return {
      ...loaded,
      messages: (loaded?.messages ?? []).map((row, at) => (wanted?.newest ? row : { ...row, position: at + 1000 })),
    };
  };

  const { report } = await world
    .open({ context: undefined, budget: 400, store: { ...store, load } })
    .prepare('Which lamp does the pier get?');

  expect(report.recalled[0]).toMatchObject({ id: 'm100', position: 100 });
});

test.each([
  ['no positions', { messages: [remark(0), remark(1)], count: 9 }],
  [
    'positions that do not rise',
    {
      messages: [
        { ...remark(0), position: 5 },
        { ...remark(1), position: 5 },
      ],
      count: 9,
    },
  ],
  ['a position above the count', { messages: [{ ...remark(0), position: 9 }], count: 9 }],
  ['a position between two', { messages: [{ ...remark(0), position: 0.5 }], count: 9 }],
])('a part with %s is an error that says what is missing', async (_, part) => {
  const store = { load: () => part };

  expect(await failureOf(chatWorld().open({ context: undefined, store }).send('And?'))).toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining('store.load must return, with count, the position of each message'),
  });
});

/** A store of which a part has one fault. */
function partWith(change: (rows: StoredRow[], count: number) => { messages: StoredRow[]; count: number }) {
  const { kept, world, texts } = longTalk();
  const { store } = partsOf(kept);
  const load: ConversationStore['load'] = async (id, wanted) => {
    const loaded = await store.load(id, wanted);
    if (wanted === undefined) return loaded;
    return { ...loaded, ...change([...(loaded?.messages ?? [])], Number(loaded?.count)) };
  };
  return { talk: world.open({ context: undefined, budget: 400, store: { ...store, load } }), world, texts };
}

test.each([
  ['500 million messages', (count: number) => count + 5e8, 'as count, how many messages the conversation has, not 5'],
  ['no number', () => Number.NaN, 'as count, a whole number'],
  ['one message too many', (count: number) => count + 1, 'not the message at position 600, which is the newest'],
  ['one message too few', (count: number) => count - 1, 'with count, the position of each message'],
])('a count of %s is an error that says so, and nothing is sent or stored', async (_, wrong, said) => {
  const { talk, world, texts } = partWith((messages, count) => ({ messages, count: wrong(count) }));

  expect(await failureOf(talk.send('And?'))).toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining(said),
  });
  expect([world.prompts.length, (await texts()).length]).toEqual([0, 600]);
});

test.each([
  ['a cap on the newest rows', (rows: StoredRow[]) => rows.slice(-6)],
  ['a gap in its middle', (rows: StoredRow[]) => rows.filter(({ position }) => position !== 590)],
])('a part with %s does no harm: the newest messages are sent, and the turn is stored', async (_, change) => {
  const { talk, world, texts } = partWith((rows, count) => ({ messages: change(rows), count }));

  const { text } = await talk.send('And?');

  const sent = world.prompts[0]?.messages.map(({ content }) => content);
  expect(sent?.slice(-4)).toEqual([597, 598, 599].map((i) => remark(i).content).concat('And?'));
  expect((await texts()).slice(-2)).toEqual(['And?', text]);
});

test('a part that lacks the newest message is an error that says so', async () => {
  const { talk } = partWith((rows, count) => ({ messages: rows.slice(0, -1), count }));

  expect(await failureOf(talk.send('And?'))).toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining('not the message at position 599, which is the newest'),
  });
});

test('short messages that fit the budget are all sent, as by a store that returns all', async () => {
  const messages = Array.from({ length: 700 }, (_, i) => ({ ...remark(i), content: i % 2 ? 'Noted.' : `Ok, ${i}.` }));
  messages[20] = { ...remark(20), content: 'My dog is called Rex.' };
  const { open, read } = longTalk({ messages, budget: 16_000 });

  const part = await open().prepare('What is the name of my pet?');
  const all = await open({ store: memoryStore({ talk: messages }) }).prepare('What is the name of my pet?');

  expect(part.prompt).toEqual(all.prompt);
  expect(part.prompt).toHaveLength(701);
  expect([part.start, part.report.dropped]).toEqual([0, []]);
  expect(read).toHaveLength(2);
});

/** 600 remarks, of which some are others. */
const remarksWith = (others: Record<number, Partial<ConversationMessage>>) =>
  Array.from({ length: 600 }, (_, i) => ({ ...remark(i), ...others[i] }));

test.each([
  { what: 'that names it', names: { replyTo: 'm10' }, at: 101 },
  { what: 'behind it', names: {}, at: 11 },
])('the reply $what is neither recalled nor found if its question is excluded', async ({ names, at }) => {
  const question = { content: 'Which one?', excluded: true };
  const messages = remarksWith({ 10: question, [at]: { content: 'The pier gets a red lamp.', ...names } });
  const { open, world } = longTalk({ messages });

  await open().send('Does the pier get a lamp?');

  expect(JSON.stringify(world.prompts)).not.toContain('red lamp');
  expect(JSON.stringify(await open().search('red lamp'))).not.toContain('red lamp');
});

test('a reply is neither recalled nor found after a late one has replaced it', async () => {
  const question = { ...user('Which lamp does the pier get?', 'm10') };
  const messages = remarksWith({ 10: question, 11: { content: 'The pier gets a red lamp.', replyTo: 'm10' } });
  const { open, world } = longTalk({ messages });

  await (await open().prepare([question])).finish('The pier gets a blue lamp.');
  await open().send('Does the pier get a lamp?');

  expect(JSON.stringify(world.prompts)).toContain('blue lamp');
  expect(JSON.stringify(world.prompts)).not.toContain('red lamp');
  expect(JSON.stringify(await open().search('red lamp'))).not.toContain('red lamp');
});

test.each([
  ['a late reply', { 10: { excluded: true }, 599: { content: 'The pier gets a red lamp.', replyTo: 'm10' } }],
  ['the first reply of a part', { 574: { excluded: true }, 575: { content: 'The pier gets a red lamp.' } }],
])('%s is excluded with its question, which is older than the part', async (_, changed) => {
  const talk = longTalk({ messages: [...remarksWith(changed), remark(600)] });

  await talk.open().send('Does the pier get a lamp?');

  expect(JSON.stringify(talk.world.prompts)).not.toContain('red lamp');
  expect(JSON.stringify(await talk.open().search('red lamp'))).not.toContain('red lamp');
});

test('an old message is excluded although a search loads meanwhile', async () => {
  const { world, kept } = longTalk();
  const talk = world.open({ budget: 400, store: partsOf(kept).store });
  world.onRequest(({ url }) => (url.includes('/exclude') ? talk.search('weather').then(() => {}) : undefined));

  await talk.exclude('m100');

  expect((await kept.load('talk'))?.messages[100]).toMatchObject({ id: 'm100', excluded: true });
});

test.each([25, 26, 27])('pages of %i messages begin with one of the user, and are all messages', async (limit) => {
  const messages = [...remarksWith({}), remark(600)]; // a part of 26 begins with a reply
  const talk = longTalk({ messages }).open();
  const pages: (readonly ConversationMessage[])[] = [];

  for (let page = await talk.messages({ limit }); page.length > 0; ) {
    pages.unshift(page);
    page = await talk.messages({ limit, before: page[0]?.id });
  }

  expect(new Set(pages.map(([first]) => first?.role))).toEqual(new Set(['user']));
  expect(pages.flat().map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
});
