import {
  APIAbortError,
  APITimeoutError,
  AuthenticationError,
  ClientClosedError,
  toErrorData,
  toErrorResponse,
} from 'context-gateway';
import { turnToUIMessageStream } from 'context-gateway/ai-sdk';
import { readTurn, sources, type TurnEvent, toResponse } from 'context-gateway/conversation';
import type { FaultResponse } from 'context-gateway-emulator';
import { assert, describe, expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { compacted, metadata, summary } from './samples.js';
import { cannedContext, chatWorld, faked, gate, smallTalk, user } from './world.js';

/** The events of a turn, with its pieces of text joined. */
async function eventsOf(response: Response): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of readTurn(response)) {
    const last = events.at(-1);
    if (event.type === 'text' && last?.type === 'text') last.text += event.text;
    else events.push(event);
  }
  return events;
}

const history = [{ role: 'user', content: 'The pier gets a red lamp.', id: 'lamp' }, ...smallTalk(60)];

test('a response takes only what streams, and says so', async () => {
  const world = chatWorld();
  const conversation = world.open({ history: [] });

  const sent = conversation.send('Hello?');

  for (const wrong of [sent, await sent, undefined])
    expect(await failureOf(toResponse(wrong as never))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('conversation.stream(…)'),
    });
});

