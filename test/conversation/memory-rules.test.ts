import { type ConversationOptions, memoryStore } from 'context-gateway/conversation';
import { describe, expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { alone, user } from './alone.js';
import { promptOf } from './fitted.js';
import { compacted, decision, memory, metadata, pin, summary } from './samples.js';
import { cannedContext, chatWorld, faked, smallTalk } from './world.js';

describe('the memory of a conversation', () => {
  test('recalls whole messages, and only the part that matches of a long one, with its code and tables', async () => {
    const code = '```sh\nlamp --pier 3\n\nlamp --colour red\n```';
    const table = '| lamp | pier |\n|---|---|\n| red | 3 |';
    const filler = 'The weather at sea was calm and the crew was rested. '.repeat(30);
    const { recalledFor } = alone([
      user(`${filler}\n\n${code}\n\n${filler}\n\n${table}\n\n${filler}`, { createdAt: '2026-05-03T09:00:00Z' }),
      ...smallTalk(60),
    ]);

    const text = await recalledFor('How do I set the colour of the lamp?');

    expect(text).toContain('lamp --pier 3\n  \n  lamp --colour red\n  ```');
    expect(text.length).toBeLessThan(2000);
  });

  test.each([
    { size: 2900, expected: 2900, how: 'whole' },
    { size: 3100, expected: 1000, how: 'in part' },
  ])('recalls a message of $size characters $how, although all of it would fit', async ({ size, expected }) => {
    const said = 'The lamp is red. '.padEnd(size, 'The weather at sea was calm. ');
    const { conversation } = alone([user(said), ...smallTalk(800)], { budget: 7000 });

    const { report } = await conversation.prepare('Which colour has the lamp?');

    const [recalled] = report.recalled.filter(({ text }) => text.startsWith('The lamp'));
    expect(recalled?.text.length).toBeGreaterThan(0.9 * expected);
    expect(recalled?.text.length).toBeLessThanOrEqual(expected);
  });

  test('counts the two user messages before the input, with less weight', async () => {
    const { recalledFor } = alone([
      user('The crane of pier 3 is painted blue.'),
      ...smallTalk(80),
      user('Let us talk about the crane.'),
      { role: 'assistant', content: 'Gladly.' },
    ]);

    expect(await recalledFor('Which pier, and which colour?')).toContain('painted blue');
  });

  test('shares the room: newest from 6 to 25 %, the context an eighth, and recall the rest', async () => {
    const constraints = Array.from({ length: 100 }, (_, i) => memory('constraint', `c${i}`, 'Of the harbour.'));
    const parts = { memory: constraints, summary: summary({ decisions: [decision('Decision of the harbour.')] }) };
    const input = [user('What about remark number 3?')];
    const { report } = promptOf({ parts, history: smallTalk(400), input, budget: 2000 });

    const { context, tail, recalled } = report.tokens;
    expect(tail).toBeGreaterThanOrEqual(0.06 * 2000);
    expect(tail).toBeLessThanOrEqual(0.25 * 2000);
    expect(context).toBeLessThanOrEqual(0.125 * 2000);
    expect(context).toBeGreaterThan(0.1 * 2000);
    expect(recalled).toBeGreaterThan(50);
    expect(report.included).toEqual(['constraints']);
  });

  test("joins the app's own search by reciprocal rank, and stands alone if that fails or is late", async () => {
    const [dawn, boat] = [user('We sail to Bergen at dawn.', { id: 'dawn' }), user('The boat leaves from pier three.')];
    const history = [dawn, ...smallTalk(40), boat, ...smallTalk(60, 40)];
    const asked = 'When does the boat leave?';
    const search = vi.fn<NonNullable<ConversationOptions['search']>>(async () => [{ id: 'dawn' }, { id: 'unknown' }]);
    const joined = alone(history, { search });
    expect(await joined.recalledFor(asked)).toMatch(/Bergen at dawn.+pier three/s);
    expect(search).toHaveBeenCalledWith(asked, { limit: expect.any(Number), signal: expect.any(AbortSignal) });

    const fails = alone(history, { search: () => Promise.reject(new Error('no vectors')) });
    expect(await fails.recalledFor(asked)).toContain('pier three');
    expect(fails.errors).toMatchObject([{ message: 'no vectors' }]);

    faked('timers');
    const late = alone(history, { search: () => new Promise(() => {}) });
    const found = late.recalledFor(asked);
    await vi.advanceTimersByTimeAsync(2_100);
    vi.useRealTimers();
    expect(await found).toContain('pier three');
    expect(late.errors).toMatchObject([{ message: 'The option search took longer than 2000 ms.' }]);
  });

  test("takes an id that the app's own search gives several times once, with its best rank", async () => {
    const history = [user('We sail at dawn.', { id: 'a' }), user('The tide is low.', { id: 'b' }), ...smallTalk(60)];
    const scores = async (ids: string[]) => {
      const { conversation } = alone(history, { search: () => ids.map((id) => ({ id })) });
      const { report } = await conversation.prepare('When do we leave?');
      return report.recalled.map(({ id, score }) => [id, score]);
    };

    expect(await scores(['a', 'b', 'b', 'b', 'b'])).toEqual(await scores(['a', 'b']));
  });

  test('works without a service, and with a new object', async () => {
    const { conversation } = alone([user('The pier gets a red lamp.'), ...smallTalk(80)]);
    const asked = 'Which lamp does the pier get?';

    expect(JSON.stringify((await conversation.send(asked)).report.recalled)).toContain('red lamp');
    const message = 'compact needs the option context: a ContextClient.';
    expect(await failureOf(conversation.compact())).toMatchObject({ message });
  });

  test('sends more once it knows the length of a prompt that another client has sent', async () => {
    const about = (i: number) => user(`${i % 5 === 0 ? 'Buoy' : 'Pier'} ${i} gets a lamp of colour ${i}.`);
    const { conversation } = alone(Array.from({ length: 400 }, (_, i) => about(i)));
    const prepare = () => conversation.prepare('Which colours do the buoys have?');
    const lengthOf = (messages: object) => JSON.stringify(messages).length;
    const turn = await prepare();
    const prompt_tokens = Math.round(lengthOf(turn.prompt) / 6);
    await turn.finish({
      content: 'Many.',
      usage: { prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 },
    });
    expect(lengthOf((await prepare()).prompt)).toBeGreaterThan(1.1 * lengthOf(turn.prompt));
  });

  test('knows from replies how many tokens a model needs, in all conversations with it and in none with another', async () => {
    const world = chatWorld();
    const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 };
    world.onRequest(async (request) => {
      if (!request.url.endsWith('/completions')) return undefined;
      return Response.json({ ...Object(await (await world.emulator.fetch(request)).json()), usage });
    });
    const tokensWith = async (model: string) => {
      const talk = world.open({ context: undefined, history: smallTalk(20), model });
      return (await talk.send('And now?')).report.tokens.total;
    };

    const first = await tokensWith('atlas-small');
    const [second, other] = [await tokensWith('atlas-small'), await tokensWith('atlas-large')];

    expect(second).toBeLessThan(0.8 * first);
    expect(other).toBe(first);
  });

  test('gives search results with id, date, score and the text around the hit', async () => {
    const long = `${'The sea was calm. '.repeat(60)}The lamp is red. ${'The sea was calm. '.repeat(60)}`;
    const { conversation } = alone([
      user('The pier gets a red lamp.', { id: 'm1', createdAt: '2026-05-03T09:00:00Z' }),
      user(long, { id: 'm2' }),
      ...smallTalk(20),
    ]);

    const found = await conversation.search('red lamp', { limit: 2 });

    const short = { role: 'user', createdAt: '2026-05-03T09:00:00.000Z', text: 'The pier gets a red lamp.' };
    expect(found).toMatchObject([{ id: 'm1', ...short }, { id: 'm2' }]);
    expect(found[1]?.text).toContain('lamp is red');
    expect(found[1]?.text.length).toBeLessThan(1000);
    expect(found[0]?.score).toBeGreaterThan(found[1]?.score ?? 0);
  });

  test('names in a report the messages it recalled, and in a receipt how many are only in the history', async () => {
    const history = [
      user('We decided on Postgres for the bookings.', { id: 'p' }),
      user('The pier gets a red lamp.', { id: 'lamp' }),
      user('Never sail at night.', { id: 'pinned' }),
      ...smallTalk(20),
    ];
    const world = chatWorld();
    const canned = cannedContext(world, { metadata: metadata({ recentMessageCount: 10 }) });
    canned.compact = () => {
      canned.summary = summary({ version: 2, decisions: [decision('We decided on Postgres for the bookings.')] });
      canned.pins = [pin('Never sail at night.', 'pinned')];
      return compacted(900, 300);
    };

    const report = await world.open({ history }).compact('deep');

    // 23 messages, of which 10 are recent, one is pinned and one is in the summary.
    expect(report.onlyInHistory).toBe(11);
  });
});

