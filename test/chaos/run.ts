/**
 * The chaos run: `npm run chaos`, or `npm run chaos -- 17 18` for other seeds. `npm run chaos -- --explore` runs only
 * the properties of all tests, with a new seed, and `npm run chaos -- --explore 17` with this one. `npm run chaos -- --processes 300`
 * runs only the chat servers, for 300 s on each database; `SECONDS=300 npm run chaos` runs everything, with them as long.
 *
 * Runs a client with 64 callers against a service where three responses in ten are faulty, in two processes over real
 * sockets. Without seeds it runs the chat servers and the endurance tests as well. Exits with 0 only if all invariants hold for every seed, and
 * all tests pass. `invariants.test.ts` checks that each invariant can fail.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { FOR_NODE } from '../helpers/built.js';
import { exploreProperties, runEndurance } from './endurance.js';
import { type Evidence, judge, ms, p, percent, type Verdict } from './invariants.js';
import { KINDS, type Ledger, type Report } from './plan.js';
import { playProcesses } from './processes.js';

const args = process.argv.slice(2);
if (args[0] === '--explore') process.exit(exploreProperties(...args.slice(1, 2).map(Number)) ? 0 : 1);
/** Of random turns of chat servers, on each database. */
const SECONDS = Number(process.env.SECONDS ?? 60);
if (args[0] === '--processes') {
  const [seconds = SECONDS, ...seed] = args.slice(1, 3).map(Number);
  process.exit((await playProcesses(seconds, ...seed)) ? 0 : 1);
}

const SEEDS = args.length > 0 ? args.map(Number) : [11, 23, 47];
/** Calls, whatever time they take. */
const LOAD = 28_000;
/** How long a process may run after its work before it is killed, in ms. Above the limit of I9. */
const EXIT_TIMEOUT = 1_050;
const root = resolve(import.meta.dirname, '../..');

/** Inside the project, so that its dependencies resolve, and outside of everything that is published. */
const folder = await mkdtemp(join(root, 'node_modules', '.chaos-'));
let failed = false;
try {
  const server = await bundle('server');
  const client = await bundle('load');
  for (const seed of SEEDS) {
    const run = await runWith(server, client, seed);
    const verdicts = judge(run);
    printRun(seed, run, verdicts);
    failed ||= verdicts.some(({ holds }) => !holds);
  }
} finally {
  await rm(folder, { recursive: true });
}
if (args.length === 0) {
  failed = !(await playProcesses(SECONDS)) || failed;
  failed = !runEndurance() || failed;
}
process.exitCode = failed ? 1 : 0;

/** Bundles the program of one process. */
async function bundle(name: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  const entryPoints = [join(import.meta.dirname, `${name}.ts`)];
  const alias = { '#platform': join(root, 'src/platform/node.ts'), 'context-gateway': join(root, 'src/index.ts') };
  await build({ ...FOR_NODE, entryPoints, outfile, packages: 'external', alias });
  return outfile;
}

async function runWith(server: string, client: string, seed: number): Promise<Evidence> {
  const service = fork(server, [String(seed)]);
  const [{ port }] = (await once(service, 'message')) as [{ port: number }];
  const runner = fork(client, [seed, port, LOAD].map(String), { execArgv: ['--no-warnings'] });
  const report = await new Promise<Report>((give, refuse) => {
    runner.on('message', async (message: { ask?: string; report?: Report }) => {
      if (message.report !== undefined) give(message.report);
      else if (message.ask !== undefined) runner.send((await answerOf(service, message.ask)) as object);
    });
    runner.once('exit', (code) => refuse(new Error(`the load ended early, with ${code}`)));
  });
  const reportedAt = performance.now();
  const kill = setTimeout(() => runner.kill(), EXIT_TIMEOUT);
  if (runner.exitCode === null) await once(runner, 'exit');
  clearTimeout(kill);
  const lingered = performance.now() - reportedAt;
  const { ledger } = (await answerOf(service, 'ledger')) as { ledger: Ledger };
  service.disconnect();
  return { report, ledger, lingered };
}

async function answerOf(service: ChildProcess, question: string): Promise<unknown> {
  service.send(question);
  const [answer] = await once(service, 'message');
  return answer;
}

function printRun(seed: number, { report, ledger, lingered }: Evidence, verdicts: readonly Verdict[]): void {
  const { outcomes, memory } = report;
  const durations = outcomes.map(({ duration }) => duration);
  console.log(
    `\nSeed ${seed}: ${outcomes.length} calls in ${seconds(report.seconds * 1_000)}, ${Math.round(outcomes.length / report.seconds)} a second`,
  );
  for (const kind of KINDS) {
    const ofKind = outcomes.filter((outcome) => outcome.kind === kind);
    const failed = ofKind.filter(({ end }) => end !== 'success' && end !== 'left');
    const well = percent(ofKind.length - failed.length, ofKind.length);
    const others = histogram(failed.map(({ end, detail }) => `${end}${detail ? ` ${detail}` : ''}`));
    console.log(`  ${kind.padEnd(11)} ${well.padEnd(18)} ${others}`);
  }
  console.log(
    `  latency     p50 ${ms(p(durations, 50))}, p95 ${ms(p(durations, 95))}, p99 ${ms(p(durations, 99))}, max ${ms(p(durations, 100))}`,
  );
  console.log(
    `  requests    ${ledger.requests} over ${ledger.connections} connections; retries ${counts(report.retries)}; ended because ${counts(report.stops)}`,
  );
  console.log(
    `  memory      rss ${mb(memory.start)} → ${mb(memory.peak)} MB, heap ${mb(memory.heapStart)} → ${mb(memory.heapEnd)} MB; process gone after ${ms(lingered)}`,
  );
  for (const { id, what, seen, holds } of verdicts)
    console.log(`  ${holds ? '✓' : '✗'} ${id.padEnd(4)} ${what.padEnd(58)} ${seen}`);
  console.log(`  ${verdicts.filter(({ holds }) => holds).length}/${verdicts.length} hold`);
}

function histogram(names: readonly string[]): string {
  const count: Record<string, number> = {};
  for (const name of names) count[name] = (count[name] ?? 0) + 1;
  return counts(count);
}

function counts(count: Readonly<Record<string, number>>): string {
  const entries = Object.entries(count).sort(([, a], [, b]) => b - a);
  const shown = entries.slice(0, 6).map(([name, times]) => `${name} ${times}`);
  return shown.join(', ') + (entries.length > 6 ? `, ${entries.length - 6} more` : '');
}

function mb(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
