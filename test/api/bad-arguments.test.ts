import { RequestValidationError } from 'context-gateway';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { chatParams, completion } from '../helpers/samples.js';
import { contextAt, failureOf, gatewayAt, rejectedBefore } from '../helpers/service.js';

const fetch = vi.fn(async (_url: string | URL | Request, _init?: RequestInit) => Response.json(completion()));
const gateway = gatewayAt({ fetch });
const context = contextAt({ fetch });
afterEach(() => fetch.mockClear());
const expectRejected = rejectedBefore(fetch);
/** Arguments that TypeScript rejects. */
const among = (given: object): never => given as never;

const sentBody = () => JSON.parse(String(fetch.mock.calls.at(-1)?.[1]?.body));

/** Every place where an id becomes part of a path. */
const places: { name: string; put: (id: string) => PromiseLike<unknown> }[] = [
  { name: 'conversationId', put: (id) => context.pin(id, 'm') },
  { name: 'conversationId', put: (id) => context.unpin(id, 'm') },
  { name: 'conversationId', put: (id) => context.exclude(id, 'm') },
  { name: 'messageId', put: (id) => context.include('c', id) },
  { name: 'memoryId', put: (id) => context.memory.update(id, { content: 'c' }) },
  { name: 'memoryId', put: (id) => context.memory.delete(id) },
  { name: 'presetId', put: (id) => gateway.presets.execute(id, { input: 'a', model: 'b' }) },
  { name: 'integration', put: (id) => gateway.integrations.execute(id, { action: 'a' }) },
];

describe('validation of path ids', () => {
  test.each([
    { id: '.', hint: /must not be \. or \.\./ },
    { id: '%2E%2e', hint: /must not be \. or \.\./ },
    { id: '.%2e', hint: /must not be \. or \.\./ },
    { id: '', hint: /must not be empty/ },
    { id: ' \u00a0 ', hint: /must not be empty/ },
    { id: 'a\ud800', hint: /well-formed Unicode/ },
    { id: 'a\u0000', hint: /control characters/ },
    { id: '\ta', hint: /control characters/ },
    { id: 5 as never, hint: /expected string/ },
    { id: undefined as never, hint: /expected string/ },
    { id: { toString: () => 'a' } as never, hint: /expected string/ },
    { id: 'x'.repeat(1_025), hint: /longer than 1024/ },
  ])('rejects an invalid id ($hint, %#)', async ({ id, hint }) => {
    for (const { name, put } of places) await expectRejected(() => put(id), [name], hint);
  });

  test('rejects an object with id and fields: the id is an argument of its own', async () => {
    const all = { id: 'p', input: 'a', model: 'b' } as never;
    const execute = () => gateway.presets.execute(all, undefined as never);

    await expectRejected(execute, ['presetId'], /presetId: expected string/);
  });
});

describe('validation of a query', () => {
  test('rejects an id that is empty, no string or not well-formed', async () => {
    await expectRejected(() => context.retrieve('a\ud800'), ['conversationId'], /well-formed Unicode/);
    await expectRejected(() => context.compact('a\ud800'), ['conversationId'], /well-formed Unicode/);
    await expectRejected(() => context.retrieve(''), ['conversationId'], /must not be empty/);
    await expectRejected(() => context.summary(5 as never), ['conversationId'], /expected string/);
    await expectRejected(() => context.unpin('c', undefined as never), ['messageId'], /expected string/);
  });
});

const create = (more: object) => () => gateway.chat.completions.create({ ...chatParams, ...more });

