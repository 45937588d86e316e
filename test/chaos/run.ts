/**
 * The chaos run: `npm run chaos`, or `npm run chaos -- 17 18` for other seeds. `npm run chaos -- --explore` runs only
 * the properties of all tests, with a new seed, and `npm run chaos -- --explore 17` with this one.
 *
 * Runs a client with 64 callers against a service where three responses in ten are faulty, in two processes over real
 * sockets. Then plants seventeen bugs in the client, one at a time, to check that each is noticed. Without seeds it runs the
 * endurance tests as well. Exits with 0 only if all invariants hold for every seed, and all bugs are found, and all
 * tests pass.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { BUGS, type Bug } from './bugs.js';
import { exploreProperties, runEndurance } from './endurance.js';
import { judge, ms, p, percent, type Verdict } from './invariants.js';
import { KINDS, type Ledger, type Report } from './plan.js';

const args = process.argv.slice(2);
if (args[0] === '--explore') process.exit(exploreProperties(...args.slice(1, 2).map(Number)) ? 0 : 1);

const SEEDS = args.length > 0 ? args.map(Number) : [11, 23, 47];
const LOAD = 11_000;
const LOAD_WITH_BUG = 600;
/** How long a process may run after its work before it is killed, in ms. Above the limit of I9. */
const EXIT_TIMEOUT = 1_050;
const root = resolve(import.meta.dirname, '../..');

interface Run {
  readonly report: Report;
  readonly ledger: Ledger;
  readonly lingered: number;
}

/** Inside the project, so that its dependencies resolve, and outside of everything that is published. */
const folder = await mkdtemp(join(root, 'node_modules', '.chaos-'));
let failed = false;
try {
  const server = await bundle('server');
  const client = await bundle('load');
  for (const seed of SEEDS) {
    const run = await runWith(server, client, seed, LOAD);
    const verdicts = judge({ ...run, full: true });
    printRun(seed, run, verdicts);
    failed ||= verdicts.some(({ holds }) => !holds);
  }
  console.log('\nPlanted bugs, and the invariant that catches each');
  let found = 0;
  const tryBug = async (bug: Bug): Promise<void> => {
    const startedAt = performance.now();
    const run = await runWith(server, await bundle('load', bug), SEEDS[0] ?? 1, LOAD_WITH_BUG, bug);
    const broken = judge({ ...run, full: false }).filter(({ holds }) => !holds);
    const caught = broken.some(({ id }) => id === bug.invariant);
    if (caught) found += 1;
    const also = broken.map(({ id }) => id).filter((id) => id !== bug.invariant);
    const seen = broken.find(({ id }) => id === bug.invariant)?.seen ?? 'not noticed';
    console.log(
      `  ${caught ? '✓' : '✗'} ${bug.invariant.padEnd(4)} ${bug.name}: ${seen.slice(0, 70)}${also.length > 0 ? ` (also ${also.join(', ')})` : ''}, ${seconds(performance.now() - startedAt)}`,
    );
  };
  // Two at a time, since each waits more than it computes.
  const left = [...BUGS];
  const worker = async (): Promise<void> => {
    for (let bug = left.shift(); bug !== undefined; bug = left.shift()) await tryBug(bug);
  };
  await Promise.all([worker(), worker()]);
  console.log(`  ${found}/${BUGS.length} found`);
  failed ||= found < BUGS.length;
} finally {
  await rm(folder, { recursive: true });
}
if (args.length === 0) failed = !runEndurance() || failed;
process.exitCode = failed ? 1 : 0;

/** Bundles the program of one process. With a bug, its module is replaced by one that has the bug. */
async function bundle(name: string, bug?: Bug): Promise<string> {
  const outfile = join(folder, `${name}${bug === undefined ? '' : BUGS.indexOf(bug)}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    alias: { '#platform': join(root, 'src/platform/node.ts'), 'context-gateway': join(root, 'src/index.ts') },
    plugins: bug === undefined ? [] : [plant(bug)],
  });
  return outfile;
}

function plant({ module, place, instead, name }: Bug): Plugin {
  return {
    name: 'plant',
    setup(building) {
      building.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (relative(root, path) !== module) return undefined;
        const source = await readFile(path, 'utf8');
        if (source.split(place).length !== 2) throw new Error(`"${name}" has no place in ${module} any more`);
        return { contents: source.replace(place, () => instead), loader: 'ts' };
      });
    },
  };
}

async function runWith(server: string, client: string, seed: number, load: number, bug?: Bug): Promise<Run> {
  const service = fork(server, [String(seed), bug?.fault ?? 'none']);
  const [{ port }] = (await once(service, 'message')) as [{ port: number }];
  const runner = fork(client, [seed, port, load, bug === undefined ? 1 : 0].map(String), {
    execArgv: ['--no-warnings'],
  });
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

function printRun(seed: number, { report, ledger, lingered }: Run, verdicts: readonly Verdict[]): void {
  const { outcomes, memory } = report;
  const durations = outcomes.map(({ duration }) => duration);
  console.log(
    `\nSeed ${seed}: ${outcomes.length} calls in ${seconds(report.seconds * 1_000)}, ${Math.round(outcomes.length / report.seconds)} a second`,
  );
  for (const kind of KINDS) {
    const ofKind = outcomes.filter((outcome) => outcome.kind === kind);
    const well = ofKind.filter(({ end }) => end === 'success' || end === 'left').length;
    console.log(
      `  ${kind.padEnd(11)} ${percent(well, ofKind.length).padEnd(18)} ${histogram(ofKind.flatMap(({ end, detail }) => (end === 'success' || end === 'left' ? [] : [`${end}${detail ? ` ${detail}` : ''}`])))}`,
    );
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
