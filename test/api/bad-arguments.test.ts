import { runInNewContext } from 'node:vm';
import { type ContextClient, type GatewayClient, RequestValidationError } from 'context-gateway';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { chatParams, completion } from '../helpers/samples.js';
import { contextAt, failureOf, gatewayAt } from '../helpers/service.js';

const fetch = vi.fn(async (_url: string | URL | Request, _init?: RequestInit) => Response.json(completion()));
const gateway = gatewayAt({ fetch });
const context = contextAt({ fetch });
afterEach(() => fetch.mockClear());

/** The call must fail with an issue at this path, and nothing may be sent. */
async function expectRejected(call: () => PromiseLike<unknown>, path: readonly (string | number)[], hint: RegExp) {
  const error = await failureOf(call());

  expect(error).toBeInstanceOf(RequestValidationError);
  const { issues, message, attempts } = error as RequestValidationError;
  expect(issues.map((issue) => issue.path)).toContainEqual(path);
  expect(message).toMatch(hint);
  expect(message).toMatch(/^The request was not sent: /);
  expect(attempts).toEqual([]);
  expect(fetch).not.toHaveBeenCalled();
}

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
  const loose = (value: unknown) => value as string;
  test.each([
    { id: '..', hint: /must not be \. or \.\./ },
    { id: '.', hint: /must not be \. or \.\./ },
    { id: '%2e', hint: /must not be \. or \.\./ },
    { id: '%2E%2e', hint: /must not be \. or \.\./ },
    { id: '.%2e', hint: /must not be \. or \.\./ },
    { id: '', hint: /must not be empty/ },
    { id: ' \u00a0 ', hint: /must not be empty/ },
    { id: 'a\ud800', hint: /well-formed Unicode/ },
    { id: '\udc00a', hint: /well-formed Unicode/ },
    { id: 'a\u0000', hint: /control characters/ },
    { id: 'a\r\nb', hint: /control characters/ },
    { id: '\ta', hint: /control characters/ },
    { id: loose(5), hint: /expected string/ },
    { id: loose(null), hint: /expected string/ },
    { id: loose(undefined), hint: /expected string/ },
    { id: loose(['a']), hint: /expected string/ },
    { id: loose({}), hint: /expected string/ },
    { id: loose(new String('a')), hint: /expected string/ },
    { id: loose({ toString: () => 'a' }), hint: /expected string/ },
    { id: 'x'.repeat(1_025), hint: /longer than 1024/ },
    { id: 'x'.repeat(1_000_000), hint: /longer than 1024/ },
  ])('rejects an invalid id ($hint, %#)', async ({ id, hint }) => {
    for (const { name, put } of places) await expectRejected(() => put(id), [name], hint);
  });

  test('rejects an object with id and fields: the id is an argument of its own', async () => {
    const all = { id: 'p', input: 'a', model: 'b' } as never;

    await expectRejected(
      () => gateway.presets.execute(all, undefined as never),
      ['presetId'],
      /presetId: expected string/,
    );
    await expectRejected(
      () => context.pin(all, undefined as never),
      ['conversationId'],
      /conversationId: expected string/,
    );
  });

  test('sends a dangerous but legal id as one path segment', async () => {
    for (const id of [
      'a/b',
      '\\',
      '//evil.test',
      '?#&;@:%',
      '%zz',
      'é漢👩‍👧\u202e',
      '__proto__',
      '../x',
      '...',
      ' a ',
    ]) {
      await failureOf(context.exclude(id, 'm')).catch(() => undefined);
      const url = new URL(String(fetch.mock.calls.at(-1)?.[0]));
      expect(url.origin).toBe('https://service.test');
      expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'api', 'context', 'exclude', id, 'm']);
    }
  });
});

describe('validation of a query', () => {
  test('rejects a lone surrogate in a query and in a body', async () => {
    await expectRejected(() => context.retrieve('a\ud800'), ['conversationId'], /well-formed Unicode/);
    await expectRejected(() => context.unpin('c', '\udc00'), ['messageId'], /well-formed Unicode/);
    await expectRejected(() => context.compact('a\ud800'), ['conversationId'], /well-formed Unicode/);
    await expectRejected(
      () => gateway.chat.completions.create({ ...chatParams, messages: [{ role: 'user', content: 'a\ud800' }] }),
      ['messages', 0, 'content'],
      /well-formed Unicode/,
    );
  });

  test.each(['a&b=c', 'a#b', '%', '+', ' ', 'é', '?', 'a\r\nb', '/../'])('encodes %j', async (category) => {
    await failureOf(gateway.presets.list({ category }));

    const url = new URL(String(fetch.mock.calls[0]?.[0]));
    expect(url.pathname).toBe('/v1/presets');
    expect([...url.searchParams]).toEqual([['category', category]]);
  });

  test('leaves out what is undefined', async () => {
    await failureOf(context.memory.list({ workspaceId: undefined, type: undefined }));

    expect(fetch.mock.calls[0]?.[0]).toBe('https://service.test/api/memory');
  });

  test('rejects an id that is empty or not a string', async () => {
    await expectRejected(() => context.retrieve(''), ['conversationId'], /must not be empty/);
    await expectRejected(() => context.summary(5 as never), ['conversationId'], /expected string/);
    await expectRejected(() => context.unpin('c', undefined as never), ['messageId'], /expected string/);
  });
});

