import { afterEach, describe, expect, test, vi } from 'vitest';
import { Changes } from '../src/base/changes.js';
import { type PushedEvents, pushedEvents } from '../src/control/page/events.js';
import type { LogEntry } from '../src/http/log/log-entry.js';
import { RequestLog } from '../src/http/log/request-log.js';
import { type Emulator, manualClock } from '../src/index.js';
import { callsTo, openStream, testEmulator } from './support.js';

const MESSAGE = { role: 'user' as const, content: 'Hello?' };

type Pushed = { [Name in keyof PushedEvents]: { name: Name; data: PushedEvents[Name] } }[keyof PushedEvents];

/** Reads the pushed events one at a time. */
async function watch(emulator: Emulator) {
  const response = await emulator.fetch('http://127.0.0.1/_emulator/events');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const waiting: Pushed[] = [];
  let rest = '';
  const next = async (): Promise<Pushed | undefined> => {
    while (waiting.length === 0) {
      const { done, value } = await Promise.race([reader.read(), silence()]);
      if (done) return undefined;
      const events = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
        if (data !== undefined) waiting.push({ name, data: JSON.parse(data) } as Pushed);
      }
    }
    return waiting.shift();
  };
  /** The next event of this name. */
  const of = async <Name extends keyof PushedEvents>(name: Name): Promise<PushedEvents[Name]> => {
    for (;;) {
      const event = await next();
      if (event === undefined) throw new Error(`the stream ended before ${name} came`);
      if (event.name === name) return event.data as PushedEvents[Name];
    }
  };
  return { response, of, next, leave: () => reader.cancel() };
}

