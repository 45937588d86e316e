import { tool } from 'context-gateway';
import {
  type ConversationMessage,
  type ConversationStore,
  memoryStore,
  type ReplyPart,
  type StoredMessage,
  textOf,
  toResponse,
} from 'context-gateway/conversation';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { failureOf } from '../helpers/service.js';
import { partsOf } from './parts.js';
import { called, result, scripted, tide } from './scripted.js';
import { assistant, elsewhere, smallTalk, talkWith, user, withoutWaits } from './world.js';

const circular: Record<string, unknown> = {};
circular.itself = circular;
const question = [{ role: 'user', content: 'When?', id: 'q' }] as const;
const ask = tool({ name: 'ask' });
const answer = (id: string, content = 'Yes.'): ConversationMessage => ({ role: 'tool', tool_call_id: id, content });
const roles = (rows: readonly object[]): string => rows.map((row) => (row as { role: string }).role).join(' ');

/** Leaves a loop at its first piece, which stops the reply. */
async function stoppedAtFirst(reply: AsyncIterable<string>): Promise<void> {
  for await (const _ of reply) break;
}

/** Another process replaces what follows a message. */
async function replace(store: ConversationStore, after: string): Promise<void> {
  const { messages = [], edits = 0 } = (await store.load('talk')) ?? {};
  await store.append?.('talk', [], { edits: Number(edits), newest: String(messages.at(-1)?.id), after });
}

describe('beside other processes', () => {
  test('a step excludes no whole reply that was stored meanwhile, and is not sent beside it', async () => {
    const store = memoryStore();
    const late = { ...assistant('Soon.', 'late'), createdAt: '2026-01-01T00:00:00.000Z', replyTo: 'q' };
    const before = async () => {
      await talkWith(elsewhere(store)).talk.add([late]);
      await replace(store, 'late');
    };
    const replies = [{ tool_calls: [called('a')], before }, { status: 500 }];
    const { talk, open, rows } = scripted(replies, { store });

    await failureOf(talk.send(question));

    expect((await rows()).find(({ id }) => id === 'late')).not.toHaveProperty('excluded', true);
    expect(textOf((await open().prepare('And?')).prompt[1] ?? {})).toBe('Soon.');
  });

  test('what was replaced of a reply is stored again with its end', async () => {
    const store = memoryStore();
    const replies = [
      { tool_calls: [called('a')] },
      { tool_calls: [called('b')], before: () => replace(store, 'q') },
      { content: 'At noon.' },
    ];
    const { talk, rows } = scripted(replies, { store });

    const { messages } = await talk.send(question);

    expect(roles(await rows())).toBe('user assistant tool assistant tool assistant');
    expect(await rows()).toEqual(messages);
  });

  test('one call gets one result, and one reply', async () => {
    const { talk, open, rows } = scripted(
      [{ tool_calls: [called('b', {}, 'ask')] }, { content: 'Deleted.' }, { content: 'Deleted, too.' }],
      { tools: [ask] },
    );
    await talk.send('Delete it.');

    const ends = await Promise.allSettled([open().send([answer('b')]), open().send([answer('b', 'No.')])]);

    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { name: 'ConversationConflictError' },
    });
    expect(roles(await rows())).toBe('user assistant tool assistant');
  });

  test('a result that is sent again in two processes gets one reply', async () => {
    const replies = [
      { tool_calls: [called('b', {}, 'ask')] },
      { status: 500 },
      { content: 'Deleted.' },
      { content: 'Deleted, too.' },
    ];
    const { talk, open, rows } = scripted(replies, { tools: [ask] });
    await talk.send('Delete it.');
    await failureOf(talk.send([answer('b')]));

    const ends = await Promise.allSettled([open().send([answer('b')]), open().send([answer('b')])]);

    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { name: 'ConversationConflictError', turn: { text: expect.stringContaining('Deleted') } },
    });
    expect(roles(await rows())).toBe('user assistant tool assistant');
  });
});

