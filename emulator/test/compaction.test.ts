import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atLength } from '../../test/helpers/endurance.js';
import { offered } from './compactable.js';
import { callsTo, testEmulator } from './support.js';

describe('prose', () => {
  test.each([
    ['Um, so the {vocalsound} the case is uh curved.', 'so the the case is curved.'],
    ["It's just a sample [laughter] we made.", "It's just a sample we made."],
    ['Use a {input} in C compilers.', 'Use a {input} in C compilers.'],
  ])('%s is read as: %s', (content, sentence) => {
    expect(offered(content).candidates.map(({ item }) => item.text.trim())).toEqual([sentence]);
  });

  test('without a cue becomes an excerpt under importantReferences', () => {
    const content = 'The boats are old. They stay in the water in winter.';

    expect(offered(content).candidates).toMatchObject([
      { item: { section: 'importantReferences', type: 'excerpt', text: '\nThe boats are old.' }, sentence: 0 },
      {
        item: { section: 'importantReferences', type: 'excerpt', text: ' They stay in the water in winter.' },
        sentence: 1,
      },
    ]);
  });
});

describe('references', () => {
  const referencesIn = (content: string) =>
    offered(content).candidates.flatMap(({ item }) =>
      item.type === undefined || item.type === 'excerpt' ? [] : [item],
    );

  test('are found in prose and in code, each once and with its type', () => {
    const text =
      'See https://docs.example.com/a/b.html?c=1#d, and src/store/ledger.ts or `npm run build -- --watch`. #42 and BILL-212 took 350 ms.\n```\n$ make all\n./bin/run.sh\n```\nAgain src/store/ledger.ts; `word` is none.';

    const found = referencesIn(text).map((item) => [item.type, item.text]);

    expect(found).toEqual([
      ['url', 'https://docs.example.com/a/b.html?c=1#d'],
      ['file', 'src/store/ledger.ts'],
      ['command', 'npm run build -- --watch'],
      ['issue', '#42'],
      ['issue', 'BILL-212'],
      ['file', './bin/run.sh'],
    ]);
  });

  test('have at most 300 characters', () => {
    const path = `src/${'a'.repeat(293)}.ts`;

    const found = referencesIn(`See ${path} and x${path} there.`).map(({ text }) => text);

    expect(found).toEqual([path]);
  });

  test('are labelled with the words before them, or else after them', () => {
    const labelIn = (text: string) => referencesIn(text)[0]?.label;

    expect(labelIn('The whole layout stands in docs/layout.md for everyone.')).toBe('whole layout stands in');
    expect(labelIn('docs/layout.md is for everyone here.')).toBe('is for everyone');
  });
});

const compacting = (messages: { role: 'user' | 'assistant'; content: string }[]) => {
  const emulator = testEmulator({ limits: { context: 1e9, compact: 1e9 } });
  const { id } = emulator.conversations.create({ messages });
  const { context } = callsTo(emulator);
  return {
    emulator,
    id,
    call: context,
    compact: async (level: string) =>
      (await context('POST', '/api/context/compact', { conversationId: id, level })).body.result,
    read: async () => (await context('GET', `/api/context?conversationId=${id}`)).body.context,
  };
};

const roleOf = (turn: number) => (turn % 2 === 0 ? ('user' as const) : ('assistant' as const));
const talkOf = (turns: number) =>
  Array.from({ length: turns }, (_, i) => ({
    role: roleOf(i),
    content: SAID[i % SAID.length]?.replaceAll('#', String(i)) ?? '',
  }));

/** The summary of a light compaction of what a user and an assistant say in turn, and of some small talk. */
const summaryOf = async (...said: string[]) => {
  const messages = said.map((content, i) => ({ role: roleOf(i), content }));
  const { compact, read } = compacting([...messages, ...talkOf(24).filter((_, i) => i % 2 === 1)]);
  await compact('light');
  return (await read()).rollingSummary;
};
const SAID = [
  'We decided to put module # behind a queue because the load of part # comes in waves.',
  'Mm-hmm, yeah, that sounds good to me, and the weather of day # was nice as well.',
  'Part # must answer within #00 ms under load, and there is src/part-#.ts to look at.',
  'Right, so I was thinking about the thing you said, the one with the birds and number #.',
  'Which team should own module # after the launch of release #?',
  'Yeah, yeah, okay. That is what I heard from the people in room # as well, more or less.',
];

