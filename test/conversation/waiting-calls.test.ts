import { tool } from 'context-gateway';
import { type ConversationMessage, memoryStore, textOf } from 'context-gateway/conversation';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { partsOf } from './parts.js';
import { called, scripted, tide } from './scripted.js';
import { assistant, elsewhere, smallTalk, talkWith, user } from './world.js';

const ask = tool({ name: 'ask' });
const question = [{ role: 'user', content: 'Delete it.', id: 'q' }] as const;
const answer = (id: string, content = 'Yes.'): ConversationMessage => ({ role: 'tool', tool_call_id: id, content });
const calling = { tool_calls: [called('a', {}, 'ask')] };
const textsOf = (rows: readonly object[]): string[] => rows.map(textOf);

/** A conversation in which a call waits, and messages were added behind it. */
async function behind(added: ConversationMessage[], replies: Parameters<typeof scripted>[0], store = memoryStore()) {
  const made = scripted([calling, ...replies], { tools: [ask, tide], store });
  await made.talk.send(question);
  if (added.length > 0) await made.talk.add(added);
  return made;
}

describe('messages behind a call that waits', () => {
  test.each([
    { what: 'of an operator', added: [assistant('One moment.')] },
    { what: 'of the user', added: [user('Are you there?')] },
    { what: 'of both', added: [user('Are you there?'), assistant('One moment.'), user('Well?')] },
    { what: 'in a later order', added: [assistant('One moment.'), user('Well?'), assistant('Yes, yes.')] },
  ])('$what stay behind its result and its reply', async ({ added }) => {
    const { talk, bodies, rows } = await behind(added, [{ content: 'Deleted.' }, { content: 'Fine.' }]);

    const { text, messages } = await talk.send([answer('a')]);

    expect(text).toBe('Deleted.');
    expect(textsOf(messages)).toEqual(['Yes.', 'Deleted.']);
    expect(bodies[1]?.messages).toMatchObject([{ role: 'user' }, { tool_calls: [{ id: 'a' }] }, answer('a')]);
    const texts = ['Delete it.', '', 'Yes.', 'Deleted.', ...textsOf(added)];
    expect(textsOf(await rows())).toEqual(texts);
    expect(textsOf(await talk.messages())).toEqual(texts);
    await talk.send('And?');
    expect(textsOf(bodies[2]?.messages ?? [])).toEqual([...texts, 'And?']);
  });

  test('stay behind all steps of its reply, which are stored at once', async () => {
    const store = memoryStore();
    const stored: string[][] = [];
    const before = async () => stored.push(textsOf((await store.load('talk'))?.messages ?? []));
    const replies = [{ tool_calls: [called('b')] }, { status: 500, before }, { content: 'Deleted.' }];
    const { talk, rows } = await behind([assistant('One moment.')], replies, store);

    await failureOf(talk.send([answer('a')]));
    await talk.send(question);

    const steps = ['Delete it.', '', 'Yes.', '', expect.stringContaining('12:00')];
    expect(stored).toEqual([[...steps, 'One moment.']]);
    expect(textsOf(await rows())).toEqual([...steps, 'Deleted.', 'One moment.']);
  });

  test('keep their marks and their own fields', async () => {
    const { talk, rows } = await behind(
      [{ ...assistant('One moment.', 'o'), mood: 'calm' } as ConversationMessage, user('Well?', 'w')],
      [{ content: 'Deleted.' }],
    );
    await talk.exclude('w');

    await talk.send([answer('a')]);

    expect((await rows()).slice(-2)).toMatchObject([
      { id: 'o', mood: 'calm' },
      { id: 'w', excluded: true },
    ]);
  });

  test('may be a question whose request failed', async () => {
    const { talk, rows } = await behind([], [{ status: 500 }, { content: 'Deleted.' }]);
    await failureOf(talk.send('Well?'));

    await talk.send([answer('a')]);

    expect(textsOf(await rows())).toEqual(['Delete it.', '', 'Yes.', 'Deleted.', 'Well?']);
  });

  test('may be so many that a store returns only them', async () => {
    const { store } = partsOf(memoryStore());
    const made = scripted([calling, { content: 'Deleted.' }], { tools: [ask], store, budget: 500 });
    await made.talk.send(question);
    await made.talk.add(smallTalk(400).map((message) => ({ ...message, role: 'user' })));

    expect((await made.talk.send([answer('a')])).text).toBe('Deleted.');

    expect(textsOf(await made.rows()).slice(0, 5)).toEqual([
      'Delete it.',
      '',
      'Yes.',
      'Deleted.',
      smallTalk(1)[0]?.content,
    ]);
  });

  test('may stand behind calls that an app has added', async () => {
    const { talk, rows } = scripted([{ content: 'Deleted.' }], { tools: [ask] });
    const added = { ...assistant('', 'c'), tool_calls: [called('a', {}, 'ask') as never] };
    await talk.add([...question, added, assistant('One moment.', 'o'), user('Well?', 'w')]);

    await talk.send([answer('a')]);

    expect(textsOf(await rows())).toEqual(['Delete it.', '', 'Yes.', 'Deleted.', 'One moment.', 'Well?']);
    expect(await failureOf(talk.send([answer('a')]))).toMatchObject({ name: 'ConversationConflictError' });
  });

  test('are no second result of one call in two processes', async () => {
    const store = memoryStore();
    const { open, rows } = await behind(
      [user('Well?')],
      [{ content: 'Deleted.' }, { content: 'Deleted, too.' }],
      store,
    );

    const ends = await Promise.allSettled([
      open().send([answer('a')]),
      open(elsewhere(store)).send([answer('a', 'No.')]),
    ]);

    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { name: 'ConversationConflictError' },
    });
    expect((await rows()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  test('are still there when others come while the model replies', async () => {
    const store = memoryStore();
    const before = () => talkWith(elsewhere(store)).talk.add([user('Hurry!')]);
    const { talk, rows } = await behind([user('Well?')], [{ content: 'Deleted.', before }], store);

    await talk.send([answer('a')]);

    expect(textsOf(await rows())).toEqual(['Delete it.', '', 'Yes.', 'Well?', 'Hurry!', 'Deleted.']);
    expect(textsOf(await talk.messages())).toEqual(['Delete it.', '', 'Yes.', 'Deleted.', 'Well?', 'Hurry!']);
  });
});

test('calls that were stored with a reply that was stopped wait, too', async () => {
  const { talk, bodies, rows } = scripted([{ content: 'Deleted.' }], { tools: [ask] });
  const turn = await talk.prepare(question);
  await turn.finish({ content: 'I ask.', tool_calls: calling.tool_calls as never, stopped: true });

  await talk.send([answer('a')]);

  expect(bodies[0]?.messages.slice(1)).toMatchObject([{ tool_calls: [{ id: 'a' }] }, answer('a')]);
  expect(textsOf(await rows())).toEqual(['Delete it.', 'I ask.', 'Yes.', 'Deleted.']);
});

test('late calls wait whose question is older than what is loaded', async () => {
  const { store } = partsOf(memoryStore());
  const { talk, open, bodies, rows } = scripted([{ content: 'Deleted.' }], { tools: [ask], store, budget: 500 });
  const turn = await talk.prepare(question);
  await talk.add(smallTalk(400));
  await turn.finish({ content: '', tool_calls: calling.tool_calls as never });

  await open().send([answer('a')]);

  expect(bodies[0]?.messages.slice(-3)).toMatchObject([{ content: 'Delete it.' }, { tool_calls: [{}] }, answer('a')]);
  expect((await rows()).slice(-2)).toMatchObject([{ replyTo: 'q' }, { replyTo: 'q', content: 'Deleted.' }]);
  expect(await failureOf(open().send([answer('a')]))).toMatchObject({ name: 'ConversationConflictError' });
});

test('calls do not wait once another question has a reply, as the error says', async () => {
  const { talk, bodies } = await behind([], [{ content: 'Here.' }]);
  await talk.send('Are you there?');

  expect(await failureOf(talk.send([answer('a')]))).toMatchObject({
    ...{ name: 'ConversationConflictError', turn: undefined },
    message: expect.stringContaining('were not run: another question has a reply'),
  });
  expect(bodies).toHaveLength(2);
});

test('calls do not wait once their question has another reply', async () => {
  const { talk } = await behind([{ ...assistant('I did it myself.'), replyTo: 'q' }], []);

  expect(await failureOf(talk.send([answer('a')]))).toMatchObject({
    message: expect.stringContaining('does not wait'),
  });
});

describe('the calls that wait', () => {
  const two = [called('a', {}, 'ask'), called('b', {}, 'ask')];

  test('are known in another process, until they have results', async () => {
    const { talk, open } = scripted([{ tool_calls: [...two, called('c')] }, { content: 'Deleted.' }], {
      tools: [ask, tide],
    });
    expect(await open().toolCalls()).toEqual([]);
    const { toolCalls } = await talk.send(question);

    expect(await open().toolCalls()).toEqual(two);
    expect(toolCalls).toEqual(two);
    await talk.add([user('Well?')]);
    expect(await open().toolCalls()).toEqual(two);
    await open().send([answer('a'), answer('b')]);
    expect(await open().toolCalls()).toEqual([]);
  });

  test('are none once another question has a reply, or they have one that failed', async () => {
    const { talk } = scripted([calling, { content: 'Here.' }, calling, { status: 500 }], { tools: [ask] });
    await talk.send(question);
    await talk.send('Are you there?');
    expect(await talk.toolCalls()).toEqual([]);
    await talk.send('Delete it!');

    await failureOf(talk.send([answer('a')]));

    expect(await talk.toolCalls()).toEqual([]);
  });
});
