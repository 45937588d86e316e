import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { createEmulator } from '../../emulator/src/index.js';
import { FOR_NODE } from '../helpers/built.js';
import { CLIENTS } from './clients.js';
import { distant, RedisServer } from './redis-server.js';
import type { Report, Work } from './worker.js';

/** What happens to the fleet halfway through. */
export type Trouble =
  | 'none'
  | 'killed' // a process, with kill -9
  | 'emptied' // Redis is killed, and comes back empty after a second
  | 'outage' // the same, after four seconds
  | 'frozen' // Redis hangs for four seconds
  | 'latency' // Redis is 20 ms away
  | 'clock'; // that of one process is 5 minutes ahead

export interface Plan {
  readonly processes: number;
  readonly limit: number;
  /** ms */
  readonly window: number;
  readonly windows: number;
  readonly trouble: Trouble;
}

export interface Outcome {
  /** As the service counts: the used share of the limit, and the share of requests that got a 429. */
  readonly used: number;
  readonly refusedShare: number;
  /** Requests of the slowest process divided by those of the fastest, among those alive at the end. */
  readonly fairness: number;
  readonly failed: readonly string[];
}

/** The processes call at this multiple of the limit. */
const EXCESS = 4;
const root = resolve(import.meta.dirname, '../..');

/** Runs several processes against one limit for several windows, over real sockets. */
export async function runFleet(plan: Plan): Promise<Outcome> {
  const { processes, limit, window, windows, trouble } = plan;
  const emulator = createEmulator({
    limits: { gateway: { requests: limit, windowMs: window } },
    // The window is only seconds long, so its end needs millisecond precision.
    rateLimitReset: 'epoch-milliseconds',
  });
  const service = await emulator.listen({ port: 0 });
  const redis = await RedisServer.start();
  const far = trouble === 'latency' ? await distant(redis.port, 20) : undefined;
  const folder = await mkdtemp(join(root, 'node_modules/.fleet-'));
  const children: ChildProcess[] = [];
  try {
    const program = join(folder, 'worker.mjs');
    const entryPoints = [join(import.meta.dirname, 'worker.ts')];
    const alias = { '#platform': join(root, 'src/platform/node.ts') };
    await build({ ...FOR_NODE, entryPoints, outfile: program, packages: 'external', alias });
    const common = { baseURL: service.url, apiKey: emulator.apiKeys.secret, redisPort: far?.port ?? redis.port };
    const rate = (EXCESS * limit * 1_000) / window / processes;
    // The limit is unknown before the first response, so all concurrent calls must fit into it.
    const most = Math.max(2, Math.floor(limit / 2 / processes));
    for (let n = 0; n < processes; n += 1) {
      const client = CLIENTS[n % CLIENTS.length] ?? 'redis';
      const work: Work = { ...common, client, rate, most, clockOff: trouble === 'clock' && n === 0 ? 300_000 : 0 };
      children.push(fork(program, [JSON.stringify(work)]));
    }
    const reports = children.map((): Report[] => []);
    await Promise.all(children.map((child) => once(child, 'message')));
    for (const [n, child] of children.entries()) {
      child.on('message', (report: Report) => reports[n]?.push(report));
      child.send('go');
    }
    const counted = countArrivals(emulator, windows * window);
    await sleep((windows * window) / 2);
    if (trouble === 'killed') children[0]?.kill('SIGKILL');
    if (trouble === 'emptied' || trouble === 'outage') {
      await redis.kill();
      await sleep(trouble === 'emptied' ? 1_000 : 4_000);
      await redis.start();
    }
    if (trouble === 'frozen') {
      redis.pause();
      await sleep(4_000);
      redis.resume();
    }
    const { served, refused } = await counted;
    const lived = trouble === 'killed' ? reports.slice(1) : reports;
    const totals = lived.map((all) => all.reduce((sum, one) => sum + one.served, 0));
    return {
      used: served / (windows * limit),
      refusedShare: refused / (served + refused),
      fairness: Math.min(...totals) / Math.max(...totals),
      failed: reports.flat().flatMap((one) => one.failed),
    };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await far?.close();
    await redis.kill();
    await emulator.close();
    await rm(folder, { recursive: true });
  }
}

/** The successes and 429s in the `duration` ms after the first request. */
async function countArrivals(emulator: ReturnType<typeof createEmulator>, duration: number) {
  let after: string | undefined;
  let endsAt = Number.POSITIVE_INFINITY;
  const count = { served: 0, refused: 0 };
  for (;;) {
    await sleep(50);
    const over = Date.now() > endsAt + 500; // every request has a response by then
    const records = emulator.recentRequests(1_000, after);
    const pending = records.findIndex(({ status }) => status === undefined);
    for (const { requestId, receivedAt, status } of pending === -1 ? records : records.slice(0, pending)) {
      after = requestId;
      const at = Date.parse(receivedAt);
      if (endsAt === Number.POSITIVE_INFINITY) endsAt = at + duration;
      if (at >= endsAt) continue;
      if (status === 429) count.refused += 1;
      else count.served += 1;
    }
    if (over) return count;
  }
}