/** Fails a test whose stream sends nothing for 20 s. */
function silence(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('nothing was pushed')), 20_000).unref();
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the event stream of the inspector', () => {
  test('starts with all requests and the topic everything', async () => {
    const emulator = testEmulator();
    await callsTo(emulator).gateway('GET', '/v1/presets');

    const { response, of, leave } = await watch(emulator);

    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await of('requests')).toMatchObject({ all: true, requests: [{ path: '/v1/presets', status: 200 }] });
    expect(await of('changes')).toEqual({ topics: ['everything'], time: '2026-01-15T10:00:00.000Z' });
    await leave();
    await callsTo(emulator).gateway('GET', '/v1/usage');
    const [later, last] = [await watch(emulator), await watch(emulator)];
    expect((await later.of('requests')).requests.map(({ path }) => path)).toEqual(['/v1/presets', '/v1/usage']);
    expect((await last.of('requests')).requests).toHaveLength(2);
    await Promise.all([later.leave(), last.leave()]);
  });

  test('reports a request when it starts and when it ends, with the name of its key but not the key', async () => {
    const emulator = testEmulator({ pace: { ttft: 300 } });
    const { of, leave } = await watch(emulator);
    await of('requests');

    const body = (await openStream(emulator, 'Hello?')).text();
    const begun = await of('requests');
    let ended = begun;
    while (ended.requests[0]?.outcome === 'pending') {
      emulator.clock.advance(300);
      ended = await of('requests');
    }
    await body;

    expect(begun).toMatchObject({ all: false, requests: [{ outcome: 'pending', caller: 'first secret key' }] });
    expect(ended.requests[0]).toMatchObject({ outcome: 'answered', requestId: begun.requests[0]?.requestId });
    expect(JSON.stringify([begun, ended])).not.toContain(emulator.apiKeys.secret);
    await leave();
  });

  test.each<[what: string, topic: string, change: (emulator: Emulator) => unknown]>([
    ['a message', 'conversations/talk', ({ conversations }) => conversations.append('talk', [MESSAGE])],
    ['a deleted conversation', 'conversations/talk', ({ conversations }) => conversations.delete('talk')],
    ['a memory item', 'memory', ({ memory }) => memory.create({ type: 'fact', key: 'k', content: 'c' })],
    ['a key', 'api-keys', ({ apiKeys }) => apiKeys.create('secret')],
    ['the plan', 'account', ({ account }) => account.setPlan('starter')],
    ['a reset', 'everything', (emulator) => emulator.reset()],
    ['time', 'clock', (emulator) => callsTo(emulator).control('POST', '/clock', { advance: 1 })],
    ['a fault that was used up', 'faults', (emulator) => callsTo(emulator).gateway('GET', '/v1/presets')],
  ])('reports a change of %s', async (_, topic, change) => {
    const emulator = testEmulator();
    emulator.conversations.create({ id: 'talk', messages: [MESSAGE] });
    emulator.faults.add({ match: { path: '/v1/*' }, respond: { status: 503 } });
    const { of, leave } = await watch(emulator);
    await of('changes');

    await change(emulator);

    expect((await of('changes')).topics).toContain(topic);
    await leave();
  });

  test('sends the whole list again when too many requests arrive to send one by one', async () => {
    const emulator = testEmulator({ limits: { gateway: 1e6 } });
    const { of, leave } = await watch(emulator);
    await of('requests');
    const { gateway } = callsTo(emulator);

    await Promise.all(Array.from({ length: 700 }, () => gateway('GET', '/v1/presets')));
    let seen = 0;
    while (seen < 700) {
      const { all, requests } = await of('requests');
      seen = all ? requests.length : seen + requests.length;
    }

    expect(emulator.requests).toHaveLength(700);
    await leave();
  });

  test('buffers nothing for a reader that does not read', async () => {
    const log = new RequestLog(() => undefined);
    const listen = vi.spyOn(log, 'listen');
    const summary = vi.spyOn(log, 'summary');
    const parts = { log, changes: new Changes(), clock: manualClock('2026-01-15T10:00:00Z'), ends: [] };
    const reader = pushedEvents(parts).getReader();
    expect(listen).not.toHaveBeenCalled();
    await reader.read();

    const [watcher] = listen.mock.calls[0] ?? [];
    for (let i = 0; i < 600; i += 1) watcher?.({ requestId: `req_${i}` } as LogEntry);
    const { value } = await reader.read();

    expect(new TextDecoder().decode(value)).toContain('event: requests\ndata: {"all":true,"requests":[]}');
    // The 600 are not in the log, so none of them is summarized.
    expect(summary).not.toHaveBeenCalled();
    await reader.cancel();
  });

  test('ends once, for a reader that reads on as soon as the end is known', async () => {
    const uncaught = vi.fn();
    process.once('uncaughtException', uncaught);
    const closing = new AbortController();
    let last: Promise<unknown> | undefined;
    closing.signal.addEventListener('abort', () => {
      last = reader.read();
    });
    const parts = { log: new RequestLog(() => undefined), changes: new Changes(), clock: manualClock() };
    const reader = pushedEvents({ ...parts, ends: [closing.signal] }).getReader();
    await reader.read();
    await new Promise(setImmediate); // until the stream may be read again at once

    closing.abort();

    expect(await last).toEqual({ done: true, value: undefined });
    await new Promise(setImmediate);
    process.removeListener('uncaughtException', uncaught);
    expect(uncaught).not.toHaveBeenCalled();
  });

  test.each(['HEAD', 'GET'])('does not keep listening after an aborted %s', async (method) => {
    const listen = RequestLog.prototype.listen;
    const listening = vi.spyOn(RequestLog.prototype, 'listen');
    const ended = vi.fn();
    listening.mockImplementation(function (this: RequestLog, listener) {
      const end = listen.call(this, listener);
      return () => {
        ended();
        end();
      };
    });
    const emulator = testEmulator();
    const leaving = new AbortController();
    const response = await emulator.fetch('http://127.0.0.1/_emulator/events', { method, signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();

    const times = method === 'GET' ? 1 : 0;
    expect(listening).toHaveBeenCalledTimes(times);
    expect(ended).toHaveBeenCalledTimes(times);
  });

  test('ends when the emulator is closed', async () => {
    const emulator = testEmulator();
    const { of, next } = await watch(emulator);
    await of('changes');

    await emulator.close();

    expect(await next()).toBeUndefined();
  });
});
