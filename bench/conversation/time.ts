import { MessageIndex } from '../../src/conversation/memory.js';

/** Prints how long the index takes to build and to search, for conversations of several lengths. */
export function measureTime(): void {
  console.log('messages   index ms   MB   question ms: median   p95   70 kB question');
  for (const length of [100, 1000, 10_000, 50_000]) {
    const messages = Array.from({ length }, (_, i) => messageAt(i));
    globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed;
    const index = new MessageIndex();
    const building = timeOf(() => index.append(messages));
    globalThis.gc?.();
    const megabytes = (process.memoryUsage().heapUsed - heap) / 1e6;
    const times = Array.from({ length: 200 }, (_, i) => timeOf(() => index.search(messageAt(i * 37).content)));
    times.sort((a, b) => a - b);
    const pasted = Array.from({ length: 500 }, (_, i) => messageAt(i * 11).content).join(' ');
    const figures = [
      building,
      megabytes,
      times[100] ?? 0,
      times[190] ?? 0,
      timeOf(() => index.search(pasted.slice(0, 70_000))),
    ];
    console.log(`${String(length).padStart(8)}  ${figures.map((figure) => figure.toFixed(1).padStart(9)).join(' ')}`);
  }
}

/** About 150 characters, with common and rare words. */
function messageAt(i: number): { content: string; createdAt: string } {
  const words = Array.from({ length: 25 }, (_, k) => {
    const random = Math.abs(Math.sin(i * 25 + k + 1) * 1e4) % 1;
    return `w${Math.floor(random ** 4 * 20_000).toString(36)}`;
  });
  return { content: words.join(' '), createdAt: new Date(Date.UTC(2025, 0, 1) + i * 3.6e6).toISOString() };
}

function timeOf(work: () => void): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}
