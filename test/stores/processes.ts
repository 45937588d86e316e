import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { FOR_NODE } from '../helpers/built.js';
import { seededRandom } from '../helpers/manual-runtime.js';
import { INSIDE, SOURCES } from '../helpers/sources.js';
import { ChatServers } from './chat-servers.js';
import type { TestDatabase } from './databases.js';
import { Audit, type Mutant } from './ledger.js';
import { startModel } from './model-server.js';
import { Pages } from './pages.js';

const root = resolve(import.meta.dirname, '../..');
const PAGES = 8;

export interface ProcessRun {
  /** The built chat server. */
  program: string;
  database: TestDatabase;
  processes: number;
  /** Of random turns and faults, after those of the script. */
  seconds: number;
  seed: number;
  mutant?: Mutant | undefined;
}

export interface Outcome {
  /** How often each outcome of a call, and each fault, was seen. */
  seen: ReadonlyMap<string, number>;
  calls: number;
  asked: number;
  violations: readonly string[];
}

/** Builds the chat server, and removes it at the end. */
export async function withProgram<T>(work: (program: string, folder: string) => Promise<T>): Promise<T> {
  // Inside the project, so that its dependencies are found.
  const folder = await mkdtemp(join(root, 'node_modules', '.stores-'));
  try {
    const program = join(folder, 'chat-server.mjs');
    const alias = Object.fromEntries(
      Object.entries({ ...INSIDE, ...SOURCES }).map(([name, file]) => [name, join(root, file)]),
    );
    const entryPoints = [join(import.meta.dirname, 'chat-server.ts')];
    await build({ ...FOR_NODE, entryPoints, outfile: program, packages: 'external', alias });
    return await work(program, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Plays turns in several processes over one database while these and the database fail, and checks what is stored then. */
export async function runProcesses({
  program,
  database,
  processes,
  seconds,
  seed,
  mutant,
}: ProcessRun): Promise<Outcome> {
  const random = seededRandom(seed);
  const model = await startModel(seededRandom(seed + 1));
  const args = [database.kind, database.address, model.url, ...(mutant === undefined ? [] : [mutant])];
  const servers = new ChatServers(program, args, processes);
  const pages = new Pages(servers, model, random);
  try {
    await pages.direct();
    const until = Date.now() + seconds * 1_000;
    const endServer = async (): Promise<string> => {
      const signal = random() < 0.6 ? 'SIGKILL' : 'SIGTERM';
      servers.replace(Math.floor(random() * processes), signal);
      return signal;
    };
    const faults = [
      repeated(until, () => 300 + random() * 1_500, endServer),
      repeated(
        until,
        () => 300 + random() * 2_500,
        () => database.disturb(random),
      ),
    ];
    await Promise.all(Array.from({ length: seconds > 0 ? PAGES : 0 }, () => pages.play(until)));
    const seen = [...pages.seen, ...(await Promise.all(faults)).flatMap((counted) => [...counted])];
    await servers.close();
    const { wrong } = new Audit(pages.calls, model.calls, await database.read());
    const facts = { calls: pages.calls.length, asked: model.calls.length };
    return { ...facts, seen: new Map(seen), violations: [...servers.wrong, ...wrong] };
  } finally {
    model.close();
    await servers.close();
  }
}

/** Does something again and again, and counts what it was. */
async function repeated(until: number, pause: () => number, work: () => Promise<string>): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  for (;;) {
    const ms = pause();
    if (Date.now() + ms > until) return seen;
    await sleep(ms);
    const what = await work();
    seen.set(what, (seen.get(what) ?? 0) + 1);
  }
}

/** A line with what was seen. */
export function summaryOf({ calls, asked, seen, violations }: Outcome): string {
  const counts = [...seen].map(([what, count]) => `${what} ${count}`).join(', ');
  return `${calls} calls, ${asked} of the model; ${counts}; violations ${violations.length}`;
}