describe('a response for a page', () => {
  test('has what was recalled, the text, and the turn as it was stored', async () => {
    const world = chatWorld();
    world.emulator.chat.on('lamp', 'A red "lamp"\n\nwith data: in it 💡.');
    const conversation = world.open({ history, contextWindow: 800 });

    const response = await toResponse(conversation.stream('Which lamp does the pier get?'));
    const events = await eventsOf(response);

    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(events.map(({ type }) => type)).toEqual(['recalled', 'text', 'turn']);
    expect(events).toMatchObject([
      { recalled: expect.arrayContaining([expect.objectContaining({ id: 'lamp', role: 'user' })]) },
      { text: 'A red "lamp"\n\nwith data: in it 💡.' },
      { turn: { stopped: false, messages: [{ role: 'user' }, { role: 'assistant' }], usageEstimated: false } },
    ]);
    expect(JSON.stringify(events)).not.toContain('"completion"');
    const reply = Object(events.at(-1)).turn.messages[1];
    const cited = { id: 'lamp', score: 1, match: 'words' };
    expect(reply.recalled).toContainEqual(cited);
    expect(sources(reply, 1)).toEqual([cited]);
    const stored = await world.stored();
    expect(stored).toHaveLength(history.length + 2);
    expect(stored.at(-1)).toMatchObject({ recalled: reply.recalled });
  });

  /** A model that has been silent for eight seconds, and writes only when the test says so. */
  async function silentWorld(prepare: (world: ReturnType<typeof chatWorld>) => unknown) {
    const world = chatWorld();
    prepare(world);
    const thinking = world.hold('/completions');
    faked('timers');
    const onError = vi.fn();
    const responding = toResponse(world.open().stream('Well?'), { onError });
    await vi.waitFor(() => expect(world.prompts).toHaveLength(1), { timeout: 30_000 });
    await vi.advanceTimersByTimeAsync(8_000);
    return { response: await responding, thinking, onError };
  }

  test('has its headers after eight seconds without text, and then a comment every eight seconds', async () => {
    const { response, thinking } = await silentWorld(({ emulator }) => emulator.chat.on('Well', 'Done.'));
    const decoder = new TextDecoder();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => decoder.decode((await reader.read()).value);

    for (let beats = 0; beats < 3; beats += 1) {
      const read = next();
      await vi.advanceTimersByTimeAsync(8_000);
      expect(await read).toBe(':\n\n');
    }
    thinking.open();
    let text = '';
    for (let piece = await next(); piece !== ''; piece = await next()) text += piece;

    expect(text.match(/"type":"\w+"/g)?.at(-1)).toBe('"type":"turn"');
    expect(response.status).toBe(200);
  });

  test('has the error as an event if it comes after eight seconds', async () => {
    const { response, thinking, onError } = await silentWorld(({ emulator }) =>
      emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 500 } }),
    );
    const events = eventsOf(response);
    thinking.open();

    expect(await events).toEqual([{ type: 'error', error: expect.objectContaining({ status: 500 }) }]);
    expect(onError).toHaveBeenCalledOnce();
  });

  test('streams each piece when it arrives, and stops the reply, and keeps its text, if the page leaves', async () => {
    const world = chatWorld();
    world.emulator.chat.on('count', 'one two three four');

    const turn = readTurn(await toResponse(world.open().stream('Please count.')));

    expect((await turn.next()).value).toMatchObject({ type: 'text' });
    await turn.return(undefined);
    expect(await world.stored()).toMatchObject([{ role: 'user' }, { role: 'assistant', stopped: true }]);
  });

  test('ends with the receipt of the compaction that the turn started, and the turn does not wait for it', async () => {
    const world = chatWorld();
    const canned = cannedContext(world, {
      summary: summary({ version: 1, requirements: ['Be fast.'] }),
      metadata: metadata({ compressedTokens: 900, totalTokens: 1000, lastCompactionAt: '2026-01-15T10:00:01.000Z' }),
    });
    const compacting = gate();
    canned.compact = async () => {
      await compacting.passed;
      canned.summary = summary({ version: 2 });
      canned.metadata = metadata({ compressedTokens: 300, lastCompactionAt: '2026-01-15T10:00:02.000Z' });
      return compacted(900, 300);
    };
    const conversation = world.open({ budget: 1000, compaction: true });
    const events: TurnEvent[] = [];

    for await (const event of readTurn(await toResponse(conversation.stream('Hello there?')))) {
      events.push(event);
      if (event.type === 'turn') compacting.open();
    }

    const receipt = { tokens: { before: 900, after: 300 }, diff: { lost: [{ text: 'Be fast.' }] } };
    expect(events.slice(-2)).toMatchObject([{ type: 'turn' }, { type: 'receipt', receipt }]);
  });

  test.each(['length', 'content_filter'])(
    'says in the page and in the store that a reply ended by %s',
    async (reason) => {
      const world = chatWorld();
      world.emulator.chat.on('story', { content: 'Once upon', finish_reason: reason });
      const open = () => world.open({ context: undefined });

      const events = await eventsOf(await toResponse(open().stream('Tell me a story.')));
      const chunks = [];
      for await (const chunk of asIterable(turnToUIMessageStream(open().stream('Tell me a story.'))))
        chunks.push(chunk);

      const turn = { finish_reason: reason, model: 'atlas-small', messages: [{}, { finish_reason: reason }] };
      expect(events.at(-1)).toMatchObject({ type: 'turn', turn });
      expect(chunks.at(-1)).toMatchObject({ type: 'finish', messageMetadata: turn });
      expect((await world.stored()).at(-1)).toMatchObject({ content: 'Once upon', finish_reason: reason });
    },
  );

  test('stays small, because a page sends back what it has, however much was recalled', async () => {
    const long = 'The crane at the north pier lifted crates of salted fish for the ferry. '.repeat(10);
    const reports = Array.from({ length: 60 }, (_, at) => user(`Report ${at}: ${long}`));
    const history = [...reports, ...smallTalk(1_000)];
    const open = () => chatWorld().open({ context: undefined, history });
    const question = 'What did the crane lift at the pier?';

    const events = await eventsOf(await toResponse(open().stream(question)));
    const chunks = [];
    for await (const chunk of asIterable(turnToUIMessageStream(open().stream(question)))) chunks.push(chunk);

    expect(events[0]).toMatchObject({ type: 'recalled', recalled: { length: 10 } });
    expect(JSON.stringify(events).length).toBeLessThan(10_000);
    expect(chunks[1]).toMatchObject({ type: 'data-recalled', data: { length: 10 } });
    expect(JSON.stringify(chunks).length).toBeLessThan(10_000);
  });

  test('goes on if the page leaves, if the reply is one in the background, and a page that comes back has all of it', async () => {
    const world = chatWorld();
    world.emulator.chat.on('story', 'Once upon a time there was a lighthouse. '.repeat(50));
    const reply = world.open().stream('Tell me a story.', { background: true });

    for await (const event of readTurn(await toResponse(reply))) if (event.type === 'text') break;
    const events = await eventsOf(await toResponse(reply));

    const { text } = await reply.final();
    expect(text).toHaveLength(50 * 41);
    expect(events).toMatchObject([
      { type: 'text', text },
      { type: 'turn', turn: { text, stopped: false } },
    ]);
    expect(await world.stored()).toMatchObject([{ role: 'user' }, { role: 'assistant', content: text }]);
  });

  test('has a turn marked as stopped, and an error, if the reply breaks off', async () => {
    const world = chatWorld();
    world.emulator.chat.on('story', 'Once upon a time there was a lighthouse. '.repeat(5));
    world.emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { type: 'cutStream', afterEvents: 4 } });

    const events = await eventsOf(await toResponse(world.open().stream('Tell me a story.')));

    expect(events).toMatchObject([
      { type: 'text' },
      { type: 'turn', turn: { stopped: true } },
      { type: 'error', error: { status: 502, code: 'server_error' } },
    ]);
  });
});

