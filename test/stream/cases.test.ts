import { afterAll, beforeAll, describe, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { manualRuntime } from '../helpers/manual-runtime.js';
import { Bench } from './bench.js';
import { endingCases } from './cases/ending.js';
import { leavingCases } from './cases/leaving.js';
import { lenientCases } from './cases/lenient.js';
import { readingCases } from './cases/reading.js';
import { wholeCases } from './cases/whole.js';
import { watchProcess } from './measure.js';
import { ScriptServer } from './script-server.js';

const CASES = [...endingCases, ...readingCases, ...leavingCases, ...lenientCases, ...wholeCases];

let server: ScriptServer;

watchProcess();

beforeAll(async () => {
  server = await ScriptServer.start();
});
afterAll(() => server.close());

describe.each(engines)('$engine', ({ engine, options }) => {
  const cases = CASES.filter((one) => one.engine === undefined || one.engine === engine);

  test.each(cases.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
    const bench = await Bench.start(server.url, one.answers, { ...options, ...one.options }, manualRuntime());

    await one.run(bench);

    await bench.client.close();
  });
});