const create = (more: object) => () => gateway.chat.completions.create({ ...chatParams, ...more });

describe('validation of completion parameters', () => {
  test.each([Number.NaN, Infinity, -Infinity, -0.1, 2.0001, '1', 1n, null])(
    'rejects the temperature %s',
    async (temperature) => {
      await expectRejected(create({ temperature }), ['temperature'], /temperature: expected/);
    },
  );

  test.each([0, 2, -0, 1.5])('sends the temperature %d', async (temperature) => {
    await create({ temperature })();

    expect(sentBody().temperature).toBe(temperature + 0);
  });

  test.each([0, -1, 1.5, 2 ** 53, '5', Number.NaN, Infinity, null])('rejects max_tokens %s', async (max_tokens) => {
    await expectRejected(create({ max_tokens }), ['max_tokens'], /max_tokens: expected/);
  });

  test.each([
    ['', /must not be empty/],
    ['m'.repeat(10_000), /must not be longer than 1024/],
    [undefined, /expected string/],
    [5, /expected string/],
  ])('rejects a model that is empty, too long or not a string (%#)', async (model, hint) => {
    await expectRejected(create({ model }), ['model'], hint);
  });

  test('sends an unknown model: the service decides whether it exists', async () => {
    await create({ model: 'not-offered' })();

    expect(sentBody().model).toBe('not-offered');
  });

  test.each([
    { messages: [], path: ['messages'], hint: /must not be empty/ },
    { messages: 'hello', path: ['messages'], hint: /expected array/ },
    { messages: undefined, path: ['messages'], hint: /expected array/ },
    { messages: { 0: chatParams.messages[0], length: 1 }, path: ['messages'], hint: /expected array/ },
    // biome-ignore lint/suspicious/noSparseArray: that is the case
    { messages: [, chatParams.messages[0]], path: ['messages', 0], hint: /messages\[0\]: expected object/ },
    { messages: ['hello'], path: ['messages', 0], hint: /expected object/ },
    { messages: [{ role: 'user' }], path: ['messages', 0, 'content'], hint: /expected string/ },
    { messages: [{ role: 'user', content: null }], path: ['messages', 0, 'content'], hint: /expected string/ },
    { messages: [{ role: 'user', content: ['a'] }], path: ['messages', 0, 'content'], hint: /expected string/ },
    { messages: [{ content: 'a' }], path: ['messages', 0, 'role'], hint: /expected string/ },
    { messages: [{ role: '', content: 'a' }], path: ['messages', 0, 'role'], hint: /must not be empty/ },
  ])('rejects messages with a mistake at $path', async ({ messages, path, hint }) => {
    await expectRejected(create({ messages }), path, hint);
  });

  test('sends an unknown role: the service decides whether it is valid', async () => {
    await create({ messages: [{ role: 'tool', content: 'a' }] })();

    expect(sentBody().messages).toEqual([{ role: 'tool', content: 'a' }]);
  });

  test('sends parameters that are not documented yet', async () => {
    await create({ seed: 7 })();

    expect(sentBody()).toEqual({ ...chatParams, seed: 7 });
  });

  test.each(['maxTokens', 'MaxTokens', 'max-tokens', 'Temperature'])(
    'rejects %s, a documented parameter in another spelling',
    async (field) => {
      const hint = /: is unknown; did you mean (max_tokens|temperature)\?/;
      await expectRejected(create({ [field]: 1 }), [field], hint);
      await expectRejected(create({ [field]: 1, stream: true }), [field], hint);
    },
  );

  test('reports all misplaced parameters at once', async () => {
    const error = await failureOf(create({ maxTokens: 1, timeout: 5_000, seed: 7 })());

    expect((error as RequestValidationError).issues.map(({ path }) => path)).toEqual([['maxTokens'], ['timeout']]);
  });

  test('ignores a misplaced option whose value is undefined', async () => {
    await create({ timeout: undefined, maxTokens: undefined })();

    expect(Object.keys(sentBody() as object)).not.toContain('timeout');
  });

  test('lets an integration action have a field of any name', async () => {
    await gateway.integrations.execute('i', { action: 'a', timeout: 5, Action: 'b' });

    expect(sentBody()).toEqual({ action: 'a', timeout: 5, Action: 'b' });
  });

  test.each(['true', 1, null])('rejects stream: %s', async (stream) => {
    await expectRejected(create({ stream }), ['stream'], /expected boolean/);
  });

  test.each([undefined, null, 'hello', 5, []])('rejects the arguments %s', async (params) => {
    const error = await failureOf(gateway.chat.completions.create(params as never));

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(fetch).not.toHaveBeenCalled();
  });
});

