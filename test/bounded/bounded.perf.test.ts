import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as door from 'context-gateway';
import * as aiSdk from 'context-gateway/ai-sdk';
import * as conversation from 'context-gateway/conversation';
import * as otel from 'context-gateway/otel';
import * as redis from 'context-gateway/redis';
import * as schemas from 'context-gateway/schemas';
import * as emulator from 'context-gateway-emulator';
import { beforeAll, describe, expect, test } from 'vitest';
import { LISTS, TEXTS } from './hostile.js';
import { EXEMPT, LIST_ROWS, TEXT_ROWS } from './table.js';

/** Twice the input may take at most so many times as long. */
const MOST = 2.6;
/** Milliseconds from which on two sizes are compared, and the longest block at 100 kB. */
const ENOUGH = 50;
const LONGEST_BLOCK = 50;
const SIZE = 100_000;
const LARGEST = 800_000;

setFlagsFromString('--expose-gc');
/** Before each measurement, so that none pays for the garbage of the last one. */
const collect: () => void = runInNewContext('gc');

/** Milliseconds that it takes, and of the longest time without other events. */
async function cost(work: () => unknown): Promise<{ time: number; block: number }> {
  let isDone = false;
  let block = 0;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    block = Math.max(block, now - last);
    last = now;
    if (!isDone) setImmediate(look);
  };
  const startedAt = performance.now();
  last = startedAt;
  setImmediate(look);
  await work();
  const time = performance.now() - startedAt; // CPU time also has that of the garbage collector's threads
  isDone = true;
  look();
  return { time, block };
}

/** The lowest of some costs: other processes and the garbage collector only add. */
async function lowest(times: number, work: () => unknown): Promise<{ time: number; block: number }> {
  const costs = [];
  for (let at = 0; at < times; at += 1) costs.push(await cost(work));
  return { time: Math.min(...costs.map(({ time }) => time)), block: Math.min(...costs.map(({ block }) => block)) };
}

/**
 * Doubles the input until it takes long enough to compare, and says by how much each doubling multiplies the time: the mean of
 * two, and the least of several lengths, because a larger heap or a colder cache costs a step. What is out of proportion is so
 * at each length.
 */
async function growth(work: (length: number) => () => unknown): Promise<number> {
  await cost(work(1_000)); // what is compiled then
  let least = Number.POSITIVE_INFINITY;
  for (let length = 100_000; length <= LARGEST; length *= 2) {
    if ((await lowest(1, work(length))).time < ENOUGH) continue;
    const ratio = async (times: number): Promise<number> => {
      collect();
      const [less, more] = [await lowest(times, work(length / 4)), await lowest(times, work(length))];
      return Math.sqrt(more.time / less.time);
    };
    least = Math.min(least, await ratio(2));
    if (least > MOST) least = Math.min(least, await ratio(5)); // to be sure
    if (least <= MOST) return least;
  }
  return Number.isFinite(least) ? least : 1;
}

/** How many characters of a text are 100 kB, in which letters of other scripts take three bytes. */
function lengthOfSize(make: (length: number) => string): number {
  return Math.floor(SIZE * (SIZE / Buffer.byteLength(make(SIZE))));
}

/** How much longer than ours a machine takes, at least 1: the limits of a block are those of ours. */
const OURS = 25;
let slowness = 1;
beforeAll(async () => {
  const words = JSON.stringify(Array.from({ length: 100_000 }, (_, at) => `word ${at}`));
  const { time } = await lowest(5, () =>
    JSON.parse(words)
      .map((word: string) => word.replace(/\d+$/, ''))
      .sort(),
  );
  slowness = Math.max(1, time / OURS);
});

describe.each(Object.entries(TEXT_ROWS))('%s', (_, { text, block = LONGEST_BLOCK, most = MOST }) => {
  test.each(Object.entries(TEXTS))('takes a text of %s in proportion to its length', async (__, make) => {
    const work = (length: number) => {
      const input = make(length);
      return () => text(input);
    };

    expect((await lowest(3, work(lengthOfSize(make)))).block).toBeLessThan(block * slowness);
    expect(await growth(work)).toBeLessThan(most);
  });
});

describe.each(Object.entries(LIST_ROWS))('%s', (_, { list, block = LONGEST_BLOCK, most = MOST }) => {
  test.each(Object.entries(LISTS))('takes a list of %s in proportion to its length', async (__, make) => {
    const work = (length: number) => {
      const input = make(length);
      return () => list(input);
    };

    expect((await lowest(3, work(100_000))).block).toBeLessThan(block * slowness);
    expect(await growth(work)).toBeLessThan(most);
  });
});

test('every public function that takes something from outside has a row', () => {
  const rows = [...Object.values(TEXT_ROWS), ...Object.values(LIST_ROWS)].flatMap(({ names }) => names);
  const known = new Set([...rows, ...Object.keys(EXEMPT)]);
  const isError = (value: unknown): boolean => typeof value === 'function' && value.prototype instanceof Error;
  const names = [door, conversation, aiSdk, otel, redis, schemas, emulator].flatMap((entry) =>
    Object.entries(entry).flatMap(([name, value]) => (typeof value === 'function' && !isError(value) ? name : [])),
  );

  expect(names.filter((name) => !known.has(name))).toEqual([]);
  expect([...known].filter((name) => !names.includes(name))).toEqual([]);
});
