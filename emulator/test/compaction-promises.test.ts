import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atLength } from '../../test/helpers/endurance.js';
import { runSync } from '../src/base/slices.js';
import {
  type CompactableMessage,
  type CompactionState,
  contextTokens,
  resummarize as resummarizing,
} from '../src/context/compaction/compact.js';
import type { Offers } from '../src/context/compaction/offers.js';
import type { CompactionLevel } from '../src/store/conversation-records.js';
import type { SummaryItem } from '../src/store/summary.js';
import { compactSync as compact, LEVELS, language, NOTHING, offered } from './compactable.js';

interface SourceMessage {
  id: string;
  role: string;
  content: string;
  createdAt: string;
}

interface TestMessage {
  role: string;
  content: string;
  live?: boolean;
  pinned?: boolean;
}

/** Caches what each message offers, as the emulator does. */
const known = new Map<string, Offers>();
const cachedOffers = (message: SourceMessage): Offers => {
  const key = `${message.id} ${message.content}`;
  const found = known.get(key) ?? offered(message.content, message);
  known.set(key, found);
  return found;
};

const resummarize = (messages: readonly CompactableMessage[], state: CompactionState) =>
  runSync(resummarizing(messages, state));

const conversation = (said: readonly TestMessage[], folded = 0): (CompactableMessage & SourceMessage)[] =>
  said.map(({ role, content, live = true, pinned = false }, i) => {
    const message = { id: `m${i}`, role, content, createdAt: new Date(i * 60_000).toISOString() };
    return {
      ...message,
      live,
      pinned,
      tokens: language.countTokens(content) + 4,
      summarized: i < folded && live && !pinned,
      offers: () => cachedOffers(message),
    };
  });

const after = (said: readonly TestMessage[], { folded, items }: CompactionState): number =>
  contextTokens(conversation(said, folded), items);

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether the text contains all these words in this order. */
const follows = (part: readonly string[], whole: readonly string[]): boolean => {
  let at = 0;
  for (const word of whole) if (word === part[at]) at += 1;
  return at === part.length;
};

const said = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc
    .array(
      fc.oneof(
        { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
        {
          weight: 6,
          arbitrary: fc
            .tuple(
              fc.constantFrom(
                'We decided to put $ on the # because the $ is slow.',
                "Actually, let's use the $ instead of the #.",
                'The $ must answer within # seconds.',
                'Should the $ wait for the #?',
                "I don't know yet.",
                'Um, so so the {vocalsound} $ is near the #, and the the # was there',
                'By $ we mean the # of the old house.',
                'See https://example.com/$/# and src/$.ts for it.',
                '```\nrun $ --with #\n```',
                'Our goal is a $ for every #.',
                'The $ stood beside the # all week. Nobody used the $.',
              ),
              fc.constantFrom('ledger', 'harbour', 'kitchen', 'engine', 'garden', 'window', 'bridge', 'market'),
              fc.constantFrom('42', 'river', '7', 'table', 'mountain', 'signal', 'paper'),
            )
            .map(([form, a, b]) => form.replaceAll('$', a).replaceAll('#', b)),
        },
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.join(' ')),
  pinned: fc.nat({ max: 9 }).map((n) => n === 0),
});

test('a compaction never grows the context, and a stronger level never leaves more', () => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 40 }), (talk) => {
      const total = after(talk, NOTHING);

      const [light = 0, deep = 0, aggressive = 0] = LEVELS.map((level) =>
        after(talk, compact(conversation(talk), level, NOTHING)),
      );

      expect(light).toBeLessThanOrEqual(total);
      expect(deep).toBeLessThanOrEqual(light);
      expect(aggressive).toBeLessThanOrEqual(deep);
    }),
    { numRuns: atLength(25, 80) },
  );
});

test('a repeated compaction changes nothing, and no sequence of compactions grows the context', () => {
  fc.assert(
    fc.property(
      fc.array(said, { minLength: 4, maxLength: 40 }),
      fc.array(fc.constantFrom(...LEVELS), { minLength: 1, maxLength: 4 }),
      (talk, levels) => {
        let state = NOTHING;
        levels.forEach((level, round) => {
          const now = talk.slice(0, Math.ceil((talk.length * (round + 1)) / levels.length));
          const before = after(now, state);
          state = compact(conversation(now, state.folded), level, state);

          expect(after(now, state)).toBeLessThanOrEqual(before);
          expect(compact(conversation(now, state.folded), level, state).items).toEqual(state.items);
        });
      },
    ),
    { numRuns: atLength(25, 80) },
  );
});