const execute = (fields: object) => () => gateway.integrations.execute('i', { action: 'a', ...fields });

describe('validation of an integration action', () => {
  test('rejects a value that contains itself, and names its path', async () => {
    const loop: Record<string, unknown> = { list: [{}] };
    (loop.list as unknown[])[0] = loop;

    await expectRejected(execute({ loop }), ['loop', 'list', 0], /loop\.list\[0\]: must not contain itself/);
  });

  test('sends a value that appears twice, but not inside itself', async () => {
    const shared = { a: 1 };
    await execute({ first: shared, second: [shared, shared] })();

    expect(sentBody()).toEqual({ action: 'a', first: shared, second: [shared, shared] });
  });

  test.each([
    [1n, /bigint cannot be sent/],
    [() => 1, /function cannot be sent/],
    [Symbol('s'), /symbol cannot be sent/],
    [Number.NaN, /finite number/],
    [-Infinity, /finite number/],
  ])('rejects %s', async (value, hint) => {
    await expectRejected(execute({ deep: { list: [value] } }), ['deep', 'list', 0], hint);
  });

  test('leaves out an undefined field, and rejects an undefined item, which JSON would turn into null', async () => {
    await execute({ gone: undefined })();
    expect(sentBody()).toEqual({ action: 'a' });

    fetch.mockClear();
    await expectRejected(execute({ list: [undefined] }), ['list', 0], /undefined cannot be sent/);
  });

  class Amount {
    readonly euros = 5;
    toJSON(): unknown {
      return { euros: this.euros };
    }
  }
  class Point {
    x = 1;
  }

  test('sends a Date, a class instance and the result of toJSON', async () => {
    await execute({ at: new Date(0), amount: new Amount(), point: new Point() })();

    expect(sentBody()).toEqual({ action: 'a', at: '1970-01-01T00:00:00.000Z', amount: { euros: 5 }, point: { x: 1 } });
  });

  test.each([
    [new Map([[1, 2]]), /Map cannot be sent/],
    [new Set([1]), /Set cannot be sent/],
    [new Uint8Array(2), /Uint8Array cannot be sent/],
    [new ArrayBuffer(2), /ArrayBuffer cannot be sent/],
    [Promise.resolve(1), /Promise cannot be sent/],
    [/a/, /RegExp cannot be sent/],
    [new Error('e'), /Error cannot be sent/],
    [new String('a'), /String cannot be sent/],
    [new Number(1), /Number cannot be sent/],
    [new Boolean(true), /Boolean cannot be sent/],
    [new Blob(['a']), /Blob cannot be sent/],
    [new Date(Number.NaN), /must be a valid Date/],
    [{ toJSON: () => 1n }, /bigint cannot be sent/],
    [{ toJSON: () => undefined }, /undefined cannot be sent/],
  ])('rejects %s, which JSON would silently turn into something else', async (value, hint) => {
    await expectRejected(execute({ deep: [value] }), ['deep', 0], hint);
  });

  test('reports a getter that throws as a RequestValidationError with its cause', async () => {
    const cause = new Error('from a getter');
    const params = {
      action: 'a',
      get text(): string {
        throw cause;
      },
    };
    const proxy = new Proxy(chatParams, {
      get: () => {
        throw cause;
      },
      getOwnPropertyDescriptor: () => {
        throw cause;
      },
    });

    for (const call of [
      () => gateway.integrations.execute('i', params),
      () => gateway.chat.completions.create(proxy),
      () => context.compact('c', proxy as never),
      () => context.memory.create(proxy as never),
      () => gateway.usage.retrieve(proxy as never),
      () => gateway.files.upload(proxy as never),
      () => gateway.request(proxy as never),
    ]) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ name: 'RequestValidationError', cause });
    }
    expect(fetch).not.toHaveBeenCalled();
  });

  test('sends own __proto__, constructor and prototype keys as plain keys', async () => {
    const fields = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":2}');
    const params = Object.defineProperties({ action: 'a' }, Object.getOwnPropertyDescriptors(fields)) as {
      action: string;
    };

    await gateway.integrations.execute('i', params);

    expect(fetch.mock.calls[0]?.[1]?.body).toBe(`{"action":"a",${JSON.stringify(fields).slice(1)}`);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test('rejects 10,000 levels of nesting without a RangeError', async () => {
    let deep: unknown = 1;
    for (let n = 0; n < 10_000; n += 1) deep = { deep };

    const error = await failureOf(execute({ deep })());

    expect(error).toBeInstanceOf(RequestValidationError);
    expect((error as Error).cause).toBeUndefined();
    expect(String(error)).toMatch(/deeper than 500 levels/);
    expect(fetch).not.toHaveBeenCalled();
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
    { name: 'compact', call: () => context.compact('c', deep) },
    { name: 'pin', call: () => context.pin('c', 'm', deep) },
    { name: 'memory.create', call: () => context.memory.create([deep] as never) },
    { name: 'completions', call: () => gateway.chat.completions.create(deep) },
    { name: 'usage', call: () => gateway.usage.retrieve(deep) },
    { name: 'request', call: () => gateway.request('/v1/x' as never) },
    { name: 'request', call: () => context.request(null as never) },
  ])('rejects an argument of $name that is not an object', async ({ call }) => {
    await expectRejected(call, [], /expected an object with named fields/);
  });

  test('lists the fields an argument should have if it is not an object', async () => {
    await expectRejected(() => context.compact('c', deep), [], /such as \{ level \}\.$/);
    await expectRejected(() => context.pin('c', 'm', deep), [], /such as \{ category \}\.$/);
    await expectRejected(() => gateway.chat.completions.create(deep), [], /such as \{ model, messages, .*stream \}\.$/);
    await expectRejected(() => gateway.usage.retrieve(deep), [], /such as \{ start_date, end_date \}\.$/);
    await expectRejected(
      () => gateway.request('/v1/x' as never),
      [],
      /such as \{ method, path, ids, query, body \}\.$/,
    );
  });

  const among = (options: object): never => options as never;

  const { signal } = new AbortController();
  test.each<{ call: () => PromiseLike<unknown>; option: string }>([
    { option: 'signal', call: () => gateway.chat.completions.create(among({ ...chatParams, signal })) },
    { option: 'schema', call: () => gateway.presets.list(among({ schema: {} })) },
    { option: 'timeout', call: () => context.memory.list(among({ timeout: 5 })) },
    { option: 'onProgress', call: () => gateway.files.upload(among({ onProgress: () => {} })) },
    { option: 'deadline', call: () => gateway.request(among({ deadline: 5 })) },
    { option: 'maxRetries', call: () => context.compact('c', among({ maxRetries: 0 })) },
    { option: 'headers', call: () => context.pin('c', 'm', among({ headers: {} })) },
    { option: 'idempotencyKey', call: () => context.memory.update('m', among({ idempotencyKey: 'k' })) },
  ])('rejects the option $option among the parameters, and says where it belongs', async ({ call, option }) => {
    const error = (await failureOf(call())) as RequestValidationError;

    const message = 'is an option of the call: pass it in the last argument';
    expect(error.issues).toEqual([{ path: [option], message }]);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('rejects an option that only other calls take', async () => {
    await expectRejected(
      () => context.memory.list({}, among({ schema: {} })),
      ['options', 'schema'],
      /: is unknown; expected one of /,
    );
  });

  test.each<{ call: () => PromiseLike<unknown>; field: string }>([
    {
      field: 'stream',
      call: () => gateway.chat.completions.create(chatParams, among({ stream: true })),
    },
    { field: 'limit', call: () => gateway.presets.list({}, among({ limit: 5 })) },
    {
      field: 'start_date',
      call: () => gateway.usage.retrieve({}, among({ start_date: '2026-01-01' })),
    },
    { field: 'filename', call: () => upload({ filename: undefined }, { filename: 'a' })() },
    { field: 'workspaceId', call: () => context.memory.list({}, among({ workspaceId: 'w' })) },
    { field: 'level', call: () => context.compact('c', {}, among({ level: 'deep' })) },
    {
      field: 'category',
      call: () => context.pin('c', 'm', {}, among({ category: 'other' })),
    },
  ])('rejects the parameter $field among the options: they are separate arguments', async ({ call, field }) => {
    await expectRejected(call, ['options', field], /: is unknown; expected one of /);
  });

  test.each([0, -1, Number.NaN, 1.5, '5', null])('rejects the limit %s', async (limit) => {
    await expectRejected(() => gateway.presets.list({ limit: limit as number }), ['limit'], /limit: expected/);
  });

  test('sends a limit of 1e9: no maximum is documented', async () => {
    await failureOf(gateway.presets.list({ limit: 1e9 }));

    expect(fetch.mock.calls[0]?.[0]).toMatch(/limit=1000000000$/);
  });

  const misspelt: { call: () => PromiseLike<unknown>; field: string }[] = [
    { field: 'levl', call: () => context.compact('c', { levl: 'deep' } as never) },
    { field: 'messageId', call: () => context.pin('c', 'm', { messageId: 'm' } as never) },
    { field: 'typ', call: () => context.memory.list({ typ: 'fact' } as never) },
    { field: 'text', call: () => context.memory.create({ type: 'fact', key: 'k', content: 'c', text: 'd' } as never) },
    { field: 'active', call: () => context.memory.update('m', { content: 'c', active: false } as never) },
    { field: 'categry', call: () => gateway.presets.list({ categry: 'a' } as never) },
    {
      field: 'temperature',
      call: () => gateway.presets.execute('p', { input: 'a', model: 'b', temperature: 1 } as never),
    },
    { field: 'from', call: () => gateway.usage.retrieve({ from: '2026-01-01' } as never) },
    { field: 'fileName', call: () => gateway.files.upload({ file: new Blob(), purpose: 'p', fileName: 'f' } as never) },
  ];
  test.each(misspelt)('rejects the unknown field $field and names it', async ({ call, field }) => {
    const error = await failureOf(call());

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(String(error)).toMatch(new RegExp(` ${field}: is unknown; `));
    expect(fetch).not.toHaveBeenCalled();
  });

  test.each<{ field: string; call: () => PromiseLike<unknown>; says: string }>([
    { field: 'Category', call: () => context.pin('c', 'm', { Category: 'other' } as never), says: 'category' },
    { field: 'workspaceID', call: () => context.memory.list({ workspaceID: 'w' } as never), says: 'workspaceId' },
    { field: 'Limit', call: () => gateway.presets.list({ Limit: 5 } as never), says: 'limit' },
    {
      field: 'startDate',
      call: () => gateway.usage.retrieve({ startDate: '2026-01-01' } as never),
      says: 'start_date',
    },
    {
      field: 'Query',
      call: () => gateway.request({ method: 'GET', path: '/v1/x', Query: {} } as never),
      says: 'query',
    },
  ])('suggests $says for $field', async ({ field, call, says }) => {
    const error = await failureOf(call());

    expect(error).toMatchObject({
      issues: expect.arrayContaining([{ path: [field], message: `is unknown; did you mean ${says}?` }]),
    });
  });

  test.each([
    { call: () => context.pin('c', 'm', { category: 'bogus' as never }), path: ['category'] },
    { call: () => context.compact('c', { level: 'extreme' as never }), path: ['level'] },
    { call: () => context.memory.list({ type: 'x' as never }), path: ['type'] },
    { call: () => context.memory.create({ type: 'x' as never, key: 'k', content: 'c' }), path: ['type'] },
  ])('rejects an unknown value of $path and lists the allowed ones', async ({ call, path }) => {
    await expectRejected(call, path, /expected "\w+" or "\w+"/);
  });

  test('rejects a flag that is not a boolean', async () => {
    const update = () => context.memory.update('m', { content: 'c', isActive: 0 as never });

    await expectRejected(update, ['isActive'], /expected boolean/);
  });

  test.each([
    { dates: { start_date: '2026-13-01' }, path: ['start_date'] },
    { dates: { start_date: '2026-02-30' }, path: ['start_date'] },
    { dates: { start_date: '01/02/2026' }, path: ['start_date'] },
    { dates: { start_date: '2026-01-01T00:00:00Z' }, path: ['start_date'] },
    { dates: { end_date: '' }, path: ['end_date'] },
    { dates: { end_date: 5 as never }, path: ['end_date'] },
    { dates: { end_date: null as never }, path: ['end_date'] },
    { dates: { end_date: new Date(Number.NaN) }, path: ['end_date'] },
    { dates: { end_date: new Date(8.64e15) }, path: ['end_date'] },
    { dates: { start_date: '2026-02-01', end_date: '2026-01-31' }, path: ['end_date'] },
    { dates: { start_date: new Date('2026-02-01'), end_date: '2026-01-31' }, path: ['end_date'] },
  ])('rejects the period $dates', async ({ dates, path }) => {
    await expectRejected(() => gateway.usage.retrieve(dates), path, /YYYY-MM-DD|before start_date/);
  });

  test.each([
    { dates: { start_date: new Date('2026-01-31T23:59:59Z') }, query: '?start_date=2026-01-31' },
    {
      dates: { start_date: '2024-02-29', end_date: '2024-02-29' },
      query: '?start_date=2024-02-29&end_date=2024-02-29',
    },
    { dates: { start_date: undefined }, query: '' },
  ])('sends $dates as days', async ({ dates, query }) => {
    await failureOf(gateway.usage.retrieve(dates));

    expect(fetch.mock.calls[0]?.[0]).toBe(`https://service.test/v1/usage${query}`);
  });

  test('copies the arguments, so changes after the call affect no attempt', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    fetch.mockImplementationOnce(async () => new Response('', { status: 429 }));
    const params = { ...chatParams, messages: [{ role: 'user', content: 'first' }] };
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

const upload = (params: object, options?: object) => () =>
  gateway.files.upload({ file: new Blob(['a']), purpose: 'p', ...params }, options);
const sentForm = async () => {
  const init = fetch.mock.calls.at(-1)?.[1];
  const raw = await new Response(init?.body).arrayBuffer();
  const form = await new Response(raw, {
    headers: { 'content-type': new Headers(init?.headers).get('content-type') ?? '' },
  }).formData();
  return { form, raw: new TextDecoder().decode(raw) };
};

/** The body of an upload, which a service reads before it responds. */
async function received(file: unknown): Promise<string> {
  let body = '';
  const { files } = gatewayAt({
    fetch: async (_url, init) => {
      body = await new Response(init.body).text();
      return Response.json({});
    },
  });
  await files.upload({ file, purpose: 'p' } as never);
  return body;
}

describe('validation of an upload', () => {
  test.each([undefined, '', 5, null, 'a\ud800'])('rejects the purpose %j', async (purpose) => {
    await expectRejected(upload({ purpose }), ['purpose'], /not be empty|expected string|Unicode/);
  });

  test('sends line breaks in a purpose unchanged, and they cannot end the part', async () => {
    await upload({ purpose: 'a\r\n--x\r\nContent-Disposition: form-data; name="file"' })();

    expect((await sentForm()).form.get('purpose')).toBe('a\r\n--x\r\nContent-Disposition: form-data; name="file"');
  });

  test.each([
    { given: 'a"b.txt', sent: 'a%22b.txt', because: 'a quote would end the name' },
    { given: 'a\r\nb.txt', sent: 'a%0D%0Ab.txt', because: 'a line break would end the header' },
    { given: '/etc/passwd', sent: 'passwd', because: 'a folder must not leak' },
    { given: 'C:\\Users\\kim\\notes.txt', sent: 'notes.txt', because: 'nor may a Windows folder' },
    { given: 'größe 漢.txt', sent: 'größe 漢.txt', because: 'Unicode is fine' },
    { given: 'folder/', sent: 'file', because: 'no name is left' },
  ])('sends the file name $given as $sent: $because', async ({ given, sent }) => {
    await upload({ filename: given })();

    const { form, raw } = await sentForm();
    expect(raw).toContain(`name="file"; filename="${sent}"`);
    expect([...form.keys()]).toEqual(['purpose', 'file']);
  });

  test.each(['', 5, 'a\ud800', null])('rejects the file name %j', async (filename) => {
    await expectRejected(upload({ filename }), ['filename'], /not be empty|expected string|Unicode/);
  });

  test('sends an empty Blob, and a File under its own name', async () => {
    await upload({ file: new Blob([]) })();
    expect((await sentForm()).form.get('file')).toMatchObject({ size: 0, name: 'file' });

    await upload({ file: new File(['abc'], 'own.txt', { type: 'text/plain' }) })();
    expect((await sentForm()).form.get('file')).toMatchObject({ size: 3, name: 'own.txt', type: 'text/plain' });
  });

  test.each(['audio/webm;codecs=opus', 'text/plain;charset=utf-8', 'text/plain; charset=utf-8', 'image/svg+xml'])(
    'sends a Blob as %s, with its parameters',
    async (type) => {
      await upload({ file: new Blob(['a'], { type }) })();

      expect((await sentForm()).raw).toContain(`Content-Type: ${type}\r\n`);
    },
  );

  test('sends a Blob whose type would end the header as bytes of an unknown type', async () => {
    const file = { size: 1, type: 'text/plain;a\r\nx: y', stream: () => new Blob(['a']).stream() };

    expect(await received(file)).toContain('Content-Type: application/octet-stream\r\n');
  });

  const bytes = new TextEncoder().encode('abc');
  const realm = runInNewContext('({ Uint8Array, ArrayBuffer })');
  const foreign = new realm.Uint8Array([...bytes]);
  async function* yielding(chunk: unknown) {
    yield chunk;
  }
  /** As `Bun.file()`, which Bun leaves out of other Blobs. */
  class LeftOut extends Blob {
    exists = async () => true;
  }
  test.each([
    { of: 'the bytes of another realm', file: foreign },
    { of: 'the ArrayBuffer of another realm', file: foreign.buffer },
    { of: 'a stream of ArrayBuffers', file: yielding(bytes.buffer) },
    { of: 'a stream of bytes of another realm', file: yielding(foreign) },
    { of: 'a stream of views', file: yielding(new DataView(bytes.buffer)) },
    { of: "a library's Blob", file: { size: 3, type: '', stream: () => new Blob(['abc']).stream() } },
    { of: "a library's Blob with an iterable", file: { size: 3, type: '', stream: () => yielding(bytes) } },
    { of: 'a Blob that the platform leaves out', file: new LeftOut(['abc']) },
  ])('sends $of', async ({ file }) => {
    expect(await received(file)).toContain('\r\n\r\nabc\r\n--');
  });

  test.each([undefined, null, 'text', 5, {}, { path: 5 }, [1]])('rejects the file %j', async (file) => {
    await expectRejected(upload({ file }), ['file'], /expected a File, Blob, .* or \{ path \}/);
  });

  test('rejects a string as the file, and says how to pass a path or text without showing the string', async () => {
    const hint = /for a file on disk pass \{ path: '…' \}, for text new Blob\(\[text\]\)/;
    await expectRejected(upload({ file: '/tmp/canary.txt' }), ['file'], hint);
    expect(String(await failureOf(upload({ file: '/tmp/canary.txt' })()))).not.toContain('canary');
  });

  test('rejects a path that does not exist or is a folder', async () => {
    await expectRejected(upload({ file: { path: '/no/such/file' } }), ['file', 'path'], /no file at this path/);
    await expectRejected(upload({ file: { path: import.meta.dirname } }), ['file', 'path'], /not a file/);
  });

  test('rejects a path with a NUL character', async () => {
    const error = await failureOf(upload({ file: { path: 'a\0b' } })());

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(fetch).not.toHaveBeenCalled();
  });
});

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

  test.each(['str', 5, true, () => {}])('rejects %s instead of an object', async (options) => {
    for (const call of calls) {
      await expectRejected(() => call(options as never), ['options'], /options: expected an object, such as/);
    }
  });

  test.each(['timeout', 'deadline', 'streamIdleTimeout'])('rejects an invalid %s', async (option) => {
    for (const value of [0, -1, Number.NaN, Infinity, 1e12, '5s', null]) {
      for (const call of calls) {
        await expectRejected(() => call({ [option]: value } as never), ['options', option], /milliseconds above 0/);
      }
    }
  });

  test.each([-1, 1.5, 6, Number.NaN, '2', null])('rejects maxRetries %s', async (maxRetries) => {
    for (const call of calls) {
      await expectRejected(() => call({ maxRetries } as never), ['options', 'maxRetries'], /whole number from 0 to 5/);
    }
  });

  test.each(['timout', 'retries', 'apiKey', 'baseURL', 'fetch'])('rejects the unknown option %s', async (option) => {
    for (const call of calls) {
      await expectRejected(() => call({ [option]: 1 } as never), ['options', option], /: is unknown; expected one of /);
    }
  });

  test('lists the valid options in the error for an unknown one', async () => {
    const all = 'signal, streamIdleTimeout, timeout, deadline, maxRetries, headers, idempotencyKey'.split(', ');
    const error = (await failureOf(context.retrieve('c', { apiKey: 1 } as never))) as Error;
    const listed = /expected one of (.*?) *\.?$/.exec(error.message)?.[1]?.split(', ') ?? [];
    expect(listed.sort()).toEqual(all.sort());

    await expectRejected(
      () => gateway.integrations.list({ apiKey: 1 } as never),
      ['options', 'apiKey'],
      /expected one of schema, /,
    );
    await expectRejected(upload({}, { apiKey: 1 }), ['options', 'apiKey'], /expected one of schema, onProgress, /);
  });

  test('rejects a controller as the signal, and says to pass controller.signal', async () => {
    for (const call of calls) {
      const signal = new AbortController() as never;
      await expectRejected(() => call({ signal } as never), ['options', 'signal'], /such as controller\.signal/);
    }
  });

  test('rejects onProgress on calls other than uploads', async () => {
    await expectRejected(
      () => context.retrieve('c', { onProgress: () => {} } as never),
      ['options', 'onProgress'],
      /: is unknown; expected one of /,
    );
    await expectRejected(uploadWith({ onProgress: 'yes' }), ['options', 'onProgress'], /must be a function/);
  });

  test.each([{}, 'abort', 5, null, new EventTarget()])('rejects the signal %s', async (signal) => {
    for (const call of calls) {
      await expectRejected(() => call({ signal } as never), ['options', 'signal'], /must be an AbortSignal/);
    }
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

  test.each([
    'authorization',
    'Authorization',
    'AUTHORIZATION',
    'host',
    'Content-Length',
    'transfer-encoding',
    'Content-Type',
    'connection',
    'Proxy-Authorization',
    'cookie',
    'Expect',
    'te',
    'upgrade',
  ])('rejects the header %s', async (name) => {
    for (const call of calls) {
      await expectRejected(
        () => call({ headers: { [name]: 'x' } } as never),
        ['options', 'headers', name].slice(1),
        /credential|by the client/,
      );
    }
  });

  test.each([
    { headers: { 'x-a': '1', 'X-A': '2' }, path: ['headers', 'X-A'], hint: /set twice/ },
    { headers: { 'x a': '1' }, path: ['headers', 'x a'], hint: /not a valid header name/ },
    { headers: { 'x-a\r\nhost': '1' }, path: ['headers', 'x-a\r\nhost'], hint: /not a valid header name/ },
    { headers: { ['__proto__']: '1' }, path: ['headers', '__proto__'], hint: /not a valid header name/ },
    { headers: { '': '1' }, path: ['headers', ''], hint: /not a valid header name/ },
    { headers: { 'x-a': 'CANARY\r\nx-b: 1' }, path: ['headers', 'x-a'], hint: /printable Latin-1/ },
    { headers: { 'x-a': 'CANARY\0' }, path: ['headers', 'x-a'], hint: /printable Latin-1/ },
    { headers: { 'x-a': 'CANARY漢' }, path: ['headers', 'x-a'], hint: /printable Latin-1/ },
    { headers: { 'x-a': 5 }, path: ['headers', 'x-a'], hint: /must be a string/ },
    { headers: new Headers({ 'x-a': '1' }), path: ['headers'], hint: /plain object/ },
    { headers: [['x-a', '1']], path: ['headers'], hint: /plain object/ },
    { headers: 'x-a: 1', path: ['headers'], hint: /plain object/ },
  ])('rejects invalid headers (%#), and the error shows no value', async ({ headers, path, hint }) => {
    await expectRejected(() => gateway.integrations.list({ headers: headers as never }), path, hint);
    expect(String(await failureOf(gateway.integrations.list({ headers: headers as never })))).not.toContain('CANARY');
  });

  test.each(['', '  ', 5, null])('rejects the idempotency key %j', async (idempotencyKey) => {
    await expectRejected(
      () => gateway.integrations.list({ idempotencyKey: idempotencyKey as never }),
      ['options', 'idempotencyKey'],
      /non-empty/,
    );
  });

  test('sends nothing on a closed client: the call is a ClientClosedError', async () => {
    const closed: [GatewayClient, ContextClient] = [gatewayAt({ fetch }), contextAt({ fetch })];
    const derived = closed[0].withOptions({ timeout: 5 });
    for (const client of closed) await client.close();

    for (const call of [closed[0].integrations.list(), closed[1].retrieve('c'), derived.integrations.list()]) {
      expect(await failureOf(call)).toMatchObject({ name: 'ClientClosedError', attempts: [] });
    }
    expect(fetch).not.toHaveBeenCalled();
  });

  test('close() ends calls in progress', async () => {
    fetch.mockImplementationOnce(() => new Promise(() => {}));
    const client = gatewayAt({ fetch });
    const call = failureOf(client.integrations.list());

    await client.close();

    expect(await call).toMatchObject({ name: 'ClientClosedError' });
  });
});

function uploadWith(options: object) {
  return () => gateway.files.upload({ file: new Blob(['a']), purpose: 'p' }, options);
}
