import { diffSummaries } from 'context-gateway/conversation';
import { describe, expect, test } from 'vitest';
import type { Ledger as State } from '../../src/conversation/model.js';
import { EMPTY_LEDGER, forgetMessage, lostEntries, observeSummary } from '../../src/conversation/receipt.js';
import { decision, metadata, summary } from './samples.js';

/** A ledger that remembers its state. */
class Ledger {
  state: State = EMPTY_LEDGER;

  observe(...observed: Parameters<typeof observeSummary> extends [unknown, ...infer Rest] ? Rest : never): void {
    this.state = observeSummary(this.state, ...observed);
  }

  forget(content?: string): void {
    this.state = forgetMessage(this.state, content);
  }

  lost() {
    return lostEntries(this.state);
  }
}

const textsOf = (entries: readonly { text: string }[]) => entries.map(({ text }) => text);

describe('the difference of two summaries', () => {
  test.each([
    { before: 'We use Postgres.', after: 'We use Postgres.', is: 'kept', because: 'it is the same' },
    { before: 'We use Postgres.', after: 'we  use POSTGRES', is: 'kept', because: 'case and punctuation are ignored' },
    {
      before: 'We use Postgres because constraints stop double bookings.',
      after: 'Postgres it is: its constraints stop double bookings.',
      is: 'reworded',
      because: 'most of its words remain',
    },
    { before: 'We use Postgres.', after: 'Lunch is at noon.', is: 'lost', because: 'nothing of it remains' },
  ])('counts "$before" as $is next to "$after": $because', ({ before, after, is }) => {
    const diff = diffSummaries(summary({ requirements: [before] }), summary({ requirements: [after] }));

    expect([diff.kept.length, diff.reworded.length, diff.lost.length]).toEqual(
      ['kept', 'reworded', 'lost'].map((kind) => Number(kind === is)),
    );
  });

  test('matches a decision by its id and a common word, and a definition by its term', () => {
    const before = summary({
      decisions: [decision('Ferries at dawn.', { id: 'd1' })],
      definitions: { quota: 'spaces of two' },
    });
    const after = summary({
      decisions: [decision('Ferries leave early.', { id: 'd1' })],
      definitions: { quota: 'two places' },
    });

    const diff = diffSummaries(before, after);

    expect(diff.reworded.map(({ before, after }) => [before.text, after.text])).toEqual([
      ['Ferries at dawn.', 'Ferries leave early.'],
      ['spaces of two', 'two places'],
    ]);
    expect(diff.lost).toEqual([]);
    expect(diff.added).toEqual([]);
  });

  test('the difference of two summaries of equal summaries is empty, even if a text has two ids or stands in two sections', () => {
    const text = 'Use Postgres.';
    const decisions = [decision(text, { id: 'd1' }), decision(text, { id: 'd2' })];
    const same = summary({ decisions, requirements: [text], goals: ['Be fast.', 'Be fast.'] });

    const diff = diffSummaries(same, structuredClone(same));

    expect(diff.kept).toHaveLength(5);
    expect(diff).toMatchObject({ reworded: [], lost: [], added: [] });
  });

  test('adds no repetition of a known statement', () => {
    const [one, two] = [decision('Use Postgres.', { id: 'd1' }), decision('Use Postgres.', { id: 'd2' })];

    expect(diffSummaries(summary({ decisions: [one] }), summary({ decisions: [one, two] })).added).toEqual([]);
    expect(diffSummaries(summary(), summary({ decisions: [one, two] })).added).toHaveLength(2);
    expect(diffSummaries(summary({ decisions: [one, two] }), summary({ decisions: [two] })).lost).toEqual([]);
  });

  test('distinguishes another decision with the same id', () => {
    const before = summary({ decisions: [decision('Invoices are sent monthly.', { id: '1' })] });

    expect(diffSummaries(before, summary({ decisions: [decision('Boats are red.', { id: '1' })] })).lost).toHaveLength(
      1,
    );
  });

  test.each([
    ['The service must not delete records of guests.', 'The service must delete records of guests.'],
    ['Requests time out after 30 seconds at the proxy.', 'Requests time out after 5 seconds at the proxy.'],
    ['Requests time out after thirty seconds at the proxy.', 'Requests time out after five seconds at the proxy.'],
    ['Every export of the harbour is signed by Ingrid.', 'Every export of the harbour is signed by Bob.'],
    ['Ingrid signs every export of the harbour office.', 'Bob signs every export of the harbour office.'],
    [
      'The invoices of all customers stay in PostgreSQL for now.',
      'The invoices of all customers stay in MySQL for now.',
    ],
    ["Guests can't book two berths in summer.", 'Guests can book two berths in summer.'],
    ['Wir löschen die Daten der Gäste nicht am Abend.', 'Wir löschen die Daten der Gäste am Abend.'],
    ['我们不删除客人的预订记录和发票。', '我们删除客人的预订记录和发票。'],
    ['会议改到三点在港口办公室举行。', '会议改到五点在港口办公室举行。'],
    ['Use C++.', 'Use C#.'],
    ['Store at -20 °C.', 'Store at 20 °C.'],
    ['Latency < 5 ms', 'Latency > 5 ms'],
  ])('distinguishes "%s" from "%s"', (before, after) => {
    const diff = diffSummaries(summary({ requirements: [before] }), summary({ requirements: [after] }));

    expect([diff.kept.length, diff.lost.length, diff.added.length]).toEqual([0, 1, 1]);
  });

  test('finds a statement that moved to another section', () => {
    const diff = diffSummaries(
      summary({ requirements: ['Six hours offline.'] }),
      summary({ goals: ['Six hours offline.'] }),
    );

    expect(textsOf(diff.kept)).toEqual(['Six hours offline.']);
    expect(diff.lost).toEqual([]);
  });

  test('reports lost decisions, requirements and definitions, but not goals and plans, which change often', () => {
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

/** The metadata of a context that was compacted at this version. */
const at = (version: number) => metadata({ lastCompactionAt: `2026-01-15T10:00:0${version}.000Z` });

describe('the ledger', () => {
  test('lists statements of earlier versions that are not in the newest', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, decisions: [decision('Use Postgres.')], requirements: ['Be fast.'] }), at(1));
    ledger.observe(summary({ version: 2, requirements: ['Be fast.'] }), at(2));
    ledger.observe(summary({ version: 3 }), at(3));

    expect(ledger.lost().map(({ text, until }) => [text, until])).toEqual([
      ['Use Postgres.', 1],
      ['Be fast.', 2],
    ]);
  });

  test('drops a statement that comes back', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['Six hours offline at the pier.'] }), at(1));
    ledger.observe(summary({ version: 2 }), at(2));
    ledger.observe(summary({ version: 3, requirements: ['At the pier: six hours offline!'] }), at(3));

    expect(ledger.lost()).toEqual([]);
  });

  test('keeps every lost decision, and the newest 100 plans', () => {
    const ledger = new Ledger();
    for (let version = 1; version < 60; version += 1) {
      const currentPlan = [1, 2, 3, 4, 5].map((i) => `${version}x${i}a, ${version}x${i}b and ${version}x${i}c.`);
      const time = metadata({ lastCompactionAt: String(version) });
      ledger.observe(
        summary({ version, currentPlan, decisions: [decision(`${version}d, ${version}e and ${version}f.`)] }),
        time,
      );
    }

    expect(ledger.lost().filter(({ section }) => section === 'decisions')).toHaveLength(58);
    expect(ledger.lost().filter(({ section }) => section === 'currentPlan')).toHaveLength(100);
  });

  test('forgets a statement that vanished without a compaction, because its message was excluded', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['The password is sesame.'] }), at(1));
    ledger.observe(summary({ version: 2 }), at(1));

    expect(ledger.lost()).toEqual([]);
    expect(JSON.stringify(ledger.state)).not.toContain('sesame');
  });

  test('forgets a lost statement if its message is excluded', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['The password is sesame.', 'Be fast.'] }), at(1));
    ledger.observe(summary({ version: 2 }), at(2));

    ledger.forget('By the way, the password is sesame. Keep it safe.');

    expect(textsOf(ledger.lost())).toEqual(['Be fast.']);
  });

  test('keeps a statement if the excluded message mentions it among other things', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['Every export is signed.'] }), at(1));
    ledger.observe(summary({ version: 2 }), at(2));

    ledger.forget('I do not like that every export of the week is signed by Bob, nor the berth fee of 40 euros.');

    expect(ledger.lost()).toHaveLength(1);
  });

  test('lists a statement that a compaction drops after an exclude that changed nothing', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['Be fast.'] }), at(1));
    ledger.forget('Good morning.');
    ledger.observe(summary({ version: 1, requirements: ['Be fast.'] }), at(1));
    ledger.observe(summary({ version: 2 }), at(2));

    expect(ledger.lost()).toHaveLength(1);
  });

  test('forgets what an exclude removes if the service sends no lastCompactionAt, and lists later losses', () => {
    const untold = metadata();
    delete untold.lastCompactionAt;
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, requirements: ['The code is 12.', 'Be fast.'] }), untold);
    ledger.forget();
    ledger.observe(summary({ version: 2, requirements: ['Be fast.'] }), untold);
    expect(ledger.lost()).toEqual([]);

    ledger.observe(summary({ version: 3 }), untold);
    expect(textsOf(ledger.lost())).toEqual(['Be fast.']);
  });

  test('continues from a state stored as JSON', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 1, decisions: [decision('Use Postgres.')] }), at(1));
    const again = new Ledger();
    again.state = JSON.parse(JSON.stringify(ledger.state));

    again.observe(summary({ version: 2 }), at(2));

    expect(textsOf(again.lost())).toEqual(['Use Postgres.']);
  });

  test('ignores an older version', () => {
    const ledger = new Ledger();
    ledger.observe(summary({ version: 2, decisions: [decision('Use Postgres.')] }), at(2));

    ledger.observe(summary({ version: 1 }), at(1));

    expect(ledger.lost()).toEqual([]);
  });
});
