import { APIAbortError } from 'context-gateway';
import type { FinishedReply } from 'context-gateway/conversation';
import { textOf } from 'context-gateway/conversation';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { decision, pin, summary } from './samples.js';
import { cannedContext, chatWorld, smallTalk } from './world.js';

describe('a turn', () => {
  test('that cannot fit fails before anything is stored or sent', async () => {
    const world = chatWorld();
    cannedContext(world, { pins: [pin('pinned '.repeat(2000))] });

    const error = await failureOf(world.open({ contextWindow: 1000 }).send('Hello?'));

    expect(error).toMatchObject({ name: 'ContextBudgetError' });
    expect([await world.stored(), world.count('chat')]).toEqual([[], 0]);
  });

  test('streams its reply in pieces, and the next turn includes it', async () => {
    const world = chatWorld();
    world.emulator.chat.on('harbour', 'It opens at six.');

    const conversation = world.open({ instructions: 'Be brief.' });
    const pieces: string[] = [];
    for await (const text of conversation.stream('When does the harbour open?')) pieces.push(text);
    await conversation.send('And when does it close?');

    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('It opens at six.');
    expect(world.prompts.at(-1)?.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'When does the harbour open?' },
      { role: 'assistant', content: 'It opens at six.' },
      { role: 'user', content: 'And when does it close?' },
    ]);
  });

  test('sends the context, and reports what it included', async () => {
    const world = chatWorld();
    cannedContext(world, {
      summary: summary({ version: 3, decisions: [decision('We use Postgres.')] }),
      pins: [pin('Pinned.')],
    });
    world.emulator.memory.create({ type: 'constraint', key: 'privacy', content: 'No names.' });

    const { report, usage, usageEstimated } = await world.open().send('What do we use?');

    expect(world.prompts[0]?.messages[0]?.content).toMatch(/No names\..+We use Postgres\..+Pinned\./s);
    const included = ['constraints', 'decisions', 'pinnedMemory'];
    expect(report).toMatchObject({ summaryVersion: 3, included, dropped: [], stale: false, estimated: true });
    expect(report.tokens.total).toBeGreaterThanOrEqual(usage.prompt_tokens);
    expect(usageEstimated).toBe(false);
  });

  test('reserves room for the reply', async () => {
    const world = chatWorld();
    const conversation = world.open({ contextWindow: 2000 });

    const { report } = await conversation.send('Hello?', { max_tokens: 900, temperature: 0 });

    expect(report.budget).toBe(1100);
    expect(world.prompts[0]).toMatchObject({ max_tokens: 900, temperature: 0 });
  });

  test.each([
    { error: { message: 'Too long.', code: 'context_length_exceeded', param: 'messages' } },
    { error: { message: "This model's maximum context length is 8192 tokens.", type: 'BadRequestError', code: 400 } },
    { error: { message: 'request (9000 tokens) exceeds the available context size (8192 tokens)', code: 400 } },
    { error: { message: 'Bad.', type: 'exceed_context_size_error', code: 400 } },
    { type: 'error', error: { message: 'prompt is too long: 9000 tokens > 8192 maximum' } },
    { detail: 'The input is too long for the model.' },
    { status: 413, error: { message: 'The request exceeds the context window.' } },
  ])(
    'a turn that is too long for the service is shortened and sent once more: %j',
    async ({ status = 400, ...body }) => {
      const world = chatWorld();
      const isFirst = ({ url }: Request) => url.endsWith('/completions') && world.count('chat') === 1;
      world.onRequest((request) => (isFirst(request) ? Response.json(body, { status }) : undefined));
      const conversation = world.open({ history: smallTalk(60), budget: 1100 });

      await conversation.stream('Well?').final();

      const [first = 0, second = 0] = world.prompts.map(({ messages }) => messages.length);
      expect(world.prompts).toHaveLength(2);
      expect(second).toBeLessThan(first);
    },
  );

  test.each([
    { status: 413, message: 'The request body is too large.' },
    { status: 400, message: 'temperature is too high' },
    { status: 500, message: 'The context size is unknown.' },
  ])(
    'a turn that the service refuses for another reason is not sent again: $status $message',
    async ({ status, message }) => {
      const world = chatWorld();
      world.answer('/completions', { error: { message } }, { status });

      expect(await failureOf(world.open({ history: smallTalk(60) }).send('Well?'))).toMatchObject({ status });
      expect(world.count('chat')).toBe(1);
    },
  );

  test.each([
    { because: 'after it was shortened once', history: smallTalk(60), calls: 2 },
    { because: 'at once if there is nothing to drop', history: [], calls: 1 },
  ])('a turn that is too long for the service fails $because', async ({ history, calls }) => {
    const world = chatWorld();
    const code = 'context_length_exceeded';
    world.answer('/completions', { error: { message: 'Too long.', code } }, { status: 400 });

    expect(await failureOf(world.open({ history }).send('Well?'))).toMatchObject({ code });
    expect(world.count('chat')).toBe(calls);
  });
});