describe('calls that wait', () => {
  const waiting = [{ tool_calls: [called('a', {}, 'ask'), called('b', {}, 'ask')] }];

  test('get their results together', async () => {
    const { talk, bodies, rows } = scripted([...waiting, { content: 'Deleted.' }], { tools: [ask] });
    await talk.send('Delete both.');

    expect(await failureOf(talk.send([answer('a')]))).toMatchObject({
      name: 'RequestValidationError',
      message: expect.stringContaining('b is missing'),
    });
    expect(await rows()).toHaveLength(2);
    expect((await talk.send([answer('b', 'No.'), answer('a')])).text).toBe('Deleted.');
    expect(bodies[1]?.messages.slice(2)).toEqual([answer('b', 'No.'), answer('a')]);
  });

  test.each(['with the same id', 'without an id'])('a result whose request failed is sent again %s', async (how) => {
    const id = how.startsWith('with the') ? { id: 'r' } : {};
    const replies = [{ tool_calls: [called('b', {}, 'ask')] }, { status: 500 }, { content: 'Deleted.' }];
    const { talk, bodies, rows } = scripted(replies, { tools: [ask] });
    await talk.send('Delete it.');
    await failureOf(talk.send([{ ...answer('b'), ...id }]));

    expect((await talk.send([{ ...answer('b'), ...id }])).text).toBe('Deleted.');

    expect(bodies[2]?.messages).toEqual(bodies[1]?.messages);
    expect(roles(await rows())).toBe('user assistant tool assistant');
    expect(await failureOf(talk.send([answer('b')]))).toMatchObject({ name: 'ConversationConflictError' });
  });

  test('a text that was stopped after a result is replaced when it is sent again', async () => {
    const { talk, rows } = scripted(
      [{ tool_calls: [called('b', {}, 'ask')] }, { content: 'Delet' }, { content: 'Done.' }],
      {
        tools: [ask],
      },
    );
    await talk.send('Delete it.');
    await stoppedAtFirst(talk.stream([answer('b')]));
    expect((await rows()).at(-1)).toMatchObject({ content: 'Delet', stopped: true });

    await talk.send([answer('b')]);

    expect((await rows()).map(textOf)).toEqual(['Delete it.', '', 'Yes.', 'Done.']);
  });

  test('a call with the id of an earlier one of its turn is answered', async () => {
    const replies = [
      { tool_calls: [called('a', {}, 'ask')] },
      { tool_calls: [called('a', {}, 'ask')] },
      { content: 'Deleted.' },
    ];
    const { talk, rows } = scripted(replies, { tools: [ask] });
    await talk.send('Delete it.');
    expect((await talk.send([answer('a')])).toolCalls).toMatchObject([{ id: 'a' }]);

    expect((await talk.send([answer('a', 'Really.')])).text).toBe('Deleted.');
    expect((await rows()).map(textOf)).toEqual(['Delete it.', '', 'Yes.', '', 'Really.', 'Deleted.']);
  });

  test('not those after maxSteps, but those of tools that the service knows', async () => {
    const { talk, errors } = scripted([{ tool_calls: [called('a')] }, { tool_calls: [called('b')] }], { maxSteps: 1 });

    const turn = await talk.send('When?');
    expect(turn).toMatchObject({
      text: '',
      finish_reason: 'tool_calls',
      steps: [{}, { calls: [{ call: { id: 'b' } }] }],
    });
    expect(turn.toolCalls).toBeUndefined();
    expect(errors).toMatchObject([{ message: expect.stringContaining('after 1 steps. Raise maxSteps') }]);
    const other = scripted([{ tool_calls: [called('c')] }], { tools: [] });
    expect(await other.talk.send('When?')).toMatchObject({ toolCalls: [{ id: 'c' }] });
  });
});

