import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AT_LENGTH } from '../../test/helpers/endurance.js';
import { runSync, Slices } from '../src/base/slices.js';
import { compact } from '../src/context/compaction/compact.js';
import { compactable, compactSync, NOTHING } from './compactable.js';
import { callsTo, openStream, testEmulator } from './support.js';
import { threadTime, turnsOfTheLoop } from './thread-time.js';

const lines = (length: number, line: (i: number) => string): string => {
  let text = '';
  for (let i = 0; text.length < length; i += 1) text += line(i);
  return text;
};
const repeated = (unit: string) => (length: number) => unit.repeat(Math.ceil(length / unit.length));

const HOSTILE: Record<string, (length: number) => string> = {
  values: repeated('1,'),
  'money and numbers': repeated('$1 2.5 3'),
  'file names': repeated('a.b-'),
  paths: repeated('/a'),
  slashes: repeated('/'),
  'issue ids': repeated('#1'),
  'issues of repositories': repeated('a/a#1 '),
  'back-ticks': repeated('`'),
  'open back-ticks': repeated('`a '),
  links: repeated('http://'),
  'one long line': repeated('a'),
  'words said twice': repeated('the the '),
  commas: repeated(', '),
  questions: repeated('a? '),
  dashes: (length) => `a${'-'.repeat(length)}x`,
  'reasons without end': repeated('we decided it because '),
  'fences that do not close': repeated('````\n```\n'),
  'table rows': repeated('|a|b|\n'),
  brackets: repeated('{'),
  'marks of transcripts': repeated('{vocalsound'),
  numbers: (length) => lines(length, (i) => `${(i * 7919) % 100_003}\n`),
  prose: (length) =>
    lines(length, (i) => `The crew of boat ${i} painted window ${(i * 31) % 977} of the old harbour. `),
};

/** Milliseconds of CPU time to read and compact these messages. */
const cost = (texts: readonly string[]): number => {
  const began = process.cpuUsage();
  compactSync(compactable(texts), 'light');
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
};

/** The long text in units of 10 KB. */
const TIMES = 100;
const SAMPLES = TIMES / 4;
const MESSAGES = TIMES * 100;

/** A busy machine makes one measurement slow, and a quadratic search makes all of them slow. */
const MEASURED = { retry: 4 };

test.runIf(AT_LENGTH).each(Object.keys(HOSTILE))(
  'a long text of %s costs about as much per character as 10 KB of it',
  MEASURED,
  (name) => {
    const text = HOSTILE[name] as (length: number) => string;
    const small = Array.from({ length: SAMPLES }, (_, i) => `${i} ${text(10_000)}`);
    cost(small.slice(0, 3).map((content) => `warm ${content}`));

    const ofSmall = cost(small) / SAMPLES;
    const ofLarge = cost([text(TIMES * 10_000)]);

    // A longer run also has more garbage to collect, so up to three times the cost counts as linear.
    expect(ofLarge).toBeLessThan(TIMES * 3 * Math.max(ofSmall, 4));
  },
);

test('a compaction in slices gives the same summary as one without', async () => {
  const work = () => compact(compactable(talkOf(300)), 'deep', NOTHING);
  const slices = new Slices();

  const [sliced, beside] = await Promise.all([slices.run(work()), slices.run(work())]);

  expect(sliced.items.length).toBeGreaterThan(20);
  expect(sliced).toEqual(runSync(work()));
  expect(beside).toEqual(sliced);
});

const TALK = [
  'We decided to put module # behind a queue because the load of part # comes in waves.',
  'The weather of day # was nice, and the people of house # went out to the lake with their boats.',
  'Part # must answer within 1# ms under load, and there is src/part-#.ts to look at. See https://example.com/# too.',
  'I was thinking about the thing with the birds on roof #, the one near tower # and the market.',
  'Which team should own module # after the launch of release #?',
  'That is what I heard from the people in room #: the engine of bridge # was repaired twice this year.',
];

const talkOf = (length: number) =>
  Array.from({ length }, (_, i) => TALK[i % TALK.length]?.replaceAll('#', String(i)) ?? '');
const said = (contents: readonly string[]) => contents.map((content) => ({ role: 'user' as const, content }));

test.runIf(AT_LENGTH)(
  'a compaction of thousands of messages does not block a concurrent stream',
  { ...MEASURED, timeout: 240_000 },
  async () => {
    const emulator = testEmulator({ now: undefined, pace: { tokensPerSecond: 200 }, limits: { compact: 1e9 } });
    const contents = talkOf(MESSAGES);
    const long = emulator.conversations.create({ messages: said([HOSTILE.prose?.(500_000) ?? '', ...contents]) });
    const small = emulator.conversations.create({ messages: said(contents.slice(0, 100)) });
    const { context } = callsTo(emulator);
    const compacting = (conversationId: string) =>
      context('POST', '/api/context/compact', { conversationId, level: 'aggressive' });
    // Warms up: the first compaction loads the tokenizer and compiles the regular expressions.
    await compacting(small.id);
    emulator.chat.on('count', Array.from({ length: 4000 }, (_, i) => `number ${i}`).join(' '));
    const stream = (await openStream(emulator, 'count')).body?.getReader();
    await stream?.read();

    const now = threadTime();
    const began = now();
    const turns = turnsOfTheLoop();
    let chunks = 0;
    let running = true;
    const reading = (async () => {
      while (running && !(await stream?.read())?.done) chunks += 1;
    })();
    const answer = await compacting(long.id);
    running = false;
    await stream?.cancel();
    await reading;

    expect(answer.body.result.tokensRemoved).toBeGreaterThan(100_000);
    // A share of the work, not a time, so that a slow machine and a pause of the garbage collector do not matter.
    const { longest, count } = turns();
    expect(longest).toBeLessThan((now() - began) / 4);
    expect(count).toBeGreaterThan(50);
    expect(chunks).toBeGreaterThan(20);
    await emulator.close();
  },
);

test('a message that is pinned or excluded during a compaction is not in the summary', async () => {
  const emulator = testEmulator();
  const { id, messages } = emulator.conversations.create({ messages: said(talkOf(1500)) });
  const { context } = callsTo(emulator);
  const [pinned, excluded] = [messages[0]?.id, messages[6]?.id];
  await context('GET', `/api/context?conversationId=${id}`);

  const compacting = context('POST', '/api/context/compact', { conversationId: id, level: 'light' });
  await turnOfTheLoop();
  await context('POST', `/api/context/pin/${id}`, { messageId: pinned });
  await context('PATCH', `/api/context/exclude/${id}/${excluded}`, { exclude: true });
  const { result } = (await compacting).body;

  const { rollingSummary, metadata } = (await context('GET', `/api/context?conversationId=${id}`)).body.context;
  expect(result.newTokenCount).toBe(metadata.compressedTokens);
  expect(rollingSummary.decisions.length).toBeGreaterThan(10);
  expect(JSON.stringify(rollingSummary)).not.toMatch(/module [06] behind/);
});