describe('validation of completion parameters', () => {
  const wrong = (field: string, values: unknown[]) =>
    values.map((value): [object, string[], RegExp] => [{ [field]: value }, [field], new RegExp(`${field}: expected`)]);

  test.each<[params: object, path: (string | number)[], hint: RegExp]>([
    ...wrong('temperature', [Number.NaN, Infinity, -0.1, 2.0001, '1', 1n, null]),
    ...wrong('max_tokens', [0, -1, 1.5, 2 ** 53, '5', Number.NaN, null]),
    [{ model: '' }, ['model'], /must not be empty/],
    [{ model: 'm'.repeat(10_000) }, ['model'], /must not be longer than 1024/],
    [{ model: undefined }, ['model'], /expected string/],
    [{ messages: [] }, ['messages'], /must not be empty/],
    [{ messages: 'hello' }, ['messages'], /expected array/],
    // biome-ignore lint/suspicious/noSparseArray: that is the case
    [{ messages: [, chatParams.messages[0]] }, ['messages', 0], /messages\[0\]: expected object/],
    [{ messages: [{ role: 'user' }] }, ['messages', 0, 'content'], /expected a string/],
    [{ messages: [{ role: 'user', content: null }] }, ['messages', 0, 'content'], /expected a string/],
    [{ messages: [{ role: 'tool', tool_call_id: 'a' }] }, ['messages', 0, 'content'], /expected a string/],
    [{ messages: [{ role: 'user', content: 'a\ud800' }] }, ['messages', 0, 'content'], /well-formed Unicode/],
    [{ messages: [{ role: '', content: 'a' }] }, ['messages', 0, 'role'], /must not be empty/],
    [{ stream: 'true' }, ['stream'], /expected boolean/],
    [{ stream: null }, ['stream'], /expected boolean/],
    [{ maxTokens: 1 }, ['maxTokens'], /: is unknown; did you mean max_tokens\?/],
    [{ 'max-tokens': 1, stream: true }, ['max-tokens'], /: is unknown; did you mean max_tokens\?/],
    [{ Temperature: 1 }, ['Temperature'], /: is unknown; did you mean temperature\?/],
  ])('rejects %o, and names the path %j', async (params, path, hint) => {
    await expectRejected(create(params), path, hint);
  });

  test.each([0, 2, -0, 1.5])('sends the temperature %d', async (temperature) => {
    await create({ temperature })();

    expect(sentBody().temperature).toBe(temperature + 0);
  });

  test('sends an unknown model or role, which the service judges, and parameters that are not documented yet', async () => {
    const unknown = { model: 'not-offered', messages: [{ role: 'tool' as const, content: 'a' }], seed: 7 };
    await create(unknown)();

    expect(sentBody()).toEqual(unknown);
  });

  test('reports all misplaced parameters at once, and none whose value is undefined', async () => {
    const error = await failureOf(create({ maxTokens: 1, timeout: 5_000, seed: 7, signal: undefined })());
    await create({ timeout: undefined, maxTokens: undefined })();

    expect((error as RequestValidationError).issues.map(({ path }) => path)).toEqual([['maxTokens'], ['timeout']]);
    expect(sentBody()).toEqual(chatParams);
  });

  test('lets an integration action have a field of any name', async () => {
    await gateway.integrations.execute('i', { action: 'a', timeout: 5, Action: 'b' });

    expect(sentBody()).toEqual({ action: 'a', timeout: 5, Action: 'b' });
  });
});

const execute = (fields: object) => () => gateway.integrations.execute('i', { action: 'a', ...fields });

