import type { ClientEvent } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { cannedService, gatewayAt, text } from '../helpers/service.js';

const { answers } = cannedService();
const PIECE = 'data: {"choices":[{"index":0,"delta":{"content":"The"}}]}\n\n';

async function openStream(body: string) {
  answers(text(body, { headers: { 'content-type': 'text/event-stream' } }));
  const failures: unknown[] = [];
  const onEvent = (event: ClientEvent) => {
    if (event.type === 'failure') failures.push([event.attempt, event.reason, event.stop]);
  };
  const stream = await gatewayAt({ onEvent }).chat.completions.create({ ...chatParams, stream: true });
  return { stream, failures };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a stream in events', () => {
  test('is a failure if it breaks off', async () => {
    const { stream, failures } = await openStream(PIECE);

    await expect(collect(stream)).rejects.toThrow(/ended before/);

    expect(failures).toEqual([[1, 'StreamTruncatedError', 'not-repeatable']]);
  });

  test('is a failure if it reports an error', async () => {
    const { stream, failures } = await openStream(`${PIECE}event: error\ndata: {"error":{"message":"overloaded"}}\n\n`);

    await expect(collect(stream)).rejects.toThrow(/overloaded/);

    expect(failures).toEqual([[1, 'StreamError', 'not-repeatable']]);
  });

  test('is no failure if it is complete or its reader leaves it', async () => {
    const complete = await openStream(`${PIECE}data: [DONE]\n\n`);
    expect(await collect(complete.stream)).toHaveLength(1);
    expect(complete.failures).toEqual([]);

    const left = await openStream(PIECE + PIECE);
    for await (const _ of left.stream) break;
    expect(left.failures).toEqual([]);
  });
});
