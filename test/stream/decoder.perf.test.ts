import { expect, test } from 'vitest';
import { MEGABYTE } from './measure.js';
import { bytesOf, eventsOf } from './memory-source.js';

/** The least CPU time of three readings: another process may use the machine meanwhile. */
const cost = (pieces: Uint8Array[]): number => {
  const times = [1, 2, 3].map(() => {
    const began = process.cpuUsage();
    eventsOf(pieces);
    return process.cpuUsage(began).user;
  });
  return Math.min(...times);
};

test('the size of an event costs linear time', { retry: 4 }, () => {
  const piece = bytesOf('x'.repeat(64));
  const costOf = (size: number): number =>
    cost([bytesOf('data: '), ...Array.from({ length: size / 64 }, () => piece), bytesOf('\n\n')]);

  // 16 times the bytes. Quadratic time would take 256 times as long.
  expect(costOf(4 * MEGABYTE) / costOf(MEGABYTE / 4)).toBeLessThan(100);
});

test('a long line read byte by byte takes no longer than short lines', { retry: 4 }, () => {
  const costOf = (length: number): number => {
    const line = [...bytesOf(`data: ${'x'.repeat(length - 8)}\n\n`)].map((byte) => Uint8Array.of(byte));
    return cost(Array.from({ length: 120_000 / length }, () => line).flat());
  };

  // Copying the line for every byte takes 15 times as long.
  expect(costOf(60_000) / costOf(200)).toBeLessThan(5);
});
