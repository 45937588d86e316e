import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createEmulator } from 'context-gateway-emulator';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { USER_PROGRAM } from '../helpers/programs.js';
import { missing, RedisServer } from './redis-server.js';

const DOCUMENTS = 2_000;
/** ms. The limit allows 1,000 documents a minute. */
const TIMEOUT = 300_000;
const PROCESSES = 4;
/** In each process. */
const CONCURRENCY = 8;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(resolve('node_modules/.batch-')); // inside the project, so that its dependencies resolve
  await build({ ...USER_PROGRAM, entryPoints: ['examples/batch/batch.ts'], outdir: folder });
});
afterAll(() => rm(folder, { recursive: true }));

test
  .runIf(AT_LENGTH && process.platform !== 'win32')
  .each([
    ...(missing ? [] : [{ what: 'with a limit that Redis shares', redis: true }]),
    { what: 'without Redis', redis: false },
  ])(
  'a batch in four processes goes on after kill -9, $what',
  { timeout: TIMEOUT, concurrent: true },
  async ({ redis }) => {
    const server = redis ? await RedisServer.start() : undefined;
    await using emulator = createEmulator({ seed: 'batch', latency: 300 });
    const { url } = await emulator.listen({ port: 0 });
    const results = join(folder, redis ? 'shared' : 'alone');
    const env = {
      PATH: process.env.PATH,
      CONTEXT_GATEWAY_BASE_URL: url,
      CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret,
      ...(server && { REDIS_URL: `redis://127.0.0.1:${server.port}` }),
    };
    const run = (): ChildProcess =>
      spawn(process.execPath, [join(folder, 'batch.mjs'), results, String(DOCUMENTS), String(PROCESSES)], {
        env,
        detached: true, // a group of its own, to kill all five processes at once, or only the first
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    let calls = 0;
    let child: ChildProcess | undefined;
    emulator.chat.on(/Summarise/, () => {
      calls += 1;
      if (calls === Math.floor(DOCUMENTS / 3) && child?.pid !== undefined)
        process.kill(redis ? child.pid : -child.pid, 'SIGKILL');
      return 'The ferry was late.';
    });

    child = run();
    await once(child, 'exit');
    await delay(3_000); // no process outlives the first one, or it would write all results
    const killedAfter = (await resultsIn(results)).length;
    child = run();
    const printed = await text(child.stdout as Readable);

    const ids = (await resultsIn(results)).map(({ id }) => id);
    expect(killedAfter).toBeLessThan(DOCUMENTS);
    expect(new Set(ids).size).toBe(DOCUMENTS);
    expect(ids).toHaveLength(DOCUMENTS); // no document twice
    expect(calls).toBeLessThanOrEqual(DOCUMENTS + PROCESSES * CONCURRENCY); // only calls in flight were repeated
    expect(printed).toMatch(
      new RegExp(`^${DOCUMENTS} of ${DOCUMENTS} documents are done \\(\\d+ were before\\), \\d+ tokens\\.$`, 'm'),
    );
    await server?.kill();
  },
);

async function resultsIn(results: string): Promise<{ id: number }[]> {
  const texts = await Promise.all((await readdir(results)).map((file) => readFile(join(results, file), 'utf8')));
  return texts.flatMap((text) => text.split('\n').filter((line) => line.endsWith('}'))).map((line) => JSON.parse(line));
}
