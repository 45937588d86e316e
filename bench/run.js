/**
 * Measures this package and its peers in one run: `npm run bench`, or `node24 bench/run.js` on another Node. Arguments
 * select items by a prefix of their name (`plain`, `streams-paced`, `plain-1k-16`). `quick` is faster and less exact.
 * `--strict` fails if a mark is missed. `--profile` (or `--profile=by-hand`) takes CPU profiles of the items instead.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { coldStart, leftEarly, slowReader } from './extremes.js';
import { growthOfCalls, growthOfEvents } from './growth.js';
import { judge } from './marks.js';
import { Clients, compare, startServer } from './measure.js';
import * as print from './print.js';
import { TABLES } from './tables.js';

const profileOf = process.argv.find((arg) => arg.startsWith('--profile'))?.split('=');
const { positionals, values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => !arg.startsWith('--profile')),
  allowPositionals: true,
  options: { strict: { type: 'boolean' } },
});
const quick = positionals.includes('quick');
const words = positionals.filter((word) => word !== 'quick');
const effort = quick
  ? { rounds: 7, dropped: 1, turn: 100, warm: 800 }
  : { rounds: 11, dropped: 1, turn: 160, warm: 1_000 };
const wanted = (name) => words.length === 0 || words.some((word) => name === word || name.startsWith(`${word}-`));
const GROWN = ['by-hand', 'context-gateway'];

const server = await startServer();
const clients = new Clients(server.origin);
const figures = new Map();
print.machine(versions(), effort.rounds);

if (profileOf !== undefined) await profiles(profileOf[1] ?? 'context-gateway');
else await measurements();
clients.stop();
server.stop();

async function measurements() {
  for (const table of TABLES) {
    const items = table.items.filter(({ name }) => wanted(name));
    if (items.length === 0) continue;
    for (const { name, column: _, ...task } of items) {
      const entries = table.contestants.map((contestant) => ({ contestant, ...task }));
      // A turn with 1,000 streams at once takes seconds.
      const rows = await compare(
        clients,
        entries,
        task.inFlight === 1000 ? { ...effort, rounds: 7, dropped: 1 } : effort,
      );
      figures.set(name, Object.fromEntries(table.contestants.map((contestant, at) => [contestant, rows[at]])));
    }
    print.table(table, items, figures);
  }
  await measure('growth-calls', () => growthOfCalls(clients, GROWN, effort));
  await measure('growth-events', () =>
    growthOfEvents(clients, GROWN, { ...effort, rounds: Math.min(11, effort.rounds) }, quick ? 100_000 : 1_000_000),
  );
  clients.stop(); // so that the following measurements do not count their idle connections
  await measure('cold', () =>
    coldStart(server, ['by-hand', 'context-gateway', 'groq-sdk', 'openai', 'stripe', 'ai'], quick ? 5 : 15),
  );
  await measure('slow', () =>
    slowReader(server, ['bare', 'by-hand', 'context-gateway', 'openai'], quick ? 30 : 100, quick ? 1 : 3),
  );
  await measure('left', () => leftEarly(server, ['context-gateway', 'groq-sdk', 'openai', 'ai'], quick ? 200 : 2000));
  const marks = judge(figures);
  if (marks.length > 0) print.marks(marks);
  if (values.strict && marks.some(({ met }) => !met)) process.exitCode = 1;
}

async function measure(name, work) {
  if (!wanted(name)) return;
  const result = await work();
  figures.set(name, result);
  print.extreme(name, result);
}

async function profiles(contestant) {
  const folder = new URL('profiles/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const { name, method, model, inFlight } of TABLES.flatMap(({ items }) => items).filter((item) =>
    wanted(item.name),
  )) {
    const file = new URL(`${name}.${contestant}.node${process.versions.node}.cpuprofile`, folder);
    const alone = new Clients(server.origin);
    const task = { method, model, inFlight, ms: quick ? 1_500 : 5_000, file: file.pathname };
    print.profile(name, contestant, await alone.tell(contestant, 'profile', task), file.pathname);
    alone.stop();
  }
}

function versions() {
  const packages = new URL('node_modules/', import.meta.url);
  const version = (name) => JSON.parse(readFileSync(new URL(`${name}/package.json`, packages), 'utf8')).version;
  const names = ['context-gateway', 'undici', 'eventsource-parser', 'openai', 'groq-sdk', 'stripe', 'ky', 'ai'];
  return `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim()}; ${names.map((name) => `${name} ${version(name)}`).join(', ')}.`;
}