describe('before any text, an error is the status of the response, and one event on the page', () => {
  const slow = { status: 429, message: 'Slow down.', headers: { 'retry-after': '7' } } as const;
  const fault = { match: { path: '/v1/chat/*' }, respond: slow };
  const tooLong = 'Your message is too long. Shorten it and send it again.';
  test.each([
    {
      what: 'a message that is too long',
      input: 'many words '.repeat(2000),
      error: { status: 413, code: 'context_length_exceeded', message: tooLong },
    },
    {
      what: 'a rate limit',
      input: 'Hello?',
      error: { status: 429, code: 'rate_limit_error', message: 'Slow down.', retryAfter: 7_000 },
    },
    {
      what: 'an empty message',
      input: ' ',
      error: { status: 400, code: 'invalid_request_error', message: 'input: must not be empty.' },
    },
  ])('$what', async ({ input, error }) => {
    const world = chatWorld();
    world.emulator.faults.add(fault);

    const response = await toResponse(world.open({ contextWindow: 500 }).stream(input));

    expect(response.status).toBe(error.status);
    expect(await eventsOf(response)).toEqual([{ type: 'error', error }]);
  });
});

describe('onError gets what a page is not told', () => {
  const told = async (status: number, respond: FaultResponse) => {
    const world = chatWorld();
    world.emulator.chat.on('story', 'Once upon a time there was a lighthouse. '.repeat(5));
    world.emulator.faults.add({ match: { path: '/v1/chat/*' }, respond });
    const errors: unknown[] = [];
    const onError = (error: unknown): never => {
      errors.push(error);
      throw new Error('of the logger');
    };
    const response = await toResponse(world.open().stream('Tell me a story.'), { onError });
    expect(response.status).toBe(status);
    await eventsOf(response);
    return errors;
  };

  test('before the first text and after it', async () => {
    const [cut] = await told(200, { type: 'cutStream', afterEvents: 4 });

    expect(await told(500, { status: 403, message: 'The API key is invalid.' })).toMatchObject([{ status: 403 }]);
    expect(cut).toMatchObject({ name: 'StreamTruncatedError' });
  });

  test('and a model that does not exist, although the page is told, too', async () => {
    expect(await told(404, { status: 404, message: 'No such model.' })).toMatchObject([{ status: 404 }]);
  });

  test('and that a closed client cut a reply, which a page is told in other words', () => {
    const data = { status: 503, code: 'server_closing', message: expect.stringContaining('being restarted') };
    expect(toErrorData(new ClientClosedError())).toEqual(data);
  });

  test('but nothing that the page is told', async () => {
    expect(await told(429, { status: 429, retryAfter: 700 })).toEqual([]);
  });
});

