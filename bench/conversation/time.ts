import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayClient } from 'context-gateway';
import { type ConversationMessage, createConversation, memoryStore } from 'context-gateway/conversation';

const LENGTHS = [100, 1000, 10_000, 50_000];

/** Prints what a conversation adds to a turn before the model is asked, by the number of messages. */
export async function measureTime(): Promise<void> {
  const heads = ['messages', 'first turn', 'median', 'p95', '70 kB', 'block', 'MB'];
  console.log(`Milliseconds\n${heads.map((head) => head.padStart(10)).join(' ')}`);
  const print = (...cells: string[]): void => console.log(cells.map((cell) => cell.padStart(10)).join(' '));
  await timesOf(100); // warms up the compiler
  for (const length of LENGTHS) {
    print(`${length}`, ...Object.values(await timesOf(length)).map((figure) => figure.toFixed(1)));
  }
  console.log(`With a budget of ${LARGE} tokens`);
  const figures = await timesOf(10_000, { contextWindow: 128_000, budget: LARGE });
  print('10000', ...Object.values(figures).map((figure) => figure.toFixed(1)));
}

const LARGE = 100_000;

async function timesOf(length: number, window: { contextWindow: number; budget?: number } = { contextWindow: 8000 }) {
  const messages = Array.from({ length }, (_, i) => messageAt(i));
  const pasted = Array.from({ length: 600 }, (_, i) => messageAt(i * 11).content).join(' ');
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const conversation = createConversation({
    ...{
      gateway: new GatewayClient({ baseURL: 'https://gateway.test', apiKey: 'pk' }),
      model: 'm',
      conversationId: 'c',
    },
    ...window,
    store: memoryStore({ c: messages }),
  });
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await sleep(20);
  delays.reset();
  const ask = async (question: string): Promise<number> => {
    const began = performance.now();
    await conversation.buildMessages(question);
    return performance.now() - began;
  };
  const first = await ask(messageAt(3).content);
  const times: number[] = [];
  for (let i = 0; i < 200; i += 1) {
    times.push(await ask(messageAt(i * 37).content));
    await conversation.record('And?', { text: messageAt(length + i).content });
    await sleep(0);
  }
  times.sort((a, b) => a - b);
  const began = performance.now();
  await conversation.search(pasted.slice(0, 70_000));
  const search = performance.now() - began;
  await sleep(5);
  delays.disable();
  globalThis.gc?.();
  const megabytes = (process.memoryUsage().heapUsed - heap) / 1e6;
  return { first, median: times[100] ?? 0, p95: times[190] ?? 0, search, block: delays.max / 1e6, megabytes };
}

/** About 150 characters, with common and rare words. */
function messageAt(i: number): ConversationMessage {
  const words = Array.from({ length: 25 }, (_, k) => {
    const random = Math.abs(Math.sin(i * 25 + k + 1) * 1e4) % 1;
    return `w${Math.floor(random ** 4 * 20_000).toString(36)}`;
  });
  const createdAt = new Date(Date.UTC(2025, 0, 1) + i * 3.6e6).toISOString();
  return { id: `m${i}`, role: i % 2 === 0 ? 'user' : 'assistant', content: words.join(' '), createdAt };
}
