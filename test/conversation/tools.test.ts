import {
  type ConversationMessage,
  type ConversationStore,
  memoryStore,
  type PreparedTurn,
  textOf,
} from 'context-gateway/conversation';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messageTokens, TokenCounter } from '../../src/conversation/prompt/tokens.js';
import { atLength } from '../helpers/endurance.js';
import { failureOf } from '../helpers/service.js';
import { partsOf } from './parts.js';
import { assistant, elsewhere, smallTalk, talkWith, user } from './world.js';

type Sent = PreparedTurn['prompt'][number];

const callOf = (id: string, text = '{"harbour":"Bergen"}') => ({
  id,
  type: 'function' as const,
  function: { name: 'tide', arguments: text },
});
const calling = (...ids: string[]): ConversationMessage => ({
  ...{ role: 'assistant', content: '', tool_calls: ids.map((id) => callOf(id)) },
});
const resultOf = (tool_call_id: string, content = `High tide of ${tool_call_id} is at noon.`): ConversationMessage => ({
  ...{ role: 'tool', content, tool_call_id },
});
const rowsIn = async (store: ConversationStore) => (await store.load('talk'))?.messages ?? [];
const notRun = { role: 'tool', content: 'This call was not run.' };
const image = { type: 'image_url', image_url: { url: 'https://example.com/pier.png' } } as const;
const asked = { type: 'text', text: 'Which lamp is this?' } as const;