describe('readTurn', () => {
  const events = (...parts: string[]) =>
    new Response(new Blob(parts).stream(), { headers: { 'content-type': 'text/event-stream' } });

  test('throws if the response ends before the turn, and not after it', async () => {
    const text = 'data: {"type":"text","text":"Half"}\n\n';
    const turn = 'data: {"type":"turn","turn":{"text":"Half"}}\n\n';

    for (const cut of [events(text), events(text, 'data: {"type":"tu')])
      expect(await failureOf(eventsOf(cut))).toMatchObject({ name: 'StreamTruncatedError' });
    expect(await eventsOf(events(text, ': comment\n\n', turn, 'data: {"ty'))).toHaveLength(2);
  });

  test('throws for a response that is not of a turn', async () => {
    const page = new Response('<h1>Sign in</h1>', { headers: { 'content-type': 'text/html' } });

    expect(await failureOf(eventsOf(page))).toMatchObject({
      name: 'ResponseValidationError',
      message: 'Expected the response of toResponse, but this one is text/html.',
    });
    expect(await failureOf(eventsOf(events('data: nonsense\n\n')))).toMatchObject({ name: 'ResponseValidationError' });
  });

  test.each([undefined, Promise.resolve(new Response())])('throws for %s, which is no response', async (given) => {
    const message = 'expected a Response; await it if it is a promise';
    const issues = [{ path: ['response'], message }];
    expect(await failureOf(eventsOf(given as never))).toMatchObject({ name: 'RequestValidationError', issues });
  });

  test.each([
    { status: 429, code: 'rate_limit_error' },
    { status: 503, code: 'service_unavailable' },
  ])("a proxy's page with status $status is an error with the code $code", async ({ status, code }) => {
    const events = await eventsOf(new Response('<h1>nginx</h1>', { status, headers: { 'retry-after': '3' } }));

    const message = 'The server could not handle the request.';
    expect(events).toEqual([{ type: 'error', error: { status, code, message, retryAfter: 3_000 } }]);
  });

  test.each(['AbortError', 'TimeoutError'])('throws an abort if the page ends its request with %s', async (name) => {
    const abort = new DOMException('The request was ended.', name);
    const body = new ReadableStream({ pull: (controller) => controller.error(abort) });
    const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });

    expect(await failureOf(eventsOf(response))).toMatchObject({ name: 'AbortError', cause: abort });
  });
});

describe('toErrorData', () => {
  const headers = { get: () => undefined, toHeaders: () => new Headers() };
  const details = (message: string) => ({ message, area: 'context', sent: 'no', body: {}, headers }) as const;

  test('finds the error in others', () => {
    const expired = new AuthenticationError(401, details('401 The token canary has expired.'));
    const apiCallError = Object.assign(new Error('x'), { name: 'AI_APICallError', cause: expired });
    const retryError = Object.assign(new Error('y'), { name: 'AI_RetryError', lastError: apiCallError });

    const message = 'Your session has expired. Sign in again.';
    for (const error of [expired, apiCallError, retryError, new Error('of the app', { cause: expired })])
      expect(toErrorData(error)).toEqual({ status: 401, code: 'session_expired', message });
  });

  test('hides everything else', () => {
    const loop = new Error('a loop');
    loop.cause = loop;
    const unreadable = Object.defineProperty(new Error('unreadable'), 'cause', { get: assert.fail });
    const { proxy, revoke } = Proxy.revocable(new Error('revoked'), {});
    revoke();

    const message = 'The server could not handle the request.';
    for (const error of [new Error('db-7'), undefined, null, 'canary', loop, { status: 400 }, unreadable, proxy])
      expect(toErrorData(error)).toEqual({ status: 500, code: 'server_error', message });
  });
});

test.each([
  new APITimeoutError('too late', { kind: 'deadline', phase: 'body', sent: 'yes' }),
  new APIAbortError({}),
  new Error('a bug'),
])('a page reads the code of %s that toErrorData returns, also before the first text', async (error) => {
  const events = await eventsOf(toErrorResponse(error));

  expect(events).toEqual([{ type: 'error', error: toErrorData(error) }]);
});

const inPieces = (pieces: readonly string[]): Response => {
  const encoder = new TextEncoder();
  const left = pieces.values();
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const { done, value } = left.next();
    if (done) controller.close();
    else controller.enqueue(encoder.encode(value));
  };
  return new Response(new ReadableStream({ pull }), { headers: { 'content-type': 'text/event-stream' } });
};

test.each([1, 2, 3, 7, 1000])('a page reads events that arrive in pieces of %i characters', async (size) => {
  const events = [
    { type: 'text', text: 'A line\nand another.' },
    { type: 'turn', turn: { text: '港口' } },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(': still here\n\n');
  const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
    body.slice(at * size, (at + 1) * size),
  );

  expect(await eventsOf(inPieces(pieces))).toEqual(events);
});

test('a page reads no event of more than 8 MB', async () => {
  const error = await failureOf(eventsOf(inPieces(['data: ', ...Array<string>(9).fill('x'.repeat(1024 * 1024))])));

  expect(error).toMatchObject({ name: 'ResponseValidationError', message: 'An event of the turn exceeds 8 MB.' });
});

/** Which the types of some platforms do not say of a stream. */
const asIterable = (stream: ReadableStream) => stream as unknown as AsyncIterable<object>;
