import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { manualRuntime } from '../helpers/manual-runtime.js';
import { Bench } from './bench.js';
import { endingCases } from './cases/ending.js';
import { readingCases } from './cases/reading.js';
import { ScriptServer } from './script-server.js';

const CASES = [...endingCases, ...readingCases];

let server: ScriptServer;
const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};

beforeAll(async () => {
  server = await ScriptServer.start();
  process.on('unhandledRejection', note);
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  await server.close();
});
beforeEach(() => {
  unhandled.length = 0;
});
afterEach(() => {
  expect(unhandled).toEqual([]);
});

describe.each(engines)('$engine', ({ engine, options }) => {
  const cases = CASES.filter((one) => one.engine === undefined || one.engine === engine);

  test.each(cases.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
    const bench = await Bench.start(server.url, one.answers, { ...options, ...one.options }, manualRuntime());

    await one.run(bench);

    await bench.client.close();
  });
});
