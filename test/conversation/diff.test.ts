import type { RollingSummary } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { diffSummaries, forgetMessages, lostWith } from '../../src/conversation/context/receipt.js';
import type { LostEntry } from '../../src/conversation/model.js';
import { decision, summary } from './samples.js';

describe('the difference of two summaries', () => {
  test.each([
    ['We use Postgres.', 'we  use POSTGRES'],
    ['The export is signed.', 'Export is signed'],
    ['An admin may delete a workspace.', 'Admins may delete workspaces.'],
    ['Every PR needs two reviews.', 'Every PR needed two reviews'],
    ['We are moving CI to GitHub Actions.', 'We are move CI to GitHub Action.'],
    ['We use Redis, Kafka and Postgres.', 'We use Postgres, Redis and Kafka.'],
    ['Log in with mail or phone.', 'Log in with phone or mail.'],
    ['Supported: Chrome, Firefox, Safari', 'Supported: Safari, Chrome, Firefox'],
    ['Policies apply to retries.', 'The policy applies to a retry.'],
    ['In June, we ship.', 'In June we ship.'],
    ['我们使用 Postgres。', '我们使用 Postgres'],
    ['Rotate the keys. The owner is told.', 'Rotate keys. Owner is told.'],
    ['Requests are batched, edited, needed and fixed.', 'Requests are batch, edit, need and fix.'],
  ])('keeps "%s" as "%s"', (before, after) => {
    const diff = diffSummaries(summary({ requirements: [before] }), summary({ requirements: [after] }));

    expect([diff.kept.length, diff.lost.length, diff.added.length]).toEqual([1, 0, 0]);
  });

  test('compares decisions by their text, and definitions by term and text', () => {
    const decided = (text: string, id: string) => summary({ decisions: [decision(text, { id })] });
    const defined = (term: string, text: string) => summary({ definitions: { [term]: text } });

    const [dawn, quota] = [decided('Ferries at dawn.', 'd1'), defined('quota', 'two places')];
    expect(diffSummaries(dawn, decided('Ferries at dawn.', 'd2')).lost).toEqual([]);
    expect(diffSummaries(dawn, decided('Ferries leave early.', 'd1')).lost).toHaveLength(1);
    expect(diffSummaries(quota, defined('quota', 'three places')).lost).toHaveLength(1);
    expect(diffSummaries(quota, defined('limit', 'two places')).lost).toHaveLength(1);
  });

  test('the difference of two summaries of equal summaries is empty, even if a text has two ids or stands in two sections', () => {
    const text = 'Use Postgres.';
    const decisions = [decision(text, { id: 'd1' }), decision(text, { id: 'd2' })];
    const same = summary({ decisions, requirements: [text], goals: ['Be fast.', 'Be fast.'] });

    const diff = diffSummaries(same, structuredClone(same));

    expect(diff.kept).toHaveLength(5);
    expect(diff).toMatchObject({ lost: [], added: [] });
  });

  test('adds no repetition of a known statement', () => {
    const [one, two] = [decision('Use Postgres.', { id: 'd1' }), decision('Use Postgres.', { id: 'd2' })];

    expect(diffSummaries(summary({ decisions: [one] }), summary({ decisions: [one, two] })).added).toEqual([]);
    expect(diffSummaries(summary(), summary({ decisions: [one, two] })).added).toHaveLength(2);
    expect(diffSummaries(summary({ decisions: [one, two] }), summary({ decisions: [two] })).lost).toEqual([]);
  });

  test.each([
    ['The service must not delete records of guests.', 'The service must delete records of guests.'],
    ['Requests time out after 30 seconds at the proxy.', 'Requests time out after 5 seconds at the proxy.'],
    ['我们不删除客人的预订记录和发票。', '我们删除客人的预订记录和发票。'],
    ['The relay accepts a frame if status != 5 holds.', 'The relay accepts a frame if status = 5 holds.'],
    ['Store at −20 °C.', 'Store at 20 °C.'],
    ['Use C++.', 'Use C#.'],
    ['Store at -20 °C.', 'Store at 20 °C.'],
    ['Latency < 5 ms', 'Latency > 5 ms'],
    ['Use http between services.', 'Use https between services.'],
    ['Publish the feed every night.', 'Publish the fee every night.'],
    ['Alice reviews the code of Bob.', 'Bob reviews the code of Alice.'],
    ['Retry on 429 and 503.', 'Retry on 429 or 503.'],
    ['The fee is $40.', 'The fee is €40.'],
    ['Use 80% of the window.', 'Use 80 of the window.'],
    ['Version 1.5 is supported.', 'Version 15 is supported.'],
    ['The plan must be approved.', 'The plane must be approved.'],
    ['Rename the site.', 'Rename the sit.'],
    ['Builds run on Linux.', 'Builds ran on Linux.'],
    ['👍 for the blue lamp', '👎 for the blue lamp'],
    ['The job runs only if !paused.', 'The job runs only if paused.'],
    ['Customers get plan A.', 'Customers get plan.'],
    ['Ann, and Bob or Carl, must approve.', 'Carl, and Ann or Bob, must approve.'],
    ['The price is rated.', 'The price is rat.'],
    ['Parts are planed.', 'Parts are planned.'],
    ['Partners are using it.', 'Partners are us it.'],
  ])('distinguishes "%s" from "%s"', (before, after) => {
    const diff = diffSummaries(summary({ requirements: [before] }), summary({ requirements: [after] }));

    expect([diff.kept.length, diff.lost.length, diff.added.length]).toEqual([0, 1, 1]);
  });

  test('finds a statement that moved to another section', () => {
    const text = 'Six hours offline.';
    const diff = diffSummaries(summary({ requirements: [text] }), summary({ goals: [text] }));

    expect(diff).toMatchObject({ kept: [{ text }], lost: [] });
  });

  test('reports lost decisions, requirements and definitions, but not goals and plans, which change often', () => {
    const before = summary({
      goals: ['Calm nights.'],
      currentPlan: ['Write tests.'],
      requirements: ['Six hours offline.'],
      decisions: [decision('Use Postgres.')],
      definitions: { quota: 'two spaces' },
    });

    const texts = diffSummaries(before, summary()).lost.map(({ text }) => text);
    expect(texts).toEqual(['Six hours offline.', 'Use Postgres.', 'two spaces']);
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
  test('is what earlier versions had and the newest has not, without goals and plans', () => {
    const requirements = ['Be fast.'];
    const lost = lostAfter(
      summary({ version: 1, requirements, decisions: [decision('Use Postgres.')], currentPlan: ['Write tests.'] }),
      summary({ version: 2, requirements }),
      summary({ version: 3 }),
    );

    const [first, second] = lost;
    expect(first).toMatchObject({ text: 'Use Postgres.', until: 1 });
    expect(second).toMatchObject({ text: 'Be fast.', until: 2 });
    expect(lost).toHaveLength(2);
  });

  test('is no longer lost if it comes back', () => {
    const lost = lostAfter(
      summary({ version: 1, requirements: ['Six hours offline at the pier.'] }),
      summary({ version: 2 }),
      summary({ version: 3, requirements: ['Six hour offline at the pier!'] }),
    );

    expect(lost).toEqual([]);
  });

  test('does not include what vanished without a compaction, because its message was excluded', () => {
    expect(lostWith(summary({ version: 2 }), [], undefined)).toEqual([]);
  });

  test('is kept if the excluded message mentions it among other things', () => {
    const lost = lostAfter(summary({ version: 1, requirements: ['Every export is signed.'] }), summary({ version: 2 }));
    const content = 'I do not like that every export of the week is signed by Bob, nor the berth fee of 40 euros.';

    expect(forgetMessages(lost, [{ role: 'user', content }])).toHaveLength(1);
  });
});