describe('users who share a conversation', () => {
  const storeOf = () => memoryStore({ talk: [user('The ferry leaves at six.', { id: 'm1' })] });

  test("one user's memory is in no prompt of another, and not in the store", async () => {
    const world = chatWorld();
    const store = storeOf();
    const state = cannedContext(world, { memory: [memory('fact', 'health', 'Ann has diabetes.')] });
    await world.open({ store }).send('When does the ferry leave?');
    state.memory = [memory('fact', 'drink', 'Bo likes tea.')];

    await world.open({ store }).send('And when does it arrive?');

    const [anns, bos] = world.prompts.map(({ messages }) => JSON.stringify(messages));
    expect(anns).toContain('Ann has diabetes.');
    expect(bos).toContain('Bo likes tea.');
    expect(bos).not.toContain('diabetes');
    expect(JSON.stringify(await store.load('talk'))).not.toMatch(/diabetes|tea/);
  });

  test.each([401, 403])('a context that another user has just read is not used after a %i', async (status) => {
    const world = chatWorld();
    const store = storeOf();
    cannedContext(world, { pins: [pin('Pinned.', 'older')] });
    await world.open({ store }).send('When does the ferry leave?');
    world.answer('/api/', {}, { status });

    await world.open({ store }).send('And when does it arrive?');

    expect(world.prompts.map((prompt) => JSON.stringify(prompt).includes('Pinned.'))).toEqual([true, false]);
  });

  test('an object whose user may no longer read the context uses it for no more than one turn', async () => {
    const world = chatWorld();
    faked('clock');
    cannedContext(world, { pins: [pin('Pinned.', 'older')] });
    const conversation = world.open({ store: storeOf() });
    await conversation.send('When does the ferry leave?');
    world.answer('/api/', {}, { status: 401 });
    vi.advanceTimersByTime(31_000);

    await conversation.send('And when does it arrive?'); // reads again behind the turn
    await conversation.idle();

    await conversation.send('Thanks!');
    expect(world.prompts.map((prompt) => JSON.stringify(prompt).includes('Pinned.'))).toEqual([true, true, false]);
  });
});
