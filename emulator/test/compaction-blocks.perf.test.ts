import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atLength } from '../../test/helpers/endurance.js';
import { contextTokens, totalTokens } from '../src/context/compaction/compact.js';
import type { CompactionLevel } from '../src/store/conversation-records.js';
import { compactable, compactSync, LEVELS, offered } from './compactable.js';

const TARGETS: Record<CompactionLevel, number> = { light: 0.6, deep: 0.35, aggressive: 0.15 };

const expectNear = (target: number, share: number): void => {
  expect(share / target).toBeGreaterThan(0.75);
  expect(share / target).toBeLessThan(1.05);
};

const compacted = (contents: readonly string[], level: CompactionLevel) => {
  const messages = compactable(contents);
  const state = compactSync(messages, level);
  const after = messages.map((message, i) => ({ ...message, summarized: i < state.folded }));
  const excerpts = state.items.filter(({ type }) => type === 'excerpt');
  return { ...state, excerpts, total: totalTokens(messages), left: contextTokens(after, state.items) };
};

const WORDS =
  'ledger harbour kitchen engine garden window bridge market tunnel tower lantern orchard copper velvet anchor basket candle desert feather glacier hammer island jacket ladder magnet needle oyster pepper quarry ribbon saddle temple umbrella valley walnut yellow zebra'.split(
    ' ',
  );
const word = (n: number): string => WORDS[Math.abs(n) % WORDS.length] ?? '';

/** Text of one kind with the given number of lines. Different seeds share no line. */
const KINDS: Record<string, (seed: number, lines: number) => string> = {
  prose: (seed, lines) =>
    Array.from(
      { length: lines },
      (_, i) =>
        `The ${word(seed + i)} near ${word(seed * 3 + i * 7)} ${seed}-${i} was moved to the old ${word(seed + i * 5)} by a ${word(i * 11 + seed)} crew.`,
    ).join(' '),
  code: (seed, lines) =>
    `\`\`\`ts\n${Array.from({ length: lines }, (_, i) => `  const ${word(seed + i)}${seed}_${i} = load(${word(i * 3)}[${i}], { from: ${seed * i} });`).join('\n')}\n\`\`\``,
  table: (seed, lines) =>
    `| name | where | count |\n|---|---|---|\n${Array.from({ length: lines }, (_, i) => `| ${word(seed + i)} ${seed} | ${word(i * 7)} | ${seed * 100 + i} |`).join('\n')}`,
  log: (seed, lines) =>
    Array.from(
      { length: lines },
      (_, i) =>
        `2026-01-15 10:${10 + (i % 50)}:0${seed % 10} INFO ${word(seed + i)} request ${seed}${i} took ${i * 3} ms`,
    ).join('\n'),
  list: (seed, lines) =>
    Array.from({ length: lines }, (_, i) => `- ${word(seed + i)} ${word(i * 5 + 1)} of ${seed}-${i}`).join('\n'),
  numbers: (seed, lines) => Array.from({ length: lines }, (_, i) => `${seed * 7919 + i * 31}`).join('\n'),
  'numbers in one line': (seed, lines) =>
    Array.from({ length: lines * 6 }, (_, i) => `${seed * 7919 + i * 31}`).join(', '),
};

type Part = [kind: string, lines: number];
const talk = (parts: readonly Part[]): string[] => parts.map(([kind, lines], i) => KINDS[kind]?.(i + 1, lines) ?? '');
const parts = fc.array(fc.tuple(fc.constantFrom(...Object.keys(KINDS)), fc.integer({ min: 1, max: 120 })), {
  minLength: 4,
  maxLength: 30,
});
/** Its last excerpt is large, and the pieces chosen for it cost one token more together than alone. */
const ONE_TOKEN_TOO_MANY: Part[] = [
  ['log', 13],
  ['prose', 85],
  ['prose', 1],
  ['log', 51],
  ['list', 20],
  ['log', 88],
  ['code', 25],
  ['log', 58],
  ['list', 82],
  ['numbers in one line', 39],
  ['table', 13],
  ['prose', 117],
];

test('a compaction gets near the target of its level for any kind of text', () => {
  let enough = 0;
  fc.assert(
    fc.property(parts, fc.constantFrom(...LEVELS), (said, level) => {
      const { left, total } = compacted(talk(said), level);
      fc.pre(total >= 5000);
      enough += 1;

      expectNear(TARGETS[level], left / total);
    }),
    { numRuns: atLength(8, 40), examples: [[ONE_TOKEN_TOO_MANY, 'deep']] },
  );
  expect(enough).toBeGreaterThan(atLength(3, 20));
});

test.each([
  { name: 'an 80-line code block', text: KINDS.code?.(1, 80) ?? '' },
  { name: 'a list of numbers in one line', text: KINDS['numbers in one line']?.(1, 2000) ?? '' },
])('$name in a short conversation is shortened to the target, not dropped', ({ text }) => {
  const contents = ['Here it is, as it came out of the printer this morning.', text, 'Thanks, I am looking at it now.'];

  for (const level of LEVELS) {
    const { left, total } = compacted(contents, level);
    expectNear(TARGETS[level], left / total);
  }
});

describe('a block', () => {
  const BLOCKS = ['code', 'table', 'log', 'list', 'numbers'];

  test('keeps lines verbatim', () => {
    let kept = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...BLOCKS),
        fc.integer({ min: 3, max: 200 }),
        fc.constantFrom(...LEVELS),
        (kind, lines, level) => {
          const block = KINDS[kind]?.(7, lines) ?? '';
          const contents = [block, ...Array.from({ length: 12 }, (_, i) => KINDS.prose?.(i + 20, 6) ?? '')];
          const [excerpt] = compacted(contents, level).excerpts.filter(({ messageId }) => messageId === 'm0');
          if (excerpt === undefined) return;

          kept += 1;
          const verbatim = excerpt.text.split('\n').filter((line) => line !== '…');
          expect(block.split('\n').filter((line) => verbatim.includes(line))).toEqual(verbatim);
        },
      ),
      { numRuns: atLength(25, 80) },
    );
    expect(kept).toBeGreaterThan(0);
  });

  test('of one line is cut between its sentences, with a mark where some are left out', () => {
    const line = KINDS.prose?.(3, 100) ?? '';
    const { excerpts } = compacted([line, 'Thanks, I am looking at it now.'], 'deep');

    const parts = excerpts[0]?.text.split(' … ') ?? [];
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(line).toContain(part.trim());
  });

  test('of code is no prose: its lines state nothing, and its fences are left out', () => {
    const content = 'Look here:\n```ts\n// The export must be fast.\nconst fast = true;\n```\nThanks for it.';
    const { candidates } = offered(content);

    expect(candidates.map(({ item }) => item.section)).not.toContain('requirements');
    expect(candidates.map(({ item }) => item.text).join('')).toBe(
      '\nLook here:\n// The export must be fast.\nconst fast = true;\nThanks for it.',
    );
  });
});
