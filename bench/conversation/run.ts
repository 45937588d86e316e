/**
 * Compares five ways to keep a chat within its window: `npm run bench:conversation`. The argument may be another folder
 * of meetings. Writes docs/conversation-bench.md and its chart.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { chart } from './chart.js';
import { readMeetings } from './meeting.js';
import { type Played, play } from './play.js';
import { report } from './report.js';
import { WAYS } from './ways.js';

/** Recorded meetings whose license forbids redistribution. Without them, our own sample is used. */
const RECORDED = '../shared/data/meetings';
const SAMPLE = 'bench/conversation/sample';
const WINDOWS = [4000, 8000];

/** The totals of one way over all meetings. */
export interface Row extends Played {
  window: number;
  way: string;
}

async function main(folder: string): Promise<void> {
  const meetings = readMeetings(folder);
  const rows: Row[] = [];
  for (const window of WINDOWS) {
    for (const way of WAYS) {
      const played: Played[] = [];
      for (const meeting of meetings) played.push(await play(meeting, window, way));
      const row = { window, way: way.name, ...total(played) };
      rows.push(row);
      console.log(
        `${window} ${way.name}: ${row.recalled} of ${row.evidence} recalled, ${row.fitted} of ${row.prompts} fitted`,
      );
    }
  }
  const turns = meetings.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  writeFileSync('docs/conversation-bench.svg', chart(rows));
  writeFileSync(
    'docs/conversation-bench.md',
    report(rows, { meetings: meetings.length, turns, isSample: folder === SAMPLE }),
  );
}

function total(played: readonly Played[]): Played {
  const sum = (field: keyof Played): number => played.reduce((all, one) => all + one[field], 0);
  return {
    turns: sum('turns'),
    prompts: sum('prompts'),
    fitted: sum('fitted'),
    tokens: sum('tokens'),
    stable: sum('stable'),
    compactions: sum('compactions'),
    evidence: sum('evidence'),
    recalled: sum('recalled'),
  };
}

void main(process.argv[2] ?? (existsSync(RECORDED) ? RECORDED : SAMPLE));
