/** The cases of the stream suite, in a page. */
import { manualRuntime } from '../helpers/manual-runtime.js';
import { Bench, type StreamCase } from '../stream/bench.js';
import { endingCases } from '../stream/cases/ending.js';
import { readingCases } from '../stream/cases/reading.js';

const cases = [...endingCases, ...readingCases].filter(({ engine }) => engine !== 'undici');

/** Facts about Node's HTTP, or about time so fine that a page cannot tell. */
const NOT_IN_A_PAGE = /^S65: throws a connection error for a 100|^S50: /;
/** Firefox hands a response over with its first byte, not with its headers: what happens between the two cannot be met there. */
const NOT_IN_FIREFOX =
  /^S52: takes the idle time of the call|^S64: .*before the first event|^measures the time to the first chunk/;
/** WebKit on Linux sends every POST over a connection of its own, and takes a connection that closes for the end of a chunked body. */
const NOT_IN_WEBKIT = /^uses the connection again|^S31: .* that ends by fin/;

/** Bytes take longer to a page than to a program: the turns in which everything settles are longer here. */
Object.assign(globalThis, { setImmediate: (callback: () => void) => setTimeout(callback, 5) });

/** The failures: titles and messages. */
async function runCases(server: string): Promise<{ ran: number; failures: string[] }> {
  const failures: string[] = [];
  const { userAgent } = navigator;
  const impossible = [NOT_IN_A_PAGE];
  if (userAgent.includes('Firefox')) impossible.push(NOT_IN_FIREFOX);
  else if (!userAgent.includes('Chrome')) impossible.push(NOT_IN_WEBKIT);
  const possible = cases.filter(({ title }) => !impossible.some((pattern) => pattern.test(title)));
  for (const one of possible) {
    const failure = await failureOf(one, server);
    if (failure !== undefined) failures.push(`${one.title}: ${failure}`);
  }
  return { ran: possible.length, failures };
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
  }
}

Object.assign(globalThis, { runCases });
