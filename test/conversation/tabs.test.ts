import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConversationStore, memoryStore } from 'context-gateway/conversation';
import { sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';
import { expect, onTestFinished, test } from 'vitest';
import { AT_LENGTH, atLength } from '../helpers/endurance.js';
import { lostBetween, playTab, randomFrom, type TabReport } from './tabs.js';

/** As rows of a database: empty columns are null, flags 0 or 1, and times a `Date` or a number. */
function asRows(store: Required<ConversationStore>): Required<ConversationStore> {
  return {
    ...store,
    load: async (id) => {
      const { messages = [], ...more } = (await store.load(id)) ?? {};
      const rows = messages.map((message, at) => ({
        name: null,
        ...message,
        excluded: message.excluded || at % 5 === 4 ? 1 : 0,
        stopped: at % 7 ? 0 : null,
        createdAt: at % 2 ? new Date(Date.UTC(2026, 0, 15)) : Date.UTC(2026, 0, 15),
      }));
      return { ...more, messages: rows as never };
    },
  };
}

const idsIn = async (store: ConversationStore): Promise<string[]> =>
  ((await store.load('talk'))?.messages ?? []).map(({ id }) => String(id));

function check(reports: readonly TabReport[], present: readonly string[]): void {
  expect(reports.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(lostBetween(reports, present)).toEqual([]);
  expect(new Set(present).size).toBe(present.length);
  const known = new Set(reports.flatMap(({ stored }) => stored));
  expect(present.filter((id) => !known.has(id))).toEqual([]);
}

test('no message is lost between tabs that send, edit and regenerate at once, with a disk that fails', async () => {
  let [conflicts, failures, replaced] = [0, 0, 0];
  for (let seed = 1; seed <= atLength(3, 60); seed += 1) {
    const store = asRows(memoryStore());

    const reports = await Promise.all([0, 1, 2].map((tab) => playTab(store, 8, randomFrom(seed * 3 + tab))));

    check(reports, await idsIn(store));
    for (const report of reports) {
      conflicts += report.conflicts;
      failures += report.failures;
      replaced += report.replaced.length;
    }
  }
  expect(Math.min(conflicts, failures, replaced)).toBeGreaterThan(0);
});

test.runIf(AT_LENGTH)('no message is lost between two processes on one database', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tabs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'chat.db');
  const program = join(import.meta.dirname, 'tab-process.ts');
  const play = async (seed: number): Promise<TabReport[]> => {
    const child = fork(program, [file, String(seed), '150'], { execArgv: ['--import', 'tsx'] });
    return ((await once(child, 'message')) as [TabReport[]])[0];
  };

  const reports = (await Promise.all([play(1), play(2)])).flat();

  check(reports, await idsIn(sqliteStore(new Database(file))));
  expect(reports.reduce((sum, { conflicts }) => sum + conflicts, 0)).toBeGreaterThan(10);
});
