/**
 * Several processes share one limit in one Redis: `npx tsx bench/redis-limit.ts`. Prints the table of docs/internals/rate-limits.md and
 * draws the calls that each process completed per second.
 */
import { writeFileSync } from 'node:fs';
import { type Outcome, runFleet, TROUBLES, type Trouble } from '../test/redis/fleet.js';

const PROCESSES = 8;
const LIMIT = 300;
const WINDOW = 6_000;
const WINDOWS = 5;
const DRAWN: readonly Trouble[] = ['none', 'killed', 'emptied'];
const COLORS = ['#4e79a7', '#f28e2b', '#59a14f', '#e15759', '#76b7b2', '#edc948', '#b07aa1', '#9c755f'];

const outcomes: Outcome[] = [];
for (const trouble of Object.keys(TROUBLES) as Trouble[]) // its own keys
  outcomes.push(await runFleet({ processes: PROCESSES, limit: LIMIT, window: WINDOW, windows: WINDOWS, trouble }));

console.log('| during the run | served | of the limit | rejected | slowest ÷ fastest process |');
console.log('|---|---|---|---|---|');
for (const { plan, served, used, refusedShare, fairness } of outcomes) {
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  console.log(
    `| ${TROUBLES[plan.trouble]} | ${served} | ${percent(used)} | ${percent(refusedShare)} | ${fairness.toFixed(2)} |`,
  );
}
const drawn = outcomes.filter(({ plan }) => DRAWN.includes(plan.trouble));
writeFileSync('docs/internals/rate-limits.svg', draw(drawn));
console.log('\ndocs/internals/rate-limits.svg is drawn.');
process.exit(); // connections to the emulators may still be open

/** One panel per run, one bar per second, one color per process. */
function draw(runs: readonly Outcome[]): string {
  const width = 760;
  const height = 150;
  const panels = runs.map((run, n) => panel(run, n * (height + 50) + 30, width, height));
  const total = runs.length * (height + 50) + 40;
  const legend = COLORS.slice(0, PROCESSES)
    .map((color, n) => text(50 + n * 80, total - 12, `process ${n + 1}`, color))
    .join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width + 60} ${total}" font-family="sans-serif" font-size="12" role="img" aria-label="Calls served each second, by process and trouble"><rect width="100%" height="100%" fill="#fff"/>${panels.join('')}${legend}</svg>\n`;
}

function panel({ plan, perSecond }: Outcome, top: number, width: number, height: number): string {
  const seconds = perSecond[0]?.length ?? 0;
  const totals = Array.from({ length: seconds }, (_, at) => perSecond.reduce((sum, one) => sum + (one[at] ?? 0), 0));
  const most = Math.max(...totals);
  const step = width / seconds;
  const bars: string[] = [];
  for (let at = 0; at < seconds; at += 1) {
    let y = top + height;
    for (const [n, counts] of perSecond.entries()) {
      const size = ((counts[at] ?? 0) / most) * height;
      y -= size;
      const place = `x="${(50 + at * step).toFixed(1)}" y="${y.toFixed(1)}" width="${(step - 2).toFixed(1)}"`;
      if (size > 0) bars.push(`<rect ${place} height="${size.toFixed(1)}" fill="${COLORS[n % COLORS.length]}"/>`);
    }
  }
  const windowEnds = Array.from({ length: WINDOWS }, (_, n) => 50 + ((n * plan.window) / 1_000) * step);
  const lines = windowEnds.map(
    (x) => `<path d="M${x.toFixed(1)} ${top}v${height}" stroke="#ccc" stroke-dasharray="3"/>`,
  );
  const title = `Calls served each second: ${TROUBLES[plan.trouble]}`;
  return `${text(50, top - 8, title, '#000')}${text(8, top + 10, String(most), '#666')}${lines.join('')}${bars.join('')}`;
}

function text(x: number, y: number, words: string, color: string): string {
  return `<text x="${x}" y="${y}" fill="${color}">${words}</text>`;
}