describe('compaction', () => {
  test.each([
    ['light', 0.6],
    ['deep', 0.35],
    ['aggressive', 0.15],
  ])('at level %s keeps close to its target share of the tokens', async (level, share) => {
    const { compact, read } = compacting(talkOf(400));

    await compact(level);

    const { metadata } = await read();
    expect(metadata.preservationRatio).toBeLessThanOrEqual(share);
    expect(metadata.preservationRatio).toBeGreaterThan(share - 0.06);
  });

  test('stays bounded after many compactions in a growing conversation', async () => {
    const { emulator, id, compact, read } = compacting(talkOf(30));

    for (let round = 1; round <= 20; round += 1) {
      emulator.conversations.append(id, talkOf(12));
      await compact('deep');
      expect((await read()).metadata.preservationRatio).toBeLessThanOrEqual(0.36);
    }
  });

  test('lists a decision that is repeated with another reason once, with its newest reason', async () => {
    const { decisions } = await summaryOf(
      'We decided to use MySQL because half of the whole team already knows it well.',
      'We decided to use MySQL because our provider hosts cheap servers in Frankfurt.',
    );

    const reason = 'our provider hosts cheap servers in Frankfurt';
    expect(decisions).toMatchObject([{ decision: 'We decided to use MySQL.', reason }]);
  });

  test.each([
    ['names', 'for Acme', 'for Globex'],
    ['negation', 'may be shared', 'may not be shared'],
    ['numbers', 'until year 7', 'until year 8'],
  ])('keeps both of two requirements that differ only in %s', async (_, one, other) => {
    const rule =
      'The audit export for Acme must list every signed harbour ledger entry, may be shared with each island captain, and stays in the locked tower archive until year 7.';
    const changed = rule.replace(one, other);

    const { requirements } = await summaryOf(rule, changed);

    expect(requirements).toEqual(expect.arrayContaining([rule, changed]));
  });

  test('lists the questions that were not answered, and a revoked decision beside the one that revokes it', async () => {
    const { decisions, openQuestions } = await summaryOf(
      'We decided to host the ledger database in Frankfurt near the office.',
      'Which printers do the island harbours have?',
      'I do not know. What does the second node cost?',
      'It costs twice as much as the first one.',
      "Let's move on. We decided to host the ledger database in Amsterdam.",
    );

    expect(decisions.map(({ decision }: { decision: string }) => decision)).toEqual([
      'We decided to host the ledger database in Frankfurt near the office.',
      'We decided to host the ledger database in Amsterdam.',
    ]);
    expect(openQuestions).toEqual(['Which printers do the island harbours have?']);
  });

  test('keeps its contract for any sequence of operations', async () => {
    const level = fc.constantFrom('light', 'deep', 'aggressive');
    const at = fc.nat({ max: 29 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('compact' as const), level }),
      fc.record({ do: fc.constant('pin' as const), at }),
      fc.record({ do: fc.constant('unpin' as const), at }),
      fc.record({ do: fc.constant('exclude' as const), at, exclude: fc.boolean() }),
      fc.record({ do: fc.constant('append' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const { emulator, id, call, compact, read } = compacting(talkOf(30));
        const messages = emulator.conversations.get(id)?.messages ?? [];
        for (const action of steps) {
          const before = await read();
          const messageId = 'at' in action ? messages[action.at]?.id : undefined;
          if (action.do === 'append') emulator.conversations.append(id, talkOf(3));
          if (action.do === 'pin') await call('POST', `/api/context/pin/${id}`, { messageId });
          if (action.do === 'unpin') await call('DELETE', `/api/context/pin/${id}?messageId=${messageId}`);
          if (action.do === 'exclude')
            await call('PATCH', `/api/context/exclude/${id}/${messageId}`, { exclude: action.exclude });
          if (action.do === 'compact') {
            const result = await compact(action.level);
            const after = await read();
            expect(result.tokensRemoved).toBe(result.previousTokenCount - result.newTokenCount);
            expect(result.tokensRemoved).toBeGreaterThanOrEqual(0);
            expect(result.previousTokenCount).toBe(before.metadata.compressedTokens);
            expect(result.newTokenCount).toBe(after.metadata.compressedTokens);
            expect(after.metadata.totalTokens).toBe(before.metadata.totalTokens);
            expect(after.pinnedMemory).toEqual(before.pinnedMemory);
            expect(await compact(action.level)).toMatchObject({ tokensRemoved: 0, summaryUpdated: false });
            expect(await read()).toEqual(after);
          }
          const now = await read();
          const { version: was, lastUpdated: _, ...oldSummary } = before.rollingSummary;
          const { version, lastUpdated: __, ...summary } = now.rollingSummary;
          expect(version - was).toBe(JSON.stringify(summary) === JSON.stringify(oldSummary) ? 0 : 1);
          const text = JSON.stringify(summary);
          for (const message of emulator.conversations.get(id)?.messages ?? []) {
            if (message.excluded) expect(text).not.toContain(message.content);
          }
        }
      }),
      {
        numRuns: atLength(20, 60),
        // After the pin, a sentence comes from another message, and the summary stays the same.
        examples: [
          [
            [
              { do: 'append' },
              { do: 'compact', level: 'deep' },
              { do: 'append' },
              { do: 'pin', at: 0 },
              { do: 'compact', level: 'deep' },
            ],
          ],
        ],
      },
    );
  });
});