test('a step is stored at once, sent with the next prompt of its turn, and with those of later turns', async () => {
  const store = memoryStore();
  const { talk } = talkWith(store);
  const turn = await talk.prepare('When is high tide?');
  const reply = { role: 'assistant', content: null, tool_calls: [callOf('a'), callOf('b')] };

  await turn.step([reply, resultOf('a'), resultOf('b')]);

  expect((await rowsIn(store)).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
  expect(turn.prompt).toMatchObject([{ role: 'user' }, reply, resultOf('a'), resultOf('b')]);
  await turn.step([calling('c'), resultOf('c')]);
  const { messages } = await turn.finish('At noon.');
  const rows = await rowsIn(store);
  expect(rows).toEqual(messages);
  expect(new Set(rows.slice(1).map((row) => (row as ConversationMessage).reply))).toEqual(new Set([turn.replyId]));
  expect(rows.slice(1).every(({ replyTo }) => replyTo === rows[0]?.id)).toBe(true);
  expect(rows.at(-1)?.id).toBe(turn.replyId);
  const next = await talk.prepare('And at night?');
  expect(next.prompt.slice(0, 7)).toMatchObject([...turn.prompt, { role: 'assistant', content: 'At noon.' }]);
});

test('a reply that replaces another is stored with its steps when it has ended', async () => {
  const store = memoryStore({ talk: [user('Tide?', 'q'), calling('old'), resultOf('old'), assistant('Soon.')] });
  const { talk } = talkWith(store);
  const turn = await talk.prepare([user('Tide?', 'q')]);

  await turn.step([calling('a'), resultOf('a')]);
  expect(await rowsIn(store)).toHaveLength(4);
  await turn.finish('At noon.');

  expect((await rowsIn(store)).map(textOf)).toEqual(['Tide?', '', 'High tide of a is at noon.', 'At noon.']);
});

test('an edit stores its steps with its reply', async () => {
  const store = memoryStore({ talk: [user('Tide?', 'q'), assistant('Soon.'), user('Thanks.')] });
  const turn = await talkWith(store).talk.prepare('High tide?', { edit: 'q' });

  await turn.step([calling('a'), resultOf('a')]);
  await turn.finish('At noon.');

  expect((await rowsIn(store)).map(textOf)).toEqual(['High tide?', '', 'High tide of a is at noon.', 'At noon.']);
});

test('a late reply stays one piece behind its question', async () => {
  const store = memoryStore();
  const { talk, open } = talkWith(store);
  const turn = await talk.prepare([user('Tide?', 'q')]);
  await turn.step([calling('a'), resultOf('a')]);
  await (await open().prepare([user('Hello?', 'h')])).finish('Hello.');

  await turn.finish('At noon.');

  const { prompt } = await open().prepare('Well?');
  expect(prompt.map(({ role }) => role).join(' ')).toBe('user assistant tool assistant user assistant user');
  expect((await open().messages()).map(({ excluded }) => excluded)).toEqual(Array(7).fill(undefined));
});

test.each([
  { what: 'nothing more', steps: 1, end: undefined },
  { what: 'a stop before any text', steps: 1, end: { content: '', stopped: true } },
  { what: 'a part of a text', steps: 2, end: { content: 'At n', stopped: true } },
])('a conversation goes on after a step and $what', async ({ steps, end }) => {
  const store = memoryStore();
  const { talk, open } = talkWith(store);
  const turn = await talk.prepare('When is high tide?');
  for (let step = 0; step < steps; step += 1) await turn.step([calling(`a${step}`, `b${step}`), resultOf(`a${step}`)]);
  if (end !== undefined) await turn.finish(end);

  const { prompt } = await open().prepare('And at night?');

  expect(orphansIn(prompt)).toEqual([]);
  expect(prompt.filter(({ content }) => content === notRun.content)).toHaveLength(steps);
  expect(await rowsIn(store)).toHaveLength(1 + 2 * steps + Number(end?.content !== '' && end !== undefined) + 1);
});

test('calls that wait are stored with the reply, and the turn has them', async () => {
  const store = memoryStore();
  const turn = await talkWith(store).talk.prepare('Delete it.');
  const message = { role: 'assistant' as const, content: '', tool_calls: [callOf('a')] };
  const completion = {
    ...{ id: 'c', object: 'chat.completion' as const, created: 1, model: 'm' },
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
  };

  const { toolCalls, text } = await turn.finish(completion);

  expect({ toolCalls, text }).toEqual({ toolCalls: [callOf('a')], text: '' });
  expect((await rowsIn(store))[1]).toMatchObject({ tool_calls: [callOf('a')], finish_reason: 'tool_calls' });
});

test('each call is sent with one result, and each result with its call', async () => {
  const history = [user('Tide?', 'q'), resultOf('x'), calling('a', 'b'), resultOf('b'), resultOf('b', 'Again.')];
  const { talk } = talkWith(memoryStore({ talk: [...history, assistant('Noon.'), resultOf('a')] }));

  const { prompt } = await talk.prepare('And?');

  const sent = [{ role: 'user' }, calling('a', 'b'), resultOf('b'), { ...notRun, tool_call_id: 'a' }];
  expect(prompt).toMatchObject([
    ...sent.map((message) => ({ ...message, ...('tool_calls' in message && { content: null }) })),
    { role: 'assistant', content: 'Noon.' },
    { role: 'user' },
  ]);
});

test('with one of its messages, all of a reply is excluded', async () => {
  const store = memoryStore();
  const { talk, open } = talkWith(store);
  const turn = await talk.prepare('Tide?');
  await turn.step([calling('a'), resultOf('a', 'The lighthouse says noon.')]);
  const { messages } = await turn.finish('At noon.');

  await talk.exclude(String(messages[2]?.id));

  const { prompt } = await open().prepare('And?');
  expect(prompt.map(({ content }) => content)).toEqual(['Tide?', 'And?']);
  expect(await open().search('lighthouse noon')).toEqual([]);
});

test('a question with an image is stored, sent while it is new, and found by its text', async () => {
  const store = memoryStore({ talk: smallTalk(2) });
  const { talk } = talkWith(store, { budget: 1_500 });
  const turn = await talk.prepare([{ role: 'user', content: [asked, image] }]);
  await turn.finish('A red one.');

  expect(turn.prompt.at(-1)).toEqual({ role: 'user', content: [asked, image] });
  expect(turn.report.tokens.input).toBeGreaterThan(1_000);
  expect((await rowsIn(store))[2]?.content).toEqual([asked, image]);
  expect(await talk.search('Which lamp?')).toMatchObject([{ text: asked.text }]);
  await talk.add(smallTalk(40, 10));
  const { prompt, recalled } = await talk.prepare('Which lamp was it?');
  expect(JSON.stringify(prompt)).not.toContain('image_url');
  expect(recalled?.content).toContain(asked.text);
});

test('a question that is sent again is the same, although a database changed the order of its fields', async () => {
  const question = { role: 'user', content: [asked, image], id: 'q' } as const;
  const { talk } = talkWith(
    memoryStore({ talk: [{ ...question, content: [{ text: asked.text, type: 'text' }, image] }] }),
  );

  expect((await talk.prepare([question])).prompt).toHaveLength(1);
  const other = { ...question, content: [asked] };
  expect(await failureOf(talk.prepare([other]))).toMatchObject({ name: 'ConversationConflictError' });
});

test.each<[ConversationMessage[], string]>([
  [
    [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:,${'x'.repeat(3e5)}` } }] }],
    'upload it with',
  ],
  [[{ role: 'user', content: [{ type: 'text' } as never] }], 'content: must be a string, or an array of parts'],
  [[{ role: 'user', content: [] }], 'must not be empty'],
  [[{ role: 'user', content: 'x', tool_calls: [callOf('a')] }], 'tool_calls: must be an array'],
  [[{ role: 'assistant', content: 'x', tool_calls: [{ id: 'a' } as never] }], 'tool_calls: must be an array'],
  [[{ role: 'tool', content: 'x' }], 'tool_call_id: must be the id of a call'],
  [[user('Hello'), resultOf('a')], 'send the results first'],
  [[assistant('Hello'), user('Hello')], 'store the reply with add'],
])('the input %# is refused before anything is stored', async (input, message) => {
  const store = memoryStore();

  expect(await failureOf(talkWith(store).talk.prepare(input))).toMatchObject({
    name: 'RequestValidationError',
    message: expect.stringContaining(message),
  });
  expect(await rowsIn(store)).toEqual([]);
});

test.each([
  [[], 'messages[0]: must be a message of the assistant with tool_calls'],
  [[assistant('Hello')], 'messages[0]: must be a message of the assistant with tool_calls'],
  [[calling('a'), assistant('Hello')], "messages[1].role: must be 'tool'"],
  [[calling('a'), { role: 'tool', content: 'x' }], 'messages[1].tool_call_id: must be the id'],
])('the step %j is refused', async (step, message) => {
  const turn = await talkWith(memoryStore()).talk.prepare('Tide?');

  expect(await failureOf(turn.step(step))).toMatchObject({ message: expect.stringContaining(message) });
});

test('old results are left out of a prompt that becomes too long, and stay stored', async () => {
  const store = memoryStore();
  const { talk } = talkWith(store, { budget: 1_000, contextWindow: 2_000, countTokens: (text) => text.length / 4 });
  const turn = await talk.prepare('When is high tide?', { max_tokens: 100 });

  for (let at = 0; at < 5; at += 1) await turn.step([calling(`a${at}`), resultOf(`a${at}`, 'x'.repeat(2_000))]);

  const results = turn.prompt.flatMap(({ role, content }) => (role === 'tool' ? [String(content).length] : []));
  expect(results).toEqual([63, 63, 2_000, 2_000, 2_000]);
  expect((await rowsIn(store)).filter(({ content }) => content.length === 2_000)).toHaveLength(5);
});

/** Calls without one result right behind them, and results without a call. */
function orphansIn(prompt: readonly Sent[]): string[] {
  const orphans: string[] = [];
  let open = new Set<string>();
  for (const { role, tool_calls, tool_call_id = '' } of [...prompt, { role: 'user' } as Sent]) {
    if (role === 'tool') {
      if (!open.delete(tool_call_id)) orphans.push(`a result of ${tool_call_id}`);
      continue;
    }
    orphans.push(...open);
    open = new Set(tool_calls?.map(({ id }) => id));
  }
  return orphans;
}

const text = fc.integer({ min: 0, max: 400 }).map((length) => 'The pier gets a red lamp. '.repeat(20).slice(0, length));
const words = text.filter((one) => one.trim() !== '');
const content = fc.oneof(
  words,
  fc.constant([asked, image]),
  fc.array(fc.record({ type: fc.constant('text'), text: words }), { minLength: 1, maxLength: 3 }),
);
const ids = fc.uniqueArray(fc.integer({ min: 0, max: 30 }).map(String), { minLength: 1, maxLength: 4 });
const message = fc.oneof(
  content.map((one) => ({ role: 'user', content: one }) as ConversationMessage),
  text.map((one) => assistant(one)),
  ids.map((some) => calling(...some)),
  fc.tuple(ids, text).map(([[id = ''], one]) => resultOf(id, one)),
  fc.tuple(ids, text).chain(([some, one]) => fc.constant([calling(...some), ...some.map((id) => resultOf(id, one))])),
);

test('random conversations have no call without its result, and no prompt above its budget', async () => {
  const { count } = new TokenCounter((one) => one.length / 4);
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { maxLength: 40 }),
      fc.integer({ min: 300, max: 4_000 }),
      fc.boolean(),
      words,
      async (history, budget, inParts, question) => {
        const rows = history.flat().map((one, at) => ({ ...one, id: `m${at}` }));
        const whole = memoryStore({ talk: rows });
        const store = inParts ? partsOf(whole).store : whole;
        const { talk } = talkWith(elsewhere(store), { budget, countTokens: (one) => one.length / 4 });

        const { prompt, report } = await talk.prepare(question);

        expect(orphansIn(prompt)).toEqual([]);
        // A call is counted with its result, if it has none.
        const counted = prompt.filter((one) => one.content !== notRun.content);
        expect(messageTokens(counted, count)).toBeLessThanOrEqual(report.tokens.total);
        expect(report.tokens.total).toBeLessThanOrEqual(report.budget);
        expect(report.budget).toBeLessThanOrEqual(budget + report.tokens.input + 0.25 * budget);
      },
    ),
    { numRuns: atLength(60, 300) },
  );
});
