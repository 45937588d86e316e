/**
 * Measures this package and its peers in one run: `npm run bench`, or `node24 bench/run.js` on another Node. Arguments
 * select items by a prefix of their name (`plain`, `streams`, `plain-1k-16`). `quick` is faster and less exact.
 * `--strict` fails if a mark is missed. `--profile` (or `--profile=by-hand`) takes CPU profiles of the items instead.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { judge } from './marks.js';
import { Clients, coldStart, compare, startServer } from './measure.js';
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
      const rows = await compare(clients, entries, effort);
      figures.set(name, Object.fromEntries(table.contestants.map((contestant, at) => [contestant, rows[at]])));
    }
    print.table(table, items, figures);
  }
  if (wanted('cold')) {
    const contestants = ['by-hand', 'context-gateway', 'groq-sdk', 'openai', 'stripe'];
    figures.set('cold', coldStart(server, contestants, quick ? 5 : 15));
    print.cold(figures.get('cold'));
  }
  const marks = judge(figures);
  if (marks.length > 0) print.marks(marks);
  if (values.strict && marks.some(({ met }) => !met)) process.exitCode = 1;
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
  const names = ['context-gateway', 'undici', 'eventsource-parser', 'openai', 'groq-sdk', 'stripe', 'ky'];
  return `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim()}; ${names.map((name) => `${name} ${version(name)}`).join(', ')}.`;
}