describe('a turn that fails after a step', () => {
  test.each([[], [{ ...assistant('So'), replyTo: 'q', reply: 'r', stopped: true as const }]])(
    'goes on after its results when it is regenerated: a tool may have done what must not be done twice (%#)',
    async (...part) => {
      const step = { replyTo: 'q', reply: 'r' };
      const calls = { ...assistant(''), ...step, id: 'c', tool_calls: [called('a')] };
      const store = memoryStore({ talk: [...question, calls, { ...answer('a'), ...step, id: 't' }, ...part] });
      const { talk, rows } = scripted([{ content: 'At noon.' }], { store });

      await talk.regenerate().final();

      expect((await rows()).map(textOf)).toEqual(['When?', '', 'Yes.', 'At noon.']);
    },
  );

  test.each(['edit', 'regenerate'] as const)('keeps it where nothing whole is replaced: %s', async (how) => {
    const parts = how === 'edit' ? assistant('Soon.') : { ...assistant('So'), stopped: true };
    const store = memoryStore({ talk: [...question, { ...parts, id: 'a', replyTo: 'q' }] });
    const { talk, rows } = scripted([{ tool_calls: [called('a')] }, { status: 500 }], { store });

    const reply = how === 'edit' ? talk.edit('q', 'When exactly?') : talk.regenerate();

    expect(await failureOf(reply.final())).toMatchObject({ status: 500 });
    expect((await rows()).map(textOf)).toEqual([how === 'edit' ? 'When exactly?' : 'When?', '', result]);
  });

  test('changes nothing where it would replace a whole reply', async () => {
    const store = memoryStore({ talk: [...question, { ...assistant('Soon.', 'a'), replyTo: 'q' }] });
    const { talk, rows } = scripted([{ tool_calls: [called('a')] }, { status: 500 }], { store });

    await failureOf(talk.regenerate().final());

    expect((await rows()).map(textOf)).toEqual(['When?', 'Soon.']);
  });

  test('the text of a step is no whole reply', async () => {
    const replies = [{ content: 'I look.', tool_calls: [called('a')] }, { status: 500 }, { content: 'At n' }];
    const { talk, rows } = scripted(replies);
    await failureOf(talk.send(question));

    await stoppedAtFirst(talk.stream(question));

    expect((await rows()).map(textOf)).toEqual(['When?', 'I look.', result, 'At n']);
  });

  test('the error of a store has the turn with its steps', async () => {
    const store = memoryStore({ talk: [...question] });
    const failing = {
      ...store,
      append: (...given: Parameters<NonNullable<typeof store.append>>) =>
        given[1].some(({ role }) => role === 'tool') ? Promise.reject(new Error('Full.')) : store.append(...given),
    };
    const { talk } = scripted([{ tool_calls: [called('a')] }], { store: failing }, withoutWaits);

    const failure = await failureOf(talk.send(question));

    expect(failure).toMatchObject({ name: 'ConversationStoreError', turn: { steps: [{ calls: [{ result }] }] } });
    expect(roles((failure as { turn: { messages: StoredMessage[] } }).turn.messages)).toBe('user assistant tool');
  });
});

