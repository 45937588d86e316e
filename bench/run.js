/**
 * What a call, a stream, an import and a turn cost, beside undici by hand and the openai package: `npm run bench`. Writes the
 * table of docs/internals/performance.md. `npm run bench -- quick` takes fewer rounds, and only prints it.
 */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { CONTESTANTS } from './contestants.js';

const PAGE = 'docs/internals/performance.md';
const OURS = 'context-gateway';
const isQuick = process.argv.includes('quick');
const ROUNDS = isQuick ? 5 : 11;
/** Their code is not yet compiled. */
const DROPPED = 3;

/** `in` is the unit; figures of jobs are in µs. Only ours has turns. */
const ROWS = [
  { text: 'a plain call of 1 KB, 16 in flight', in: 'µs', job: 'plain', model: 'plain', times: 1_000, inFlight: 16 },
  { text: 'a streamed event', in: 'µs', job: 'stream', model: 'events', times: 5, events: 10_000 },
  { text: 'a stream to its first chunk', in: 'µs', job: 'first', model: 'first', times: 300 },
  { text: 'importing the package in a new process', in: 'ms', job: 'import' },
  ...[100, 1_000, 10_000, 100_000].map((messages) => {
    const text = `a turn of a conversation of ${messages.toLocaleString('en-US')} messages`;
    return { text, in: 'ms', job: 'turn', messages, times: 5, of: [OURS] };
  }),
];

const server = fork(new URL('server.js', import.meta.url));
const [port] = await once(server, 'message');
const clients = new Map(Object.keys(CONTESTANTS).map((name) => [name, clientOf(name)]));
const lines = [];
for (const row of ROWS) lines.push(await measure(row));
for (const child of [server, ...clients.values()]) child.disconnect();

const names = Object.keys(CONTESTANTS);
const table = [`| | ${names.join(' | ')} |`, `|---${'|---'.repeat(names.length)}|`, ...lines].join('\n');
const text = `\n${versions()}\n\n${table}\n\n`;
console.log(text);
if (!isQuick) {
  const part = /(?<=<!-- Written by npm run bench\. -->\n)[\s\S]*?(?=<!-- Until here\. -->)/;
  writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(part, text));
}

function clientOf(name) {
  const child = fork(new URL('client.js', import.meta.url), [name, `http://127.0.0.1:${port}`]);
  return child.on('exit', (code) => code && process.exit(code)); // its error is printed
}

/** Returns a line of the table: the median of each contestant. They take turns, every other round in reverse order. */
async function measure({ text, in: unit, of = Object.keys(CONTESTANTS), ...task }) {
  const figures = new Map(of.map((name) => [name, []]));
  for (let round = -DROPPED; round < ROUNDS; round += 1) {
    for (const name of round % 2 === 0 ? of : of.toReversed()) {
      const figure = task.job === 'import' ? importTime(name) : await tell(name, task);
      if (round >= 0) figures.get(name).push(figure);
    }
  }
  const cells = Object.keys(CONTESTANTS).map((name) => {
    if (!figures.has(name)) return '';
    return number(median(figures.get(name)) / (task.job === 'turn' ? 1_000 : 1));
  });
  return `| ${text}, ${unit} | ${cells.join(' | ')} |`;
}

async function tell(name, task) {
  const child = clients.get(name);
  child.send(task);
  const [figure] = await once(child, 'message');
  return figure;
}

/** Milliseconds that a process with these imports takes, over an empty one. */
function importTime(name) {
  const imports = CONTESTANTS[name].packages.map((one) => `await import('${one}');`).join('');
  return startTime(imports) - startTime('');
}

function startTime(code) {
  const args = ['--input-type=module', '-e', `${code}console.log(performance.now())`];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: import.meta.dirname });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function number(value) {
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US');
}

function versions() {
  const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version;
  const own = JSON.parse(readFileSync('package.json', 'utf8')).version;
  const packages = ['undici', 'openai'].map((name) => `${name} ${version(name)}`);
  return `Versions: Node ${process.versions.node} on ${cpus().length} cores of an ${cpus()[0]?.model.trim()}; context-gateway ${own},
${packages.join(', ')}. The figures are medians of ${ROUNDS} rounds.`;
}
