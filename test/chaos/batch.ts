import { mapCalls } from '../../src/index.js';
import type { Batch } from './plan.js';

/** The calls of the batch, and the length of each result. */
const CALLS = 60_000;
const RESULT = 2_000;

/** A long batch whose calls end at once: how much memory it holds on to, and how often a timer ran. */
export async function longBatch(collect: () => void): Promise<Batch> {
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  let [results, ticks, before, grown] = [0, 0, 0, 0];
  const timer = setInterval(() => (ticks += 1), 5);
  const text = async (number: number): Promise<string> => `${number}`.padEnd(RESULT, 'text');
  for await (const { result } of mapCalls(Array(CALLS).keys(), text)) {
    results += result?.length === RESULT ? 1 : 0;
    if (results === 5_000) before = heap();
    if (results === CALLS) grown = heap() - before;
  }
  clearInterval(timer);
  return { missing: CALLS - results, ticks, grown };
}
