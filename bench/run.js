/** Side by side with peers, in one run: npm run bench. `npm run bench -- quick` takes a tenth of the time and says less. */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { aiSdk, byHand, globalFetch, groq, kyClient, openai, ours, oursWithFetch, stripe } from './contestants.js';
import { coldImport, leftEarly, slowReader } from './extremes.js';
import { compare, startServer } from './measure.js';

const quick = process.argv.includes('quick');
const rounds = quick ? 3 : 7;
const scale = quick ? 0.2 : 1;
const times = (count) => Math.max(1, Math.round(count * scale));

const { origin, stop } = await startServer();
const hand = byHand(origin);
const us = ours(origin);
const peers = [stripe(origin), kyClient(origin), groq(origin), openai(origin), aiSdk(origin)];
const streamers = [groq(origin), openai(origin), aiSdk(origin)];
const fetches = [globalFetch(origin), oursWithFetch(origin)];
let chunks = 0;
const onChunk = () => {
  chunks += 1;
};

printMachine();

await table(
  'A plain completion, everything checked: CPU µs per call',
  [hand, us, ...peers],
  [
    ...[1, 16, 128].map((inFlight) => ({
      column: `1 KB, ${inFlight} in flight`,
      work: (one) => one.plain('json-1000'),
      times: times(2000),
      concurrency: inFlight,
    })),
    ...[1, 16].map((inFlight) => ({
      column: `100 KB, ${inFlight} in flight`,
      work: (one) => one.plain('json-100000'),
      times: times(400),
      concurrency: inFlight,
    })),
  ],
);

await table(
  'A streamed completion, every chunk checked: CPU µs per event',
  [hand, us, ...streamers],
  [
    {
      column: 'many events a segment',
      work: (one) => one.stream('stream-20000-200', onChunk),
      times: times(5),
      unitsPerTime: 20_000,
    },
    {
      column: 'every chunk different',
      work: (one) => one.stream('varied-20000-200', onChunk),
      times: times(5),
      unitsPerTime: 20_000,
    },
    {
      column: 'one event a segment',
      work: (one) => one.stream('paced-4000', onChunk),
      times: times(5),
      unitsPerTime: 4_000,
    },
    {
      column: 'one a segment, 16 streams',
      work: (one) => one.stream('paced-500', onChunk),
      times: times(64),
      concurrency: 16,
      unitsPerTime: 500,
    },
    {
      column: 'one a segment, 1,000 streams',
      work: (one) => one.stream('paced-50', onChunk),
      times: 1000,
      concurrency: 1000,
      unitsPerTime: 50,
    },
  ],
);

await table('Through fetch, where undici is not to be had: CPU µs per call', fetches, [
  { column: '1 KB, 16 in flight', work: (one) => one.plain('json-1000'), times: times(2000), concurrency: 16 },
]);

await table(
  'A stream to its first chunk, 1 KB of it: wall µs',
  [hand, us, ...streamers],
  [{ column: 'one at a time', work: (one) => one.stream('stream-3-1', onChunk), times: times(500), figure: 'wall' }],
);

await table(
  'Growth: what stays flat',
  [us],
  [
    ...[1, 10, 100, 1000].map((inFlight) => ({
      column: `µs a call, ${inFlight} in flight`,
      work: (one) => one.plain('json-1000'),
      times: Math.max(times(2000), inFlight),
      concurrency: inFlight,
    })),
    ...[10, 1000, 100_000].map((events) => ({
      column: `µs an event, ${events} events`,
      work: (one) => one.stream(`stream-${events}-100`, onChunk),
      times: Math.max(1, times(100_000 / events)),
      unitsPerTime: events,
    })),
  ],
);

console.log('\n### Extremes\n');
await slowReader([hand, us], quick ? 10 : 100);
await leftEarly(origin, [us, ...streamers], quick ? 200 : 2000);
coldImport(['context-gateway', 'groq-sdk', 'openai', 'stripe', 'ai'], rounds);
console.log(`\n${chunks.toLocaleString('en-US')} chunks were read.`);
stop();
process.exit();

async function table(title, contestants, items) {
  console.log(
    `\n### ${title}\n\n| | ${items.map(({ column }) => column).join(' | ')} |\n|---${'|---'.repeat(items.length)}|`,
  );
  const columns = [];
  for (const { figure = 'cpu', column: _, ...item } of items) {
    const rows = await compare(contestants, { ...item, rounds });
    columns.push(rows.map((row) => row[figure]));
  }
  contestants.forEach(({ name }, row) => {
    const cells = columns.map((column) => `${format(column[row])} (${(column[row] / column[0]).toFixed(2)}×)`);
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  });
}

function format(micros) {
  return micros >= 100 ? micros.toFixed(0) : micros >= 10 ? micros.toFixed(1) : micros.toFixed(2);
}

function printMachine() {
  const packages = new URL('node_modules/', import.meta.url);
  const version = (name) => JSON.parse(readFileSync(new URL(`${name}/package.json`, packages), 'utf8')).version;
  const versions = ['context-gateway', 'undici', 'openai', 'groq-sdk', 'stripe', 'ky', 'ai'].map(
    (name) => `${name} ${version(name)}`,
  );
  console.log(`Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim()}; ${versions.join(', ')}.`);
  console.log(
    `Medians of ${rounds} rounds, contestants in turn, the server in a process of its own. In brackets: ratio to the first row.`,
  );
}
