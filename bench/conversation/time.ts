import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayClient } from 'context-gateway';
import { type ConversationStore, createConversation, type StoredMessage } from 'context-gateway/conversation';
import { sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';
import { textOf } from '../../src/conversation/content.js';

const LENGTHS = [100, 1000, 10_000, 100_000];

/** How a server keeps its conversations: what stays in memory between turns, and what the store returns. */
const WAYS: readonly { name: string; isKept: boolean; isPart: boolean }[] = [
  { name: 'new object', isKept: false, isPart: false },
  { name: 'kept object', isKept: true, isPart: false },
  { name: 'new object, parts', isKept: false, isPart: true },
];

interface Figures {
  /** Milliseconds of the processor for a turn. */
  cpu: number;
  /** The longest time in milliseconds in which nothing else ran. */
  block: number;
  /** Megabytes that stay between turns. */
  memory: number;
  /** Rows that the store returned for a turn. */
  rows: number;
}

const gateway = new GatewayClient({
  ...{ baseURL: 'https://gateway.test', apiKey: 'pk', pacing: false },
  fetch: async () => Response.json(COMPLETION),
});

const COMPLETION = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Noted.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 4000, completion_tokens: 1, total_tokens: 4001 },
};

/** Prints what a turn costs by the number of messages, and how many plain calls that is. */
export async function measureTime(): Promise<void> {
  const plain = await cpuOf(2000, () =>
    gateway.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'And?' }] }),
  );
  console.log(`A plain call takes ${plain.toFixed(2)} ms of the processor. Messages in SQLite:\n`);
  console.log('| messages | | CPU, ms a turn | plain calls | longest block, ms | MB kept | rows read |');
  console.log('|---|---|---|---|---|---|---|');
  for (const length of LENGTHS) {
    const store = await storeOf(length);
    for (const way of WAYS) {
      const { cpu, block, memory, rows } = await figuresOf(store, way, length);
      const cells = [cpu.toFixed(1), (cpu / plain).toFixed(0), block.toFixed(0), memory.toFixed(1), rows.toFixed(0)];
      console.log(`| ${length.toLocaleString('en-US')} | ${way.name} | ${cells.join(' | ')} |`);
    }
  }
}

/** A store in a database with so many messages. */
async function storeOf(length: number): Promise<ConversationStore> {
  const store = sqliteStore(new Database(':memory:'));
  await store.migrate();
  const messages = Array.from({ length }, (_, i) => messageAt(i));
  await store.append('talk', messages, { edits: 0 });
  return store;
}

async function figuresOf(store: ConversationStore, way: (typeof WAYS)[number], length: number): Promise<Figures> {
  let rows = 0;
  const counted: ConversationStore = {
    load: async (id, wanted) => {
      const loaded = await store.load(id, way.isPart ? wanted : undefined);
      rows += loaded?.messages.length ?? 0;
      return loaded;
    },
    append: (_, messages) => messages.length, // stores nothing, so that all ways have the same messages
    setExcluded: () => {},
  };
  const open = () => createConversation({ gateway, model: 'm', conversationId: 'talk', store: counted });
  const before = heapUsed();
  const kept = open();
  let turn = 0;
  const send = async (): Promise<void> => {
    const words = textOf(messageAt((turn * 7919) % length)).split(' ');
    turn += 1;
    await (way.isKept ? kept : open()).send(`What about ${words.slice(0, 6).join(' ')}?`);
  };
  const turns = Math.max(5, Math.min(50, 100_000 / length));
  const cpu = await cpuOf(turns, send);
  rows = 0;
  await send();
  const read = rows;
  const delays = monitorEventLoopDelay({ resolution: 1 });
  await sleep(20);
  delays.enable();
  for (let i = 0; i < 5; i += 1) {
    await send();
    await sleep(5);
  }
  delays.disable();
  const memory = way.isKept ? heapUsed() - before : 0;
  return { cpu, block: delays.max / 1e6, memory, rows: read };
}

async function cpuOf(times: number, work: () => PromiseLike<unknown>): Promise<number> {
  for (let i = 0; i < Math.min(times, 500); i += 1) await work();
  const began = process.cpuUsage();
  for (let i = 0; i < times; i += 1) await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000 / times;
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

/** About 90 characters, with words as common and as rare as those of a language without its stop words. */
function messageAt(i: number): StoredMessage {
  const words = Array.from({ length: 18 }, (_, k) => {
    const random = Math.abs(Math.sin(i * 25 + k + 1) * 1e4) % 1;
    return `w${Math.floor(50 * 400 ** random).toString(36)}`;
  });
  const createdAt = new Date(Date.UTC(2025, 0, 1) + i * 3.6e6).toISOString();
  return { id: `m${i}`, role: i % 2 === 0 ? 'user' : 'assistant', content: words.join(' '), createdAt };
}
