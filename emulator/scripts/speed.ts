/**
 * Measures how many plain calls the emulator handles per second of CPU time, and in how much memory, next to a bare
 * Hono server in the same run: `npm run build -w emulator && npx tsx emulator/scripts/speed.ts`. Only the CPU time of the server process counts, so that a busy
 * machine or the client's own work changes little.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CALLS = 20_000;
const WARM_UP = 5_000;
const CONNECTIONS = 32;
const ROUNDS = 3;
const MB = 1024 * 1024;

const COMPLETION = JSON.stringify({
  model: 'atlas-small',
  messages: [
    { role: 'system', content: 'The tower is 300 metres tall. It was built in 1889.' },
    { role: 'user', content: 'How tall is the tower?' },
  ],
});
const STREAM = JSON.stringify({ ...JSON.parse(COMPLETION), stream: true });
const MEMORY = JSON.stringify({ type: 'fact', key: 'city', content: 'Oslo' });

interface Started {
  port: number;
  key?: string;
  token?: string;
}
interface Usage {
  cpu: NodeJS.CpuUsage;
  rss: number;
}

function server(
  file: string,
  ...args: string[]
): { child: ChildProcess; started: Promise<Started>; usage: () => Promise<Usage> } {
  const path = fileURLToPath(new URL(`speed/${file}.js`, import.meta.url));
  const child = fork(path, args, { stdio: 'inherit', execArgv: [] });
  const next = <T>(): Promise<T> => new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
  return {
    child,
    started: next(),
    usage: () => {
      const answer = next<Usage>();
      child.send('usage');
      return answer;
    },
  };
}

function requestBytes(method: string, path: string, credential: string, body = ''): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${credential}`,
    'user-agent: speed',
    'accept: application/json',
    ...(body === '' ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Sends the same request repeatedly on one connection, each after the response to the previous one. */
function caller(port: number, request: Buffer, take: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const send = (): void => {
      if (take()) socket.write(request);
      else socket.end(resolve);
    };
    socket.setNoDelay().once('connect', send).once('error', reject);
    socket.on('data', (data) => {
      text += data.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2)) ?? [];
      const isWhole = length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= end + 4 + Number(length);
      if (!isWhole) return;
      if (!text.startsWith('HTTP/1.1 200')) reject(new Error(text.slice(0, 500)));
      text = '';
      send();
    });
  });
}

async function calls(port: number, request: Buffer, count: number): Promise<void> {
  let left = count;
  const take = (): boolean => {
    left -= 1;
    return left >= 0;
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, () => caller(port, request, take)));
}

interface Row {
  what: string;
  file: 'bare' | 'emulator';
  args: string[];
  requestOf: (started: Started) => Buffer;
  perSecond: number[];
  rss: number;
}

async function measure(row: Row): Promise<void> {
  const { child, started, usage } = server(row.file, ...row.args);
  const facts = await started;
  const request = row.requestOf(facts);
  await calls(facts.port, request, WARM_UP);
  const before = await usage();
  await calls(facts.port, request, CALLS);
  const after = await usage();
  const micros = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system;
  row.perSecond.push((CALLS * 1e6) / micros);
  row.rss = Math.max(row.rss, before.rss, after.rss);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.disconnect();
  await ended;
}

const data = mkdtempSync(join(tmpdir(), 'emulator-speed-'));
const completion = ({ key = '' }: Started): Buffer => requestBytes('POST', '/v1/chat/completions', key, COMPLETION);
const stream = ({ key = '' }: Started): Buffer => requestBytes('POST', '/v1/chat/completions', key, STREAM);
const presets = ({ key = '' }: Started): Buffer => requestBytes('GET', '/v1/presets', key);
const memory = ({ token = '' }: Started): Buffer => requestBytes('POST', '/api/memory', token, MEMORY);
const row = (what: string, file: Row['file'], requestOf: Row['requestOf'], ...args: string[]): Row => {
  return { what, file, args, requestOf, perSecond: [], rss: 0 };
};
const rows = [
  row('bare hono: a GET', 'bare', presets),
  row('bare hono: a POST that reads its JSON', 'bare', completion),
  row('bare hono: a stream of as many events', 'bare', stream),
  row('emulator: presets', 'emulator', presets),
  row('emulator: plain completions', 'emulator', completion),
  row('emulator: streamed completions', 'emulator', stream),
  row('emulator: memory writes', 'emulator', memory),
  row('emulator with --data: presets', 'emulator', presets, join(data, 'a')),
  row('emulator with --data: plain completions', 'emulator', completion, join(data, 'b')),
  row('emulator with --data: memory writes', 'emulator', memory, join(data, 'c')),
];
try {
  // In turns, so that a busy moment of the machine does not affect only one of them.
  for (let round = 0; round < ROUNDS; round += 1) for (const one of rows) await measure(one);
} finally {
  rmSync(data, { recursive: true, force: true });
}
console.log(`| Node ${process.versions.node}, ${CONNECTIONS} connections | calls per second of one core | memory |`);
console.log('|---|---|---|');
for (const { what, perSecond, rss } of rows) {
  const middle = [...perSecond].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`| ${what} | ${Math.round(middle).toLocaleString('en')} | ${Math.round(rss / MB)} MB |`);
}