test('a summary contains only words of its source messages, and none of excluded or pinned messages', () => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 30 }), fc.func(fc.boolean()), (talk, isExcluded) => {
      const world = talk.map((one, i) => ({ ...one, live: !isExcluded(i) }));
      const messages = conversation(world);

      for (const level of LEVELS) {
        for (const { messageId, text, reason, term, section } of compact(messages, level, NOTHING).items) {
          const source = messages.find(({ id }) => id === messageId);
          expect(source?.live && !source.pinned).toBe(true);
          const spoken = words(source?.content ?? '');
          expect(follows(words(text.replace(/^… \d+ \w+ left out$/gm, '')), spoken)).toBe(true);
          expect(follows(words(reason ?? ''), spoken)).toBe(true);
          expect(follows(words(term ?? ''), spoken)).toBe(true);
          if (section !== 'importantReferences') expect(text).not.toMatch(/\{vocalsound\}|\b(?:um|uh)\b/i);
        }
      }
    }),
    { numRuns: atLength(20, 60) },
  );
});

test('a summary keeps nothing of a message that is excluded later', () => {
  fc.assert(
    fc.property(fc.array(said, { minLength: 2, maxLength: 30 }), fc.nat(), (talk, at) => {
      const state = compact(conversation(talk), 'deep', NOTHING);
      const excluded = at % talk.length;
      const without = talk.map((one, i) => (i === excluded ? { ...one, live: false } : one));

      const rest = resummarize(conversation(without, state.folded), state);

      expect(rest.items.some(({ messageId }) => messageId === `m${excluded}`)).toBe(false);
      expect(after(without, rest)).toBeLessThanOrEqual(after(talk, state));
    }),
    { numRuns: atLength(20, 60) },
  );
});

const TOPICS = 'ledger harbour kitchen engine garden window bridge market tunnel tower lantern orchard'.split(' ');
const CHATTER = [
  'Yeah, okay, that sounds good to me.',
  'We talked about it with the others in the morning, and some of them had seen it before.',
  'The coffee was cold again. Somebody should tell the people downstairs, or bring a thermos.',
  'It was about the thing with the birds on the roof, more or less, as far as I remember.',
  'I was thinking about the walk we took along the coast, where the old boats lie in the sand.',
];

/** Of every twelve messages, one is a decision, one a requirement, two contain references, and eight are small talk. */
const longTalk = (rounds: number): TestMessage[] =>
  Array.from({ length: rounds }, (_, i) => {
    const topic = `${TOPICS[i % TOPICS.length]}-${i}`;
    const chatter = (n: number): string => CHATTER[(i + n) % CHATTER.length] ?? '';
    return [
      `We decided to paint the ${topic} in shade ${i * 7} because the old coat peels off.`,
      chatter(0),
      chatter(1),
      `The notes of ${topic} are in docs/${topic}/notes.md for later.`,
      chatter(2),
      chatter(3),
      `The ${topic} must carry at least ${100 + i} visitors in one hour.`,
      chatter(4),
      chatter(5),
      `I found a picture at https://pictures.example/${topic}?size=${i} that shows it.`,
      chatter(6),
      chatter(7),
    ].map((content, n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content }));
  }).flat();

const recall = (
  talk: readonly TestMessage[],
  level: CompactionLevel,
  seeded: RegExp,
  holds: (item: SummaryItem) => boolean,
) => {
  const { items, folded } = compact(conversation(talk), level, NOTHING);
  const sown = talk.slice(0, folded).filter(({ content }) => seeded.test(content)).length;
  expect(sown).toBeGreaterThan(5);
  return items.filter(holds).length / sown;
};

test('a summary keeps the decisions and requirements at deep, and the paths and links at light', () => {
  const talk = longTalk(30);

  expect(recall(talk, 'deep', /decided/, ({ text }) => /^We decided to paint/.test(text))).toBeGreaterThanOrEqual(0.95);
  expect(recall(talk, 'deep', /must carry/, ({ text }) => /must carry/.test(text))).toBeGreaterThanOrEqual(0.95);
  expect(recall(talk, 'light', /docs\//, ({ type }) => type === 'file')).toBeGreaterThanOrEqual(0.9);
  expect(recall(talk, 'light', /https:/, ({ type }) => type === 'url')).toBeGreaterThanOrEqual(0.9);
});

test('a decision has the same id at every level and after later messages', () => {
  const ids = (talk: readonly TestMessage[], level: CompactionLevel) =>
    new Map(compact(conversation(talk), level, NOTHING).items.flatMap(({ id, text }) => (id ? [[text, id]] : [])));
  const early = ids(longTalk(10), 'light');

  for (const level of LEVELS) {
    for (const [text, id] of ids(longTalk(30), level)) expect(early.get(text) ?? id).toBe(id);
  }
  expect(early.size).toBeGreaterThan(3);
  expect(new Set(early.values()).size).toBe(early.size);
});