describe('a stopped reply', () => {
  const story = 'One two three four five six seven eight nine ten.';

  test('a stopped reply that its reader left keeps its text in the history, with estimated usage', async () => {
    const world = chatWorld();
    world.emulator.chat.on('story', story);
    const conversation = world.open();
    const reply = conversation.stream('Tell a story.');

    for await (const _ of reply) if (reply.text.includes('three')) break;
    const turn = await reply.final();

    expect(turn).toMatchObject({ stopped: true, usageEstimated: true, text: reply.text });
    expect(turn.usage.completion_tokens).toBeGreaterThan(0);
    expect((await world.stored()).at(-1)).toEqual({ role: 'assistant', content: reply.text, stopped: true });
    expect(story).toContain(reply.text);
  });

  test.each([
    { how: 'that is aborted', stopAt: 'two', name: 'AbortError' },
    { how: 'that breaks off', name: 'StreamTruncatedError' },
  ])('a stopped reply $how throws for its reader, and still keeps its text', async ({ stopAt = 'never', name }) => {
    const world = chatWorld();
    world.emulator.chat.on('story', story);
    world.emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { type: 'cutStream', afterEvents: 4 } });
    const stop = new AbortController();
    const reply = world.open().stream('Tell a story.', { signal: stop.signal });
    const read = async () => {
      for await (const _ of reply) if (reply.text.includes(stopAt)) stop.abort();
    };

    expect(await failureOf(read())).toMatchObject({ name });
    expect(await reply.final()).toMatchObject({ stopped: true, text: reply.text });
    expect(reply.text).toMatch(/^One/);
    expect((await world.stored()).at(-1)).toEqual({ role: 'assistant', stopped: true, content: reply.text });
  });

  test('a stopped reply whose reader is idle is stored when it is aborted', async () => {
    const world = chatWorld();
    world.emulator.chat.on('story', story);
    const stop = new AbortController();
    const reply = world.open().stream('Tell a story.', { signal: stop.signal })[Symbol.asyncIterator]();
    await reply.next();

    stop.abort();

    await expect.poll(async () => (await world.stored()).at(-1)).toMatchObject({ stopped: true });
    expect(await failureOf(reply.next())).toBeInstanceOf(APIAbortError);
  });
});

test('a reply that is left before it begins sends nothing, and its final() rejects', async () => {
  const world = chatWorld();
  const reply = world.open().stream('Hello?');

  await reply[Symbol.asyncIterator]().return?.();

  expect(await failureOf(reply.final())).toBeInstanceOf(APIAbortError);
  expect([world.count('context'), world.count('chat')]).toEqual([0, 0]);
});

describe('the next prompt', () => {
  test('does not exceed the budget by an exact count if the language changes (R8)', async () => {
    const world = chatWorld();
    world.onRequest(async (request) => {
      if (!request.url.endsWith('/completions')) return undefined;
      const { messages } = (await request.clone().json()) as { messages: { content: string }[] };
      const tokens = messages.reduce((sum, message) => sum + countTokens(textOf(message)) + 4, 0);
      const answer = (await (await world.emulator.fetch(request)).json()) as object;
      const usage = { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 };
      return Response.json({ ...answer, usage });
    });
    const conversation = world.open({ contextWindow: 2742 });
    for (let turn = 0; turn < 3; turn += 1)
      await conversation.send('Мы решили, что паром ночью не ходит, потому что жители жаловались на шум. '.repeat(2));

    const history = await conversation.messages();
    for (let sentences = 10; ; sentences += 1) {
      const input = 'The ferry does not run at night, says harbour. '.repeat(sentences);
      const built = await conversation.prepare(input, { history }).catch(() => undefined);
      if (built === undefined) break;
      const exact = built.prompt.reduce((sum, message) => sum + countTokens(textOf(message)) + 4, 0);
      expect(exact).toBeLessThanOrEqual(2400);
    }
  });
});

describe('a turn made with another client', () => {
  test('corrects the token estimate by its usage, and not without', async () => {
    const world = chatWorld();
    const conversation = world.open();
    const finished = async (reply: FinishedReply): Promise<number> => {
      const turn = await conversation.prepare('The ferry leaves at nine.', { history: [] });
      await turn.finish(reply);
      return turn.report.tokens.input;
    };
    const usage = { prompt_tokens: 40, completion_tokens: 1, total_tokens: 41 };

    const first = await finished('Fine.');
    const second = await finished({ content: 'Fine.', usage });

    expect(second).toBe(first);
    expect(await finished('Fine.')).toBeGreaterThan(2 * first);
  });

  test.each([
    { what: 'that is stored', options: {}, stored: 2 },
    { what: 'with a history of its own', options: { history: [] }, stored: 0 },
  ])('$what counts towards the next compaction, which idle() awaits', async ({ options, stored }) => {
    const world = chatWorld({ messages: smallTalk(10) });
    const conversation = world.open({ contextWindow: 228, compaction: true });
    const turn = await conversation.prepare('Hello? '.repeat(20), options);
    expect(world.count('compact')).toBe(0);

    await turn.finish('Hi.');
    await conversation.idle();

    expect(world.count('compact')).toBe(1);
    expect(await world.stored()).toHaveLength(stored);
  });
});
