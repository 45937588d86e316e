/**
 * Summarises documents in several processes, and resumes where it was stopped, even by kill -9.
 * Run: npm run example batch [folder] [documents] [processes]
 * With REDIS_URL, the processes share one rate limit; without it, each learns from the service's responses.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { APIConnectionError, APIError, GatewayClient, mapCalls } from 'context-gateway';
import { redisLimiter } from 'context-gateway/redis';
import { Redis } from 'ioredis';

interface Summary {
  id: number;
  text: string;
  tokens: number;
}

const [folder = join(tmpdir(), 'batch'), documents = '2000', processes = '4', index] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
if (index === undefined) await startAll();
else await work(Number(index));

async function startAll(): Promise<void> {
  const before = (await finished()).size;
  const children = Array.from({ length: Number(processes) }, (_, each) =>
    fork(fileURLToPath(import.meta.url), [folder, documents, processes, String(each)]),
  );
  await Promise.all(children.map((child) => once(child, 'exit')));
  const summaries = [...(await finished()).values()];
  const tokens = summaries.reduce((sum, one) => sum + one.tokens, 0);
  console.log(`${summaries.length} of ${documents} documents are done (${before} were before), ${tokens} tokens.`);
}

/** Each process has the documents whose number has the same remainder, and a file of its own. */
async function work(own: number): Promise<void> {
  process.once('disconnect', () => process.exit(1)); // the first process was killed; the next run starts new ones
  process.channel?.unref();
  const done = await finished();
  const all = Array.from({ length: Number(documents) }, (_, id) => id);
  const todo = all.filter((id) => id % Number(processes) === own && !done.has(id));
  const redis = process.env.REDIS_URL === undefined ? undefined : new Redis(process.env.REDIS_URL);
  const pacing = redis && redisLimiter({ client: redis, name: 'batch' });
  await using gateway = new GatewayClient({ maxRetryAfter: 600_000, pacing });
  const results = await open(join(folder, `${own}.jsonl`), 'a');
  await results.write('\n'); // ends a line that a kill has cut
  const outcomes = mapCalls(todo, (id, signal) => summarise(gateway, id, signal), { concurrency: 8 });
  for await (const { item: id, result, error } of outcomes) {
    if (result !== undefined) await results.write(`${JSON.stringify(result)}\n`);
    else console.error(`document ${id}${mayBeDone(error) ? ', which may have been billed' : ''}:`, String(error));
  }
  await results.close();
  redis?.disconnect();
}

async function summarise(gateway: GatewayClient, id: number, signal: AbortSignal): Promise<Summary> {
  const messages = [
    { role: 'user' as const, content: `Summarise document ${id}: the ferry to island ${id} was late.` },
  ];
  const { choices, usage } = await gateway.chat.completions.create({ model: 'atlas-small', messages }, { signal });
  return { id, text: choices[0]?.message.content ?? '', tokens: usage?.total_tokens ?? 0 };
}

/** A document whose call did nothing is done in the next run. */
function mayBeDone(error: unknown): boolean {
  return (APIError.is(error) || APIConnectionError.is(error)) && error.sent !== 'no';
}

async function finished(): Promise<Map<number, Summary>> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const summaries = texts.flatMap((text) => text.split('\n').flatMap(parsed));
  return new Map(summaries.map((summary) => [summary.id, summary]));
}

/** The last line may be cut. */
function parsed(line: string): Summary[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
