import { diffSummaries } from 'context-gateway/conversation';
import { describe, expect, test } from 'vitest';
import { Ledger } from '../../src/conversation/ledger.js';
import { decision, metadata, summary } from './samples.js';

const textsOf = (entries: readonly { text: string }[]) => entries.map(({ text }) => text);

describe('the difference of two summaries', () => {
  test.each([
    { before: 'We use Postgres.', after: 'We use Postgres.', is: 'kept', because: 'it is the same' },
    { before: 'We use Postgres.', after: 'we  use POSTGRES', is: 'kept', because: 'case and punctuation say nothing' },
    {
      before: 'We use Postgres because constraints stop double bookings.',
      after: 'Postgres it is: its constraints stop double bookings.',
      is: 'reworded',
      because: 'most of its words are there',
    },
    { before: 'We use Postgres.', after: 'Lunch is at noon.', is: 'lost', because: 'nothing of it is there' },
  ])('takes "$before" as $is beside "$after": $because', ({ before, after, is }) => {
    const diff = diffSummaries(summary({ requirements: [before] }), summary({ requirements: [after] }));

    expect([diff.kept.length, diff.reworded.length, diff.lost.length]).toEqual(
      ['kept', 'reworded', 'lost'].map((kind) => Number(kind === is)),
    );
  });

  test('knows a decision by its id and a definition by its term, whatever they say', () => {
    const before = summary({ decisions: [decision('Ferries at six.', { id: 'd1' })], definitions: { quota: 'two' } });
    const after = summary({
      decisions: [decision('Boats leave early.', { id: 'd1' })],
      definitions: { quota: 'three' },
    });

    const diff = diffSummaries(before, after);

    expect(diff.reworded.map(({ before, after }) => [before.text, after.text])).toEqual([
      ['Ferries at six.', 'Boats leave early.'],
      ['two', 'three'],
    ]);
    expect(diff.lost).toEqual([]);
    expect(diff.added).toEqual([]);
  });

  test('finds a statement that moved to another section', () => {
    const diff = diffSummaries(
      summary({ requirements: ['Six hours offline.'] }),
      summary({ goals: ['Six hours offline.'] }),
    );

    expect(textsOf(diff.kept)).toEqual(['Six hours offline.']);
    expect(diff.lost).toEqual([]);
  });

  test('loses decisions, requirements and definitions; goals and plans come and go', () => {
    const before = summary({
      goals: ['Calm nights.'],
      currentPlan: ['Write tests.'],
      requirements: ['Six hours offline.'],
      decisions: [decision('Use Postgres.')],
      definitions: { quota: 'two spaces' },
    });

    expect(textsOf(diffSummaries(before, summary()).lost)).toEqual([
      'Six hours offline.',
      'Use Postgres.',
      'two spaces',
    ]);
  });
});

/** A compaction at each version. */
const at = (version: number) => metadata({ lastCompactionAt: `2026-01-15T10:00:0${version}.000Z` });

describe('the ledger', () => {
  test('names what earlier versions held and the newest does not', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, decisions: [decision('Use Postgres.')], requirements: ['Be fast.'] }), at(1));
    ledger.observe(summary({ version: 2, requirements: ['Be fast.'] }), at(2));
    ledger.observe(summary({ version: 3 }), at(3));

    expect(ledger.lost().map(({ text, since, until }) => [text, since, until])).toEqual([
      ['Use Postgres.', 1, 1],
      ['Be fast.', 1, 2],
    ]);
  });

  test('lets go of what comes back', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['Six hours offline at the pier.'] }), at(1));
    ledger.observe(summary({ version: 2 }), at(2));
    ledger.observe(summary({ version: 3, requirements: ['At the pier: six hours offline!'] }), at(3));

    expect(ledger.lost()).toEqual([]);
  });

  test('does not bring back what a later decision takes back', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, decisions: [decision('We use Postgres for the bookings.')] }), at(1));
    const later = decision('We use MySQL for the bookings instead of Postgres.', {
      timestamp: '2026-01-16T10:00:00.000Z',
    });
    ledger.observe(summary({ version: 2, decisions: [later] }), at(2));

    expect(ledger.lost()).toEqual([]);
  });

  test.each([
    { later: 'We use Redis for the sessions.', because: 'it does not say that anything changed' },
    { later: 'Lunch is at one instead of noon.', because: 'it is about something else' },
  ])('brings a decision back beside "$later": $because', ({ later }) => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, decisions: [decision('We use Postgres for the bookings.')] }), at(1));
    const decisions = [decision(later, { timestamp: '2026-01-16T10:00:00.000Z' })];
    ledger.observe(summary({ version: 2, decisions }), at(2));

    expect(textsOf(ledger.lost())).toEqual(['We use Postgres for the bookings.']);
  });

  test('forgets what vanished without a compaction: a message was excluded', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['The password is sesame.'] }), at(1));
    ledger.observe(summary({ version: 2 }), at(1));

    expect(ledger.lost()).toEqual([]);
    expect(JSON.stringify(ledger.state)).not.toContain('sesame');
  });

  test('forgets what was lost before, when its message is excluded', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['The password is sesame.', 'Be fast.'] }), at(1));
    ledger.observe(summary({ version: 2 }), at(2));

    ledger.forget('By the way, the password is sesame. Keep it safe.');

    expect(textsOf(ledger.lost())).toEqual(['Be fast.']);
  });

  test('goes on from what was stored as JSON', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, decisions: [decision('Use Postgres.')] }), at(1));
    const again = new Ledger(JSON.parse(JSON.stringify(ledger.state)));

    again.observe(summary({ version: 2 }), at(2));

    expect(textsOf(again.lost())).toEqual(['Use Postgres.']);
  });

  test('takes no older version in', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 2, decisions: [decision('Use Postgres.')] }), at(2));

    ledger.observe(summary({ version: 1 }), at(1));

    expect(ledger.lost()).toEqual([]);
  });
});