describe('the room of a prompt', () => {
  const tokensOf = (value: unknown): number => JSON.stringify(value).length / 4;
  const small = { budget: 1_000, contextWindow: 2_000, countTokens: (text: string) => text.length / 4 };
  const long = `The beginning. ${'x'.repeat(40_000)} The end.`;

  test('a result that is too long is cut in the middle, and the prompt is built around it', async () => {
    const reader = tool({ name: 'read', execute: () => long });
    const store = memoryStore({ talk: smallTalk(60) });
    const { talk, bodies, rows } = scripted([{ tool_calls: [called('a', {}, 'read')] }, { content: 'Read.' }], {
      ...small,
      store,
      tools: [reader],
    });

    const { report } = await talk.send('Read it.', { max_tokens: 100 });

    expect(tokensOf(bodies[1]?.messages)).toBeLessThan(2_100);
    expect(report.tokens.total).toBeLessThanOrEqual(1_900);
    expect(textOf(bodies[1]?.messages.at(-1) ?? {})).toMatch(
      /^The beginning.*characters are left out here.*The end\.$/s,
    );
    expect((await rows()).at(-2)?.content).toBe(long);
  });

  test('also the result of a call that waited', async () => {
    const { talk, bodies } = scripted([{ tool_calls: [called('a', {}, 'ask')] }, { content: 'Read.' }], {
      ...small,
      tools: [ask],
    });
    await talk.send('Read it.');

    expect((await talk.send([answer('a', long)])).text).toBe('Read.');
    expect(tokensOf(bodies[1]?.messages)).toBeLessThan(2_100);
  });

  test('a prompt that became too long is built anew for few of the steps that follow', async () => {
    const turn = await talkWith(memoryStore(), { ...small, contextWindow: 10_000 }).talk.prepare('Go.');
    let built = 0;
    for (let at = 0; at < 100; at += 1) {
      const before = JSON.stringify(turn.prompt).slice(0, -1);
      await turn.step([
        { role: 'assistant', content: null, tool_calls: [called(`${at}`)] },
        answer(`${at}`, `Result ${at}.`.padEnd(1_000, '.')),
      ]);
      built += Number(!JSON.stringify(turn.prompt).startsWith(before));
      expect(turn.report.tokens.total).toBeLessThan(10_000);
    }

    expect(turn.prompt.at(-1)?.content).toMatch(/^Result 99/);
    expect(built).toBeGreaterThan(1);
    expect(built).toBeLessThan(12); // 71 without the room that is freed
  });

  test('the definitions of tools are counted with the instructions', async () => {
    const told = tool({ name: 'told', description: 'x'.repeat(2_000) });
    const { talk } = scripted([], { ...small, tools: [told] });
    const many = ['a', 'b', 'c', 'd'].map((name) => tool({ name, description: 'x'.repeat(2_000) }));

    expect((await talk.prepare('Hello')).report.tokens.instructions).toBeGreaterThan(500);
    expect((await talk.prepare('Hello', { tools: [] })).report.tokens.instructions).toBe(0);
    expect(await failureOf(talk.prepare('Hello', { tools: many }))).toMatchObject({
      name: 'ContextBudgetError',
    });
  });

  test('a prompt with tools says nothing about how texts are counted', async () => {
    const { talk } = scripted([{ tool_calls: [called('a')] }, { content: 'At noon.' }]);
    const before = (await talk.prepare('How deep is the harbour?', { history: [] })).report.tokens.input;

    await talk.send('When?'); // 5 tokens, the service says

    expect((await talk.prepare('How deep is the harbour?', { history: [] })).report.tokens.input).toBe(before);
  });
});

describe('calls', () => {
  test('two with one id have a result each', async () => {
    const count = vi.fn(({ at }: { at?: number }) => `Result ${at}.`);
    const counter = tool({ name: 'count', execute: count });
    const calls = [called('a', { at: 1 }, 'count'), called('a', { at: 2 }, 'count')];
    const { talk, bodies } = scripted([{ tool_calls: calls }, { content: 'Two.' }], { tools: [counter] });

    const { steps } = await talk.send('Count.');

    expect(bodies[1]?.messages.slice(2)).toEqual([answer('a', 'Result 1.'), answer('a', 'Result 2.')]);
    expect(steps).toEqual([
      { text: '', calls: [1, 2].map((at) => ({ call: calls[at - 1], result: `Result ${at}.` })) },
    ]);
  });

  test.each<[unknown, string]>([
    [Symbol('closed'), 'Error: Symbol(closed)'],
    [Object.assign(Object.create(null), { code: 5 }), 'Error: {"code":5}'],
    [{ message: 'Closed.' }, 'Error: Closed.'],
    ['Closed.', 'Error: Closed.'],
    [undefined, 'Error: undefined'],
  ])('what execute throws is a result: %#', async (thrown, expected) => {
    const failing = tool({
      name: 'fail',
      execute: () => {
        throw thrown;
      },
    });
    const { talk, rows } = scripted([{ tool_calls: [called('a', {}, 'fail')] }], { tools: [failing] });

    await talk.send('When?');

    expect(textOf((await rows())[2] ?? {})).toBe(expected);
  });

  test.each<[unknown, string]>([
    [{ depth: 12n }, '{"depth":"12"}'],
    [undefined, 'Done.'],
    [circular, 'cannot be written'],
  ])('whatever execute returns is no error: %#', async (returned, expected) => {
    const { talk, rows } = scripted([{ tool_calls: [called('a', {}, 'odd')] }], {
      tools: [tool({ name: 'odd', execute: () => returned })],
    });

    await talk.send('When?');

    expect(textOf((await rows())[2] ?? {})).toContain(expected);
  });

  test('a stop after a call was named runs it no more', async () => {
    const execute = vi.fn(() => 'Noon.');
    const { talk, rows } = scripted([{ tool_calls: [called('a', {}, 'clock')] }], {
      tools: [tool({ name: 'clock', execute })],
    });
    const stop = new AbortController();

    const reading = async () => {
      for await (const part of talk.stream('When?', { signal: stop.signal }).parts())
        if (part.type === 'call') stop.abort();
    };

    expect(await failureOf(reading())).toMatchObject({ name: 'AbortError' });
    expect(execute).not.toHaveBeenCalled();
    expect((await rows()).map(textOf)).toEqual(['When?', '', 'This call was stopped.']);
  });

  test('the deadline aborts the signal of a tool', async () => {
    const reasons: unknown[] = [];
    const slow = tool({
      name: 'slow',
      execute: (_, { signal }) =>
        new Promise(() => signal.addEventListener('abort', () => reasons.push(signal.reason))),
    });
    const { talk, rows } = scripted([{ tool_calls: [called('a', {}, 'slow')] }], { tools: [slow] });

    expect(await failureOf(talk.send('When?', { deadline: 100 }))).toMatchObject({ kind: 'deadline' });

    expect(reasons).toMatchObject([{ kind: 'deadline' }]);
    expect((await rows()).map(textOf)).toEqual(['When?', '', 'This call was stopped.']);
  });

  test('a stop beside a call that waits ends the turn as stopped', async () => {
    const stop = new AbortController();
    const forever = tool({
      name: 'forever',
      execute: () => {
        queueMicrotask(() => stop.abort());
        return new Promise(() => {});
      },
    });
    const { talk, rows } = scripted([{ tool_calls: [called('a', {}, 'forever'), called('b', {}, 'ask')] }], {
      tools: [forever, ask],
    });

    expect(await failureOf(talk.send('When?', { signal: stop.signal }))).toMatchObject({ name: 'AbortError' });
    expect((await rows()).map(textOf)).toEqual(['When?', '', 'This call was stopped.', 'This call was stopped.']);
  });
});

