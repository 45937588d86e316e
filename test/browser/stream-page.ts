/** Runs the cases of the stream suite in a page. */
import { manualRuntime } from '../helpers/manual-runtime.js';
import { Bench, type StreamCase } from '../stream/bench.js';
import { endingCases } from '../stream/cases/ending.js';
import { leavingCases } from '../stream/cases/leaving.js';
import { lenientCases } from '../stream/cases/lenient.js';
import { readingCases } from '../stream/cases/reading.js';

const cases = [...endingCases, ...readingCases, ...leavingCases, ...lenientCases].filter(
  ({ engine }) => engine !== 'undici',
);

/** Bytes reach a page later than a program, so cases wait longer here for everything to settle. */
Object.assign(globalThis, { setImmediate: (callback: () => void) => setTimeout(callback, 5) });

/** Returns the titles and messages of the failures. */
async function runCases(server: string): Promise<{ ran: number; failures: string[] }> {
  const failures: string[] = [];
  const browser = browserName(navigator.userAgent);
  const possible = cases.filter(({ notIn }) => notIn !== 'browsers' && notIn !== browser);
  for (const one of possible) {
    const failure = await failureOf(one, server);
    if (failure !== undefined) failures.push(`${one.title}: ${failure}`);
  }
  return { ran: possible.length, failures };
}

function browserName(userAgent: string): 'chromium' | 'firefox' | 'webkit' {
  if (userAgent.includes('Firefox')) return 'firefox';
  return userAgent.includes('Chrome') ? 'chromium' : 'webkit';
}

async function failureOf(one: StreamCase, server: string): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, 20_000, 'did not end within 20 s');
  });
  const bench = await Bench.start(server, one.answers, { ...one.options }, manualRuntime());
  try {
    return await Promise.race([one.run(bench).then(() => undefined), late]);
  } catch (error) {
    return String(error);
  } finally {
    clearTimeout(timer);
    await bench.client.close();
    // A response that is still being discarded would keep one of the page's six connections.
    if (bench.time.pending > 0) await bench.time.advance(100);
  }
}

Object.assign(globalThis, { runCases });
