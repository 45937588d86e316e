import { type ConversationMessage, memoryStore } from 'context-gateway/conversation';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { assistant, chatWorld, smallTalk, user } from './world.js';

const words = (count: number, word: string): string =>
  Array.from({ length: count }, (_, at) => `${word}${at}`).join(' ');
const countTokens = (text: string): number => text.split(/\s+/).filter(Boolean).length;

test('the last turn is in every prompt, cut in the middle if it does not fit', async () => {
  const world = chatWorld();
  const lengths = fc.record({
    earlier: fc.nat({ max: 60 }),
    question: fc.integer({ min: 1, max: 1_500 }),
    replies: fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 3 }),
    input: fc.integer({ min: 1, max: 900 }),
    budget: fc.integer({ min: 400, max: 2_000 }),
  });
  await fc.assert(
    fc.asyncProperty(lengths, async ({ earlier, question, replies, input, budget }) => {
      const asked = user(words(question, 'q'));
      const said = replies.map((count, at) => assistant(words(count, `r${at}-`)));
      const history: ConversationMessage[] = [...smallTalk(2 * earlier), asked, ...said];
      const talk = world.open({ context: undefined, history, budget, contextWindow: 8_000, countTokens });

      const { report } = await talk.send(words(input, 'i'));

      const sent = world.prompts.at(-1)?.messages.map(({ content }) => content) ?? [];
      const [its = '', reply = ''] = [sent.find((text) => text.startsWith('q0')), sent.at(-2)];
      const last = replies.length - 1;
      const isWhole = question + replies.reduce((sum, count) => sum + count + 10, 20) + input < budget;
      expect(its).toMatch(new RegExp(`\\bq${question - 1}$`));
      expect(reply.startsWith(`r${last}-0`)).toBe(true);
      expect(reply.endsWith(`r${last}-${(replies[last] ?? 0) - 1}`)).toBe(true);
      if (isWhole) expect(sent.join(' ')).not.toContain('left out here');
      // The last turn has at least a quarter of the budget, however long the input is.
      expect(report.tokens.total).toBeLessThanOrEqual(Math.max(budget, input + 10 + budget / 4));
    }),
    { numRuns: atLength(20, 60) },
  );
});

test('a short question after a long reply is sent with the whole reply, and a later one with its beginning and its end', async () => {
  const { open, prompts } = chatWorld();
  const reply = words(1_400, 'line');
  const history = [...smallTalk(200), user('Write the timetable.'), assistant(reply)];
  const talk = open({ context: undefined, history, budget: 2_000, countTokens });

  await talk.send('Make it shorter.');
  await open({ context: undefined, history, budget: 1_000, countTokens }).send('Make it shorter.');

  const [whole, cut] = prompts.map(({ messages }) => messages.at(-2)?.content ?? '');
  expect(whole).toBe(reply);
  expect(cut).toMatch(/^line0 line1 .*\n\[\d+ characters are left out here\]\n.* line1399$/s);
  const [, missing] = /\[(\d+) characters/.exec(cut ?? '') ?? [];
  const kept = cut?.replace(/\n\[.*\]\n/, '') ?? '';
  expect(kept.length + Number(missing)).toBe(reply.length);
});

test('what is recalled and the context give way to the last turn, but a pin stays', async () => {
  const { open, prompts, emulator, context } = chatWorld();
  emulator.conversations.create({
    id: 'pinned',
    messages: [{ id: 'p1', role: 'user', content: 'Never sail at night.' }],
  });
  await context.pin('pinned', 'p1');
  const lamps = Array.from({ length: 40 }, (_, at) => (at % 2 ? assistant('Noted.') : user(`The lamp ${at} is red.`)));
  const history = [...lamps, user('Write all.', 'q'), assistant(words(3_000, 'line'), 'a')];
  const talk = open({ conversationId: 'pinned', store: memoryStore({ pinned: history }), budget: 1_000, countTokens });

  const { report } = await talk.send('Which lamp is red?');

  const sent =
    prompts
      .at(-1)
      ?.messages.map(({ content }) => content)
      .join('\n') ?? '';
  expect(sent).toContain('Never sail at night.');
  expect(sent).toContain('line2999');
  expect(report.recalled).toEqual([]);
  expect(report.tokens.total).toBeLessThanOrEqual(1_000);
});

test('of a last turn with many replies, the question and the newest reply are sent, and the others can be recalled', async () => {
  const { open, prompts } = chatWorld();
  const replies = Array.from({ length: 200 }, (_, at) =>
    assistant(`Remark ${at} is about ${at === 7 ? 'the lamp' : 'the sea'}.`),
  );
  const history = [user('Tell me all.'), ...replies];
  const talk = open({ context: undefined, history, budget: 300, countTokens });

  const { report } = await talk.send('Which lamp?');

  const sent = prompts.at(-1)?.messages.map(({ content }) => content) ?? [];
  expect(sent[0]).toBe('Tell me all.');
  expect(sent.at(-3)).toBe('Remark 199 is about the sea.');
  expect(report.recalled.map(({ text }) => text)).toContain('Remark 7 is about the lamp.');
  expect(new Set(sent).size).toBe(sent.length);
  // The others of the turn take a fifth.
  expect(sent.length).toBeLessThan(20);
  expect(report.dropped).toEqual([{ section: 'history', messages: 201 - (sent.length - 2), reason: 'budget' }]);
});

test('a pin of a reply that is left out of a long last turn is in the context', async () => {
  const { open, prompts, emulator, context } = chatWorld();
  const replies = Array.from({ length: 100 }, (_, at) => `Remark ${at} is about the sea.`);
  const messages = [user('Tell me all.', 'q'), ...replies.map((text, at) => assistant(text, `a${at}`))];
  emulator.conversations.create({ id: 'pinned', messages: messages as never });
  await context.pin('pinned', 'a40');
  const talk = open({ conversationId: 'pinned', store: memoryStore({ pinned: messages }), budget: 300, countTokens });

  await talk.send('What now?');

  expect(JSON.stringify(prompts)).toContain('Remark 40 is about the sea.');
});

test('the last turn is sent although a store returns only a part, in which it stands far at the front', async () => {
  const { open, prompts } = chatWorld();
  const replies = Array.from({ length: 160 }, (_, at) => assistant(`Remark ${at} is about the sea.`));
  const all = [...smallTalk(400), user('Tell me all.'), ...replies].map((message, at) => ({
    ...{ ...message, id: `p${at}`, createdAt: '2026-01-01T00:00:00.000Z' },
    position: at,
  }));
  const store = {
    load: (_: string, wanted?: { newest: number }) => ({
      messages: wanted === undefined ? all : all.slice(-wanted.newest),
      count: all.length,
    }),
  };

  await open({ context: undefined, store: store as never, budget: 4_000, countTokens }).send('Which sea?');

  const sent = prompts.at(-1)?.messages.map(({ content }) => content) ?? [];
  expect(sent[0]).toBe('Tell me all.');
  expect(sent.join()).toContain('Remark 159 is about the sea.');
});