test('a turn has its steps, and the usage of all its requests', async () => {
  const { talk, rows } = scripted([{ content: 'I look.', tool_calls: [called('a')] }, { content: 'At noon.' }]);

  const { steps, usage, usageEstimated } = await talk.send('When?');

  expect(steps).toEqual([{ text: 'I look.', calls: [{ call: called('a'), result }] }]);
  expect({ usage, usageEstimated }).toEqual({
    usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
    usageEstimated: false,
  });
  const one = { usage: { prompt_tokens: 5 }, model: 'atlas-small' };
  const facts = [{}, { ...one, finish_reason: 'tool_calls' }, {}, { ...one, finish_reason: 'stop' }];
  expect(await rows()).toMatchObject(facts);
});

test('a stream that asks what is being asked has all parts of the other', async () => {
  const { talk } = scripted([{ content: 'I look.', tool_calls: [called('a')] }, { content: 'At noon.' }]);
  const replies = [talk.stream(question), talk.stream(question)];

  const calls = await Promise.all(
    replies.map(async (reply) => {
      const parts: ReplyPart[] = [];
      for await (const part of reply.parts()) if (part.type !== 'text') parts.push(part);
      return parts;
    }),
  );

  expect(calls[0]).toHaveLength(2);
  expect(calls[1]).toEqual(calls[0]);
  expect(replies.map(({ text }) => text)).toEqual(Array(2).fill('I look.\n\nAt noon.'));
});

test('with one of its messages, all of a reply is excluded in the store, and taken in again', async () => {
  const { talk, rows } = scripted([{ tool_calls: [called('a')] }, { content: 'At noon.' }]);
  const { messages } = await talk.send('When?');
  const excluded = async () => (await rows()).map((row) => (row as ConversationMessage).excluded === true);

  await talk.exclude(String(messages[2]?.id));
  expect(await excluded()).toEqual([false, true, true, true]);
  await talk.exclude(String(messages[1]?.id), { undo: true });
  expect(await excluded()).toEqual([false, false, false, false]);
});

