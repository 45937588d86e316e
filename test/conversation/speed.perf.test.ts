import { Readable } from 'node:stream';
import { readTurn } from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { systemRuntime } from '../../src/base/runtime.js';
import { estimate } from '../../src/conversation/prompt/estimate.js';
import { Reply, type TurnEnd } from '../../src/conversation/turn/reply.js';
import { TurnTimeouts } from '../../src/conversation/turn-timeouts.js';
import { alone } from './alone.js';
import { smallTalk, user } from './world.js';

/** Milliseconds until the work has ended. The limits below are ten times what it takes on a quiet machine. */
async function timeOf(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

test('text of 60 kB of dots is excluded without delay', async () => {
  const { conversation } = alone([user('.'.repeat(60_000), 'dots')]);

  expect(await timeOf(() => conversation.exclude('dots'))).toBeLessThan(2_000); // it took 7 s
});

test('pasted text of 70 kB is searched among 10,000 messages without delay', async () => {
  const { conversation } = alone(smallTalk(10_000), { contextWindow: 100_000 });
  await conversation.prepare('Warm up.');
  const pasted = Array.from({ length: 10_000 }, (_, i) => `word${i}`).join(' ');

  expect(await timeOf(() => conversation.prepare(pasted))).toBeLessThan(1_000); // it took up to 2 s
});

test('an event of 7 MB in 4,000 parts is read in time that is proportional to its length', async () => {
  const parts = ['data: {"type":"turn","text":"', ...Array.from({ length: 4_000 }, () => 'x'.repeat(1_750)), '"}\n\n'];
  const body = Readable.toWeb(Readable.from(parts.map((part) => Buffer.from(part)))) as ReadableStream<Uint8Array>;
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const read = async () => {
    for await (const event of readTurn(response)) expect(event.type).toBe('turn');
  };

  expect(await timeOf(read)).toBeLessThan(10_000);
});

test('the tokens of 100,000 equal characters are estimated in linear time', async () => {
  const work = () => {
    for (const character of ['a', 'A', '1', ' ', '\n', '.', 'я', '漢', '😀', 'a1'])
      expect(estimate(character.repeat(100_000))).toBeGreaterThan(0);
  };

  expect(await timeOf(work)).toBeLessThan(20_000);
});

test('a reply four times as long takes about four times as long to read', async () => {
  const timeOf = async (pieces: number): Promise<number> => {
    async function* story(): AsyncGenerator<string, TurnEnd> {
      for (let piece = 0; piece < pieces; piece += 1) yield 'Once upon a time ';
      return {};
    }
    const startedAt = process.cpuUsage();
    let length = 0;
    const timeouts = new TurnTimeouts(systemRuntime);
    for await (const piece of new Reply(() => ({ pieces: story(), timeouts }))) length += piece.length;
    expect(length).toBe(17 * pieces);
    return process.cpuUsage(startedAt).user;
  };
  await timeOf(5_000);

  const [once, fourTimes] = [await timeOf(5_000), await timeOf(20_000)];

  expect(fourTimes / Math.max(once, 20_000)).toBeLessThan(10);
});

test.each([20, 2_000])(
  'four times as many steps with results of %d characters take about four times as long',
  async (size) => {
    const timeOf = async (steps: number): Promise<number> => {
      const turn = await alone([], { contextWindow: 200_000 }).conversation.prepare('Go.');
      const startedAt = process.cpuUsage();
      for (let at = 0; at < steps; at += 1) {
        const call = { id: `call_${at}`, type: 'function', function: { name: 'tide', arguments: '{}' } };
        await turn.step([
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: call.id, content: `Result ${at}.`.padEnd(size, '.') },
        ]);
      }
      return process.cpuUsage(startedAt).user;
    };
    await timeOf(200);

    const [once, fourTimes] = [await timeOf(500), await timeOf(2_000)];

    expect(fourTimes / Math.max(once, 20_000)).toBeLessThan(10);
  },
);