describe('validation of an integration action', () => {
  test('reports a getter that throws as a RequestValidationError with its cause', async () => {
    const cause = new Error('from a getter');
    const fail = () => {
      throw cause;
    };
    const params = Object.defineProperty({ action: 'a' }, 'text', { get: fail, enumerable: true });
    const proxy = new Proxy(chatParams, { get: fail, getOwnPropertyDescriptor: fail });

    for (const call of [
      () => gateway.integrations.execute('i', params),
      () => gateway.chat.completions.create(proxy),
      () => context.compact('c', proxy as never),
      () => context.memory.create(proxy as never),
      () => gateway.usage.retrieve(proxy as never),
      () => gateway.files.upload(proxy as never),
      () => gateway.request(proxy as never),
    ]) {
      expect(await failureOf(call())).toMatchObject({ name: 'RequestValidationError', cause });
    }
    expect(fetch).not.toHaveBeenCalled();
  });

  test('sends own __proto__, constructor and prototype keys as plain keys', async () => {
    const json = '{"action":"a","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":2}';

    await gateway.integrations.execute('i', JSON.parse(json));

    expect(fetch.mock.calls[0]?.[1]?.body).toBe(json);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test('rejects 10,000 levels of nesting without a RangeError', async () => {
    let deep: unknown = 1;
    for (let n = 0; n < 10_000; n += 1) deep = { deep };

    await expectRejected(execute({ deep }), Array(5).fill('deep'), /deeper than 500 levels/);
    expect(((await failureOf(execute({ deep })())) as Error).cause).toBeUndefined();
  });

  test('rejects a body of more than 64 M characters', async () => {
    await expectRejected(execute({ text: 'x'.repeat(65 * 1024 * 1024) }), [], /longer than 67108864 characters/);
  });

  test.each([undefined, '', 5])('rejects the action %s', async (action) => {
    await expectRejected(execute({ action }), ['action'], /action: /);
  });
});

describe('validation of other arguments', () => {
  const deep = 'deep' as never;
  test.each([
    { such: 'category', call: () => context.pin('c', 'm', deep) },
    { such: 'type, key, content, workspaceId', call: () => context.memory.create([deep] as never) },
    { such: 'model, messages, .*stream', call: () => gateway.chat.completions.create(deep) },
    { such: 'method, path, ids, query, body', call: () => context.request(null as never) },
  ])(
    'rejects an argument that is not an object, and lists the fields it should have: $such',
    async ({ such, call }) => {
      await expectRejected(call, [], new RegExp(`expected an object with named fields.* such as \\{ ${such} \\}\\.$`));
    },
  );

  const { signal } = new AbortController();
  test.each<{ call: () => PromiseLike<unknown>; option: string }>([
    { option: 'signal', call: () => gateway.chat.completions.create(among({ ...chatParams, signal })) },
    { option: 'schema', call: () => gateway.presets.list(among({ schema: {} })) },
    { option: 'onProgress', call: () => gateway.files.upload(among({ onProgress: () => {} })) },
    { option: 'deadline', call: () => gateway.request(among({ deadline: 5 })) },
  ])('rejects the option $option among the parameters, and says where it belongs', async ({ call, option }) => {
    const error = (await failureOf(call())) as RequestValidationError;

    const message = 'is an option of the call: pass it in the last argument';
    expect(error.issues).toEqual([{ path: [option], message }]);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('sends a limit of 1e9: no maximum is documented', async () => {
    await failureOf(gateway.presets.list({ limit: 1e9 }));

    expect(fetch.mock.calls[0]?.[0]).toMatch(/limit=1000000000$/);
  });

  test.each<{ call: () => PromiseLike<unknown>; field: string }>([
    { field: 'levl', call: () => context.compact('c', among({ levl: 'deep' })) },
    { field: 'messageId', call: () => context.pin('c', 'm', among({ messageId: 'm' })) },
    { field: 'typ', call: () => context.memory.list(among({ typ: 'fact' })) },
    { field: 'text', call: () => context.memory.create(among({ type: 'fact', key: 'k', content: 'c', text: 'd' })) },
    { field: 'active', call: () => context.memory.update('m', among({ content: 'c', active: false })) },
    { field: 'categry', call: () => gateway.presets.list(among({ categry: 'a' })) },
    { field: 'user', call: () => gateway.presets.execute('p', among({ input: 'a', model: 'b', user: 'u' })) },
    { field: 'from', call: () => gateway.usage.retrieve(among({ from: '2026-01-01' })) },
    { field: 'fileName', call: () => gateway.files.upload(among({ file: new Blob(), purpose: 'p', fileName: 'f' })) },
  ])('rejects the unknown field $field and names it', async ({ call, field }) => {
    const error = await failureOf(call());

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(String(error)).toMatch(new RegExp(` ${field}: is unknown; `));
    expect(fetch).not.toHaveBeenCalled();
  });

  const february = new Date('2026-02-01');
  test.each<[call: () => PromiseLike<unknown>, path: string, hint: RegExp]>([
    [() => context.pin('c', 'm', among({ category: 'bogus' })), 'category', /expected "\w+" or "\w+"/],
    [() => context.compact('c', among({ level: 'extreme' })), 'level', /expected "\w+" or "\w+"/],
    [() => context.memory.list(among({ type: 'x' })), 'type', /expected "\w+" or "\w+"/],
    [() => context.memory.create(among({ type: 'x', key: 'k', content: 'c' })), 'type', /expected "\w+" or "\w+"/],
    [() => context.memory.update('m', among({ content: 'c', isActive: 0 })), 'isActive', /expected boolean/],
    ...[0, -1, Number.NaN, 1.5, '5', null].map((limit): [() => PromiseLike<unknown>, string, RegExp] => [
      () => gateway.presets.list(among({ limit })),
      'limit',
      /limit: expected/,
    ]),
    [() => gateway.usage.retrieve({ start_date: '2026-13-01' }), 'start_date', /YYYY-MM-DD/],
    [() => gateway.usage.retrieve({ start_date: '2026-02-30' }), 'start_date', /YYYY-MM-DD/],
    [() => gateway.usage.retrieve({ start_date: '2026-01-01T00:00:00Z' }), 'start_date', /YYYY-MM-DD/],
    [() => gateway.usage.retrieve(among({ end_date: 5 })), 'end_date', /YYYY-MM-DD/],
    [() => gateway.usage.retrieve({ end_date: new Date(Number.NaN) }), 'end_date', /YYYY-MM-DD/],
    [() => gateway.usage.retrieve({ end_date: new Date(8.64e15) }), 'end_date', /YYYY-MM-DD/],
    [() => gateway.usage.retrieve({ start_date: february, end_date: '2026-01-31' }), 'end_date', /before start_date/],
  ])('%#: rejects an invalid value of $1, and says what is expected', async (call, path, hint) => {
    await expectRejected(call, [path], hint);
  });

  test('sends dates as days', async () => {
    await failureOf(gateway.usage.retrieve({ start_date: '2024-02-29', end_date: new Date('2024-02-29T23:59:59Z') }));

    expect(fetch.mock.calls[0]?.[0]).toBe('https://service.test/v1/usage?start_date=2024-02-29&end_date=2024-02-29');
  });

  test('copies the arguments, so changes after the call affect no attempt', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    fetch.mockImplementationOnce(async () => new Response('', { status: 429 }));
    const params = { ...chatParams, messages: [{ role: 'user' as const, content: 'first' }] };
    const options = Object.freeze({ maxRetries: 1, headers: { 'x-a': 'first' } as Record<string, string> });

    const call = gateway.chat.completions.create(params, options);
    params.messages[0] = { role: 'user', content: 'second' };
    options.headers['x-a'] = 'second';
    await call;

    expect(fetch).toHaveBeenCalledTimes(2);
    for (const [, init] of fetch.mock.calls) {
      expect(init?.body).toContain('first');
      expect(new Headers(init?.headers).get('x-a')).toBe('first');
    }
    vi.restoreAllMocks();
  });
});

const upload = (options: object) => () => gateway.files.upload({ file: new Blob(['a']), purpose: 'p' }, options);

const RESERVED = [
  ...['Authorization', 'proxy-authorization', 'HOST', 'content-length', 'Content-Type', 'transfer-encoding'],
  ...['connection', 'upgrade', 'te', 'Expect', 'cookie'],
];

describe('validation of call options', () => {
  const calls: ((options: never) => PromiseLike<unknown>)[] = [
    (options) => gateway.chat.completions.create(chatParams, options),
    (options) => gateway.chat.completions.create({ ...chatParams, stream: true }, options),
    (options) => gateway.presets.list({}, options),
    (options) => gateway.integrations.list(options),
    (options) => gateway.files.upload({ file: new Blob(['a']), purpose: 'p' }, options),
    (options) => context.retrieve('c', options),
    (options) => context.compact('c', {}, options),
    (options) => context.memory.delete('m', options),
    (options) => gateway.request({ method: 'GET', path: '/v1/x' }, options),
  ];
  const expectAllRejected = async (options: unknown, path: readonly string[], hint: RegExp) => {
    for (const call of calls) await expectRejected(() => call(options as never), path, hint);
  };

  test.each(['str', 5, true, () => {}])('rejects %s instead of an object', async (options) => {
    await expectAllRejected(options, ['options'], /options: expected an object, such as/);
  });

  const wrong = (option: string, values: unknown[], hint: RegExp) =>
    values.map((value): [object, string, RegExp] => [{ [option]: value }, option, hint]);
  test.each([
    ...['timeout', 'deadline', 'streamIdleTimeout'].flatMap((option) =>
      wrong(option, [0, -1, Number.NaN, Infinity, 1e12, '5s', null], /milliseconds above 0/),
    ),
    ...wrong('maxRetries', [-1, 1.5, 6, Number.NaN, '2', null], /whole number from 0 to 5/),
    ...['apiKey', 'baseURL', 'fetch', 'stream'].flatMap((option) =>
      wrong(option, [1], /: is unknown; expected one of /),
    ),
    ...wrong('timout', [1], /: is unknown; did you mean timeout\?/),
    ...wrong('signal', [{}, 'abort', 5, null, new EventTarget()], /must be an AbortSignal/),
    ...wrong('signal', [new AbortController()], /such as controller\.signal/),
    ...wrong('idempotencyKey', ['', '  ', 5, null], /non-empty/),
  ])('rejects the options %o', async (options, option, hint) => {
    await expectAllRejected(options, ['options', option], hint);
  });

  test('lists the valid options in the error for an unknown one', async () => {
    const all = 'signal, streamIdleTimeout, timeout, deadline, maxRetries, headers, idempotencyKey'.split(', ');
    const error = (await failureOf(context.retrieve('c', { onProgress: () => {} } as never))) as Error;
    const listed = /options\.onProgress: is unknown; expected one of (.*?) *\.?$/.exec(error.message)?.[1];
    expect(listed?.split(', ').sort()).toEqual(all.sort());

    const list = () => gateway.integrations.list({ apiKey: 1 } as never);
    await expectRejected(list, ['options', 'apiKey'], /expected one of schema, /);
    await expectRejected(upload({ apiKey: 1 }), ['options', 'apiKey'], /expected one of schema, onProgress, /);
    await expectRejected(upload({ onProgress: 'yes' }), ['options', 'onProgress'], /must be a function/);
  });

  test('sends nothing if the signal is already aborted, whose reason is the cause', async () => {
    const reason = new Error('changed my mind');
    for (const call of calls) {
      const error = await failureOf(call({ signal: AbortSignal.abort(reason) } as never));
      expect(error).toMatchObject({ name: 'AbortError', cause: reason });
    }
    expect(fetch).not.toHaveBeenCalled();
  });

  test('accepts a signal that is not an AbortSignal but has addEventListener', async () => {
    const listeners = new Set<() => void>();
    const signal = {
      aborted: false,
      reason: 'enough',
      addEventListener: (_: string, listener: () => void) => listeners.add(listener),
      removeEventListener: (_: string, listener: () => void) => listeners.delete(listener),
    };
    fetch.mockImplementationOnce(() => new Promise(() => {}));

    const call = gateway.chat.completions.create(chatParams, { signal: signal as never });
    await vi.waitFor(() => expect(fetch).toHaveBeenCalled(), { timeout: 30_000 });
    for (const listener of listeners) listener();

    expect(await failureOf(call)).toMatchObject({ name: 'AbortError', cause: 'enough' });
    expect(listeners.size).toBe(0);
  });

  test.each(RESERVED)('rejects the header %s', async (name) => {
    await expectAllRejected({ headers: { [name]: 'x' } }, ['headers', name], /credential|by the client/);
  });

  test.each([
    { headers: { 'x-a': '1', 'X-A': '2' }, path: ['headers', 'X-A'], hint: /set twice/ },
    { headers: { 'x-a\r\nhost': '1' }, path: ['headers', 'x-a\r\nhost'], hint: /not a valid header name/ },
    { headers: { ['__proto__']: '1' }, path: ['headers', '__proto__'], hint: /not a valid header name/ },
    { headers: { 'x-a': 'CANARY\r\nx-b: 1' }, path: ['headers', 'x-a'], hint: /printable Latin-1/ },
    { headers: { 'x-a': 'CANARY漢' }, path: ['headers', 'x-a'], hint: /printable Latin-1/ },
    { headers: { 'x-a': 5 }, path: ['headers', 'x-a'], hint: /must be a string/ },
    { headers: new Headers({ host: 'CANARY' }), path: ['headers', 'host'], hint: /by the client/ },
    { headers: { Authorization: null }, path: ['headers', 'Authorization'], hint: /the credential/ },
    { headers: { 'x-a': null, 'X-A': '1' }, path: ['headers', 'X-A'], hint: /set twice/ },
    { headers: [['x-a', '1']], path: ['headers'], hint: /plain object or a Headers/ },
    { headers: new Map([['x-a', '1']]), path: ['headers'], hint: /plain object or a Headers/ },
  ])('rejects invalid headers (%#), and the error shows no value', async ({ headers, path, hint }) => {
    const call = () => gateway.integrations.list({ headers: headers as never });

    await expectRejected(call, path, hint);
    expect(String(await failureOf(call()))).not.toContain('CANARY');
  });

  test('sends nothing on a closed client: the call is a ClientClosedError', async () => {
    const closed = gatewayAt({ fetch });
    const derived = closed.withOptions({ timeout: 5 });
    await closed.close();

    for (const client of [closed, derived])
      expect(await failureOf(client.usage.retrieve())).toMatchObject({ name: 'ClientClosedError', attempts: [] });
    expect(fetch).not.toHaveBeenCalled();
  });
});