test('in a store of parts, no result of an excluded question is found', async () => {
  const step = { replyTo: 'q', reply: 'r' };
  const old = [
    { ...question[0], excluded: true },
    { ...assistant(''), ...step, id: 'c', tool_calls: [called('a')] },
    { ...answer('a', 'The lighthouse is red.'), ...step, id: 't' },
  ] as ConversationMessage[];
  const { store } = partsOf(memoryStore({ talk: [...old, ...smallTalk(400)] }));
  const { talk } = talkWith(store, { budget: 500 });

  expect(await talk.search('lighthouse')).toEqual([]);
  expect((await talk.prepare('Which colour has the lighthouse?')).recalled?.content ?? '').not.toContain('red');
});

test('what a tool throws reaches onError, and arguments of a call that waits are checked', async () => {
  const failing = tool({
    name: 'fail',
    execute: () => {
      throw new RangeError('Closed.');
    },
  });
  const refund = tool({ name: 'refund', parameters: z.object({ order: z.string() }) });
  const { talk, errors } = scripted(
    [{ tool_calls: [called('a', {}, 'fail'), called('b', { nope: 1 }, 'refund')] }, { content: 'Sorry.' }],
    { tools: [failing, refund] },
  );

  const { text, steps } = await talk.send('Refund it.');

  expect(text).toBe('Sorry.');
  expect(steps[0]?.calls.map((one) => one.result)).toEqual([
    'Error: Closed.',
    expect.stringContaining('the arguments do not match: order'),
  ]);
  expect(errors).toMatchObject([{ name: 'RangeError' }, { name: 'TypeError' }]);
});

test('a copy of a tool runs, too', async () => {
  const { talk } = scripted([{ tool_calls: [called('a')] }, { content: 'At noon.' }], { tools: [{ ...tide }] });

  expect((await talk.send('When?')).text).toBe('At noon.');
});

test('a turn has the calls that ran beside one that waits', async () => {
  const { talk } = scripted([{ content: 'I look.', tool_calls: [called('a'), called('b', {}, 'ask')] }], {
    tools: [tide, ask],
  });

  expect(await talk.send('When?')).toMatchObject({
    ...{ text: 'I look.', toolCalls: [{ id: 'b' }] },
    steps: [{ text: '', calls: [{ call: { id: 'a' }, result }] }],
  });
});

test('no result of a tool reaches a page among what was recalled', async () => {
  const step = { replyTo: 'q', reply: 'r' };
  const old = [
    { ...user('The vault?'), id: 'q' },
    { ...assistant(''), ...step, id: 'c', tool_calls: [called('a')] },
    { ...answer('a', 'The vault account of Miller is SECRET-4711.'), ...step, id: 't' },
  ] as ConversationMessage[];
  const { talk } = talkWith(memoryStore({ talk: [...old, ...smallTalk(100)] }), { budget: 600 });
  const ask = async (showResults: boolean) => {
    const response = await toResponse(talk.stream('What about the vault account of Miller?'), { showResults });
    const [recalled = ''] = (await response.text()).split('\n\n');
    return recalled;
  };

  expect(await ask(true)).toContain('SECRET-4711');
  expect(await ask(false)).not.toContain('SECRET-4711');
});

