import type { RollingSummary } from 'context-gateway';
import { diffSummaries } from 'context-gateway/conversation';
import { describe, expect, test } from 'vitest';
import type { LostEntry } from '../../src/conversation/model.js';
import { forgetMessage, lostWith } from '../../src/conversation/receipt.js';
import { decision, summary } from './samples.js';

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
    ['Backups stay in the archive for fifteen days.', 'Backups stay in the archive for ninety days.'],
    ['Die Sicherung bleibt vierzig Tage im Archiv.', 'Die Sicherung bleibt vierzehn Tage im Archiv.'],
    ['El archivo guarda cada copia treinta días.', 'El archivo guarda cada copia noventa días.'],
    ['Il porto non accetta moto d’acqua al molo.', 'Il porto accetta moto d’acqua al molo.'],
    ['De haven bewaart geen gegevens van gasten.', 'De haven bewaart gegevens van gasten.'],
    ['Порт не хранит данные гостей гавани.', 'Порт хранит данные гостей гавани.'],
    ['The relay accepts a frame if status != 5 holds.', 'The relay accepts a frame if status = 5 holds.'],
    ['Store at −20 °C.', 'Store at 20 °C.'],
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

/** What is lost after compactions that led from one summary to the next. */
function lostAfter(...[first, ...others]: RollingSummary[]): LostEntry[] {
  let before = first;
  let lost: LostEntry[] = [];
  for (const after of others) {
    lost = lostWith(after, lost, before);
    before = after;
  }
  return lost;
}

describe('what compactions lost', () => {
  const fast = { requirements: ['Be fast.'] };

  test('is what earlier versions had and the newest has not, without goals and plans', () => {
    const lost = lostAfter(
      summary({ version: 1, ...fast, decisions: [decision('Use Postgres.')], currentPlan: ['Write tests.'] }),
      summary({ version: 2, ...fast }),
      summary({ version: 3 }),
    );

    expect(lost.map(({ text, until }) => [text, until])).toEqual([
      ['Use Postgres.', 1],
      ['Be fast.', 2],
    ]);
  });

  test('is no longer lost if it comes back', () => {
    const lost = lostAfter(
      summary({ version: 1, requirements: ['Six hours offline at the pier.'] }),
      summary({ version: 2 }),
      summary({ version: 3, requirements: ['At the pier: six hours offline!'] }),
    );

    expect(lost).toEqual([]);
  });

  test('is every decision, however many', () => {
    const summaries = Array.from({ length: 59 }, (_, i) =>
      summary({ version: i, decisions: [decision(`${i}d, ${i}e and ${i}f.`)] }),
    );

    expect(lostAfter(...summaries)).toHaveLength(58);
  });

  test('does not include what vanished without a compaction, because its message was excluded', () => {
    expect(lostWith(summary({ version: 2 }), [], undefined)).toEqual([]);
  });

  test('is forgotten if its message is excluded', () => {
    const lost = lostAfter(
      summary({ version: 1, requirements: ['The password is sesame.', 'Be fast.'] }),
      summary({ version: 2 }),
    );

    expect(textsOf(forgetMessage(lost, 'By the way, the password is sesame. Keep it safe.'))).toEqual(['Be fast.']);
  });

  test('is kept if the excluded message mentions it among other things', () => {
    const lost = lostAfter(summary({ version: 1, requirements: ['Every export is signed.'] }), summary({ version: 2 }));
    const content = 'I do not like that every export of the week is signed by Bob, nor the berth fee of 40 euros.';

    expect(forgetMessage(lost, content)).toHaveLength(1);
  });
});