describe('a reply that goes on', () => {
  const replies = [{ tool_calls: [called('b', {}, 'ask')] }, { status: 500 }];

  test.each(['edit', 'regenerate'] as const)(
    'is a conflict after another process has answered the question: %s',
    async (how) => {
      const store = memoryStore();
      const other = async () => {
        const { talk } = scripted([{ content: 'Another reply.' }], { store: elsewhere(store), tools: [ask] });
        await (how === 'edit' ? talk.edit('q', 'Another question?') : talk.regenerate()).final();
      };
      const { talk, rows } = scripted([...replies, { content: 'Stale.', before: other }], { store, tools: [ask] });
      await talk.send(question);
      await failureOf(talk.send([answer('b')]));

      expect(await failureOf(talk.send([answer('b')]))).toMatchObject({
        ...{ name: 'ConversationConflictError', turn: { text: 'Stale.' } },
      });
      const kept = how === 'edit' ? ['Another question?'] : ['When?', '', 'Yes.'];
      expect((await rows()).map(textOf)).toEqual([...kept, 'Another reply.']);
    },
  );

  test('from calls that the app has added excludes nothing', async () => {
    const { talk, rows, bodies } = scripted([{ content: 'Done.' }, { content: 'Fine.' }], { tools: [ask] });
    const calling = { ...assistant('', 'c'), tool_calls: [called('a', {}, 'ask') as never] };
    await talk.add([assistant('Welcome.', 'w'), calling]);

    await talk.send([answer('a')]);

    expect((await rows()).filter((row) => (row as ConversationMessage).excluded)).toEqual([]);
    await talk.send('And?');
    expect(roles(bodies[1]?.messages ?? [])).toBe('assistant assistant tool assistant user');
  });

  test('the same results at the same moment are sent once', async () => {
    const { talk, bodies } = scripted([...replies.slice(0, 1), { content: 'Deleted.' }], { tools: [ask] });
    await talk.send(question);
    const results = [{ ...answer('b'), id: 'r' }];

    const turns = await Promise.all([talk.send(results), talk.send(results)]);

    expect(turns.map(({ text }) => text)).toEqual(['Deleted.', 'Deleted.']);
    expect(bodies).toHaveLength(2);
  });

  test('results beside a history follow their calls', async () => {
    const { talk } = scripted([], { tools: [ask] });
    const history = [...question, { role: 'assistant', content: '', tool_calls: [called('b', {}, 'ask') as never] }];

    const { prompt } = await talk.prepare([answer('b', 'Yes!')], { history });

    expect(prompt.slice(1)).toMatchObject([{ tool_calls: [{ id: 'b' }] }, answer('b', 'Yes!')]);
  });
});

describe('a prepared turn', () => {
  const step = [{ role: 'assistant', content: null, tool_calls: [called('a')] }, answer('a')];

  test('stores a step once that is given again after an error', async () => {
    const whole = memoryStore();
    let fails = true;
    const store = {
      ...whole,
      append: async (...given: Parameters<typeof whole.append>) => {
        const added = await whole.append(...given);
        if (given[1].length > 1 && fails) throw new Error('The response was lost.');
        return added;
      },
      load: (...given: Parameters<typeof whole.load>) =>
        fails && lost ? Promise.reject(new Error('Away.')) : whole.load(...given),
    };
    let lost = false;
    const { talk } = talkWith(store);
    const turn = await talk.prepare('When?');
    lost = true;

    expect(await failureOf(turn.step(step))).toMatchObject({ name: 'ConversationStoreError' });
    fails = false;
    await turn.step(step);
    const { messages, steps } = await turn.finish('At noon.');

    expect((await whole.load('talk'))?.messages).toEqual(messages);
    expect({ roles: roles(messages), steps: steps.length }).toEqual({
      roles: 'user assistant tool assistant',
      steps: 1,
    });
  });

  test('takes no step once it is being finished, and none with results of other calls', async () => {
    const turn = await talkWith(memoryStore()).talk.prepare('When?');
    expect(await failureOf(turn.step([step[0] as never, answer('zz')]))).toMatchObject({
      message: expect.stringContaining('must be the id of a call of this step'),
    });

    const [finished, other] = await Promise.allSettled([turn.finish('At noon.'), turn.step(step)]);

    expect([finished.status, other.status]).toEqual(['fulfilled', 'rejected']);
  });
});

test('long arguments of older steps are left out of a prompt that becomes too long', async () => {
  const write = tool({ name: 'write', execute: () => 'Written.' });
  const long = { text: 'The pier gets a lamp. '.repeat(150) };
  const steps = ['a', 'b', 'c', 'd'].map((id) => ({ tool_calls: [called(id, long, 'write')] }));
  const { talk, bodies } = scripted([...steps, { content: 'Done.' }], {
    ...{ tools: [write], contextWindow: 4_000, budget: 2_000, countTokens: (text: string) => text.length / 4 },
  });

  expect((await talk.send('Write.', { max_tokens: 100 })).text).toBe('Done.');
  expect(JSON.stringify(bodies[4]).length / 4).toBeLessThan(4_200);
});
