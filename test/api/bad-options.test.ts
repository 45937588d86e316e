import {
  ConfigurationError,
  ContextClient,
  type ContextClientOptions,
  documented,
  extended,
  GatewayClient,
  type GatewayClientOptions,
} from 'context-gateway';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { leaksOf } from '../helpers/leaks.js';
import { completion } from '../helpers/samples.js';
import { BASE, contextAt, failureOf, gatewayAt, KEY, TOKEN } from '../helpers/service.js';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

/** The error that the constructor throws. */
async function messageOf(call: PromiseLike<unknown>): Promise<string> {
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ConfigurationError);
  return (error as Error).message;
}

function thrownBy(construct: () => unknown): ConfigurationError {
  try {
    construct();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return error as ConfigurationError;
  }
  throw new Error('the client was constructed');
}

const bothWith = (options: object) => [
  () => gatewayAt(options as GatewayClientOptions),
  () => contextAt(options as ContextClientOptions),
];

describe('credentials', () => {
  test.each([
    { value: 'CANARY\n', hint: /trim it/ },
    { value: ' CANARY', hint: /trim it/ },
    { value: 'CANARY\r\nx: y', hint: /line breaks or non-ASCII characters/ },
    { value: 'CAN\0ARY', hint: /no credential does/ },
    { value: 'CAN ARY', hint: /spaces/ },
    { value: 'CANARYé', hint: /non-ASCII/ },
    { value: 'CANARY漢', hint: /non-ASCII/ },
    { value: '', hint: /is empty\. Pass \{ (apiKey|sessionToken): … \} .*, or set CONTEXT_GATEWAY_/ },
    { value: '   ', hint: /is empty\. Pass/ },
    { value: '"CANARY"', hint: /is in quotes; leave them out/ },
    { value: 'Bearer CANARY', hint: /must not contain "Bearer"/ },
    { value: 'bearer CANARY', hint: /must not contain "Bearer"/ },
    { value: 5 as never, hint: /must be a string, or a function/ },
    { value: {} as never, hint: /must be a string, or a function/ },
  ])('an invalid credential of $value.length characters is rejected and not shown (%#)', async ({ value, hint }) => {
    const errors = [
      thrownBy(() => gatewayAt({ apiKey: value })),
      thrownBy(() => contextAt({ sessionToken: value })),
      await failureOf(gatewayAt({ apiKey: () => value }).integrations.list()),
      await failureOf(contextAt({ sessionToken: async () => value }).retrieve('c')),
    ];

    for (const error of errors) {
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(String(error)).toMatch(hint);
      expect(String(error)).toMatch(/apiKey|sessionToken/);
      expect(leaksOf(error, ['CANARY', 'CAN ARY', 'CAN\\x00ARY'])).toEqual([]);
    }
  });

  test.each(['svc_sk_', 'svc_pk_'])('the prefix %s alone is not a key', (apiKey) => {
    expect(thrownBy(() => gatewayAt({ apiKey })).message).toMatch(/a prefix without a key/);
  });

  test.each([undefined, null])(
    'a function that returns %s is rejected, and the error says what to return',
    async (value) => {
      const given = async () => value as never;

      const failures = [
        await failureOf(gatewayAt({ apiKey: () => value as never }).integrations.list()),
        await failureOf(contextAt({ sessionToken: given }).retrieve('c')),
      ];

      expect(failures.map(String)).toEqual([
        expect.stringContaining(
          `The apiKey function returned ${value} instead of a string. Check that the value it reads is set`,
        ),
        expect.stringContaining(`The sessionToken function returned ${value} instead of a string`),
      ]);
    },
  );

  test('quotes inside a token, as in a cookie, are part of it', async () => {
    const fetch = vi.fn(async (_: string | URL | Request, _init?: RequestInit) => Response.json({}));
    const client = contextAt({ fetch, sessionToken: 'session="abc"', sessionHeader: { name: 'cookie' } });

    await client.request({ method: 'GET', path: '/api/x' });

    expect(new Headers(fetch.mock.calls[0]?.[1]?.headers).get('cookie')).toBe('session="abc"');
  });

  test('an unknown prefix is accepted as a key of unknown kind', () => {
    expect(gatewayAt({ apiKey: 'other-key' }).keyType).toBe('unknown');
  });

  test('an API key is rejected as a session token', () => {
    expect(thrownBy(() => contextAt({ sessionToken: KEY })).message).toMatch(/is an API key/);
  });

  test('a missing credential is an error of the first call, with the names of the option and the variable', async () => {
    const fetch = vi.fn();
    const gateway = new GatewayClient({ baseURL: BASE, fetch, maxRetries: 2 });
    const context = new ContextClient({ baseURL: BASE, fetch });

    expect(await messageOf(gateway.usage.retrieve())).toMatch(/^apiKey is missing.*CONTEXT_GATEWAY_API_KEY/);
    expect(await messageOf(context.retrieve('c'))).toMatch(/^sessionToken is missing.*CONTEXT_GATEWAY_SESSION_TOKEN/);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('credentials and baseURL may be set in the environment after the client was created', async () => {
    const fetch = vi.fn(async (..._: Parameters<typeof globalThis.fetch>) => Response.json({}));
    const gateway = new GatewayClient({ fetch, validation: 'report' });
    vi.stubEnv('CONTEXT_GATEWAY_BASE_URL', BASE);
    vi.stubEnv('CONTEXT_GATEWAY_API_KEY', 'svc_pk_from_environment');

    await gateway.usage.retrieve();
    await gateway.withOptions({ timeout: 1_000 }).usage.retrieve();

    expect(fetch.mock.calls.map(([url]) => url)).toEqual([`${BASE}/v1/usage`, `${BASE}/v1/usage`]);
    expect(new Headers(fetch.mock.calls[0]?.[1]?.headers).get('authorization')).toBe('Bearer svc_pk_from_environment');
    expect(gateway.keyType).toBe('publishable');
  });

  test('a credential that is set later and wrong is an error of the call', async () => {
    const gateway = new GatewayClient({ baseURL: BASE });
    vi.stubEnv('CONTEXT_GATEWAY_API_KEY', 'Bearer svc_pk_test');

    expect(await messageOf(gateway.usage.retrieve())).toMatch(/^apiKey must not contain "Bearer"/);
  });

  test('credentials and baseURL may come from the environment', () => {
    vi.stubEnv('CONTEXT_GATEWAY_BASE_URL', BASE);
    vi.stubEnv('CONTEXT_GATEWAY_API_KEY', 'svc_pk_from_environment');
    vi.stubEnv('CONTEXT_GATEWAY_SESSION_TOKEN', TOKEN);

    expect(new GatewayClient().keyType).toBe('publishable');
    expect(new ContextClient()).toBeInstanceOf(ContextClient);
  });

  test('a function that fails sends nothing; its error is the cause', async () => {
    const fetch = vi.fn();
    const cause = new Error('vault is sealed');
    const sessionToken = () => Promise.reject(cause);

    const error = await failureOf(contextAt({ fetch, sessionToken, maxRetries: 2 }).retrieve('c'));

    expect(error).toMatchObject({ name: 'ConfigurationError', cause, retryable: false });
    expect(String(error)).toMatch(/sessionToken function threw/);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('a function that throws synchronously rejects the call', async () => {
    const apiKey = () => {
      throw new Error('vault is sealed');
    };

    expect(await failureOf(gatewayAt({ apiKey }).integrations.list())).toBeInstanceOf(ConfigurationError);
  });

  test('a function that takes too long is stopped by the deadline', async () => {
    const fetch = vi.fn();
    const sessionToken = () => new Promise<string>(() => {});

    const error = await failureOf(contextAt({ fetch, sessionToken, deadline: 20 }).retrieve('c'));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'deadline', sent: 'no' });
    expect(fetch).not.toHaveBeenCalled();
  });
});

const page = () => {
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('document', {});
};

test('errors on a page name options only: a page has no environment variables', async () => {
  page();

  const messages = [
    await messageOf(new GatewayClient({ apiKey: 'svc_pk_abc' }).usage.retrieve()),
    await messageOf(new GatewayClient({ baseURL: BASE }).usage.retrieve()),
    thrownBy(() => new GatewayClient({ baseURL: BASE, apiKey: '' })).message,
    await messageOf(new ContextClient({ baseURL: BASE }).retrieve('c')),
  ];

  expect(messages).toEqual([
    "baseURL is missing. Pass { baseURL: 'https://…' }.",
    'apiKey is missing. Pass { apiKey: … } (a string, or a function that returns one) (GET /v1/usage).',
    'apiKey is empty. Pass { apiKey: … } (a string, or a function that returns one).',
    'sessionToken is missing. Pass { sessionToken: … } (a string, or a function that returns one) (GET /api/context).',
  ]);
});

describe('a secret key in a browser', () => {
  test.each([KEY, 'unknown-kind'])('is rejected on a page, and the error says why (%s)', (apiKey) => {
    page();

    const error = thrownBy(() => gatewayAt({ apiKey }));

    expect(error.message).toMatch(/secret key in a browser.*publishable key.*dangerouslyAllowBrowser/);
    expect(leaksOf(error, [KEY])).toEqual([]);
  });

  test('is rejected in a web worker', () => {
    vi.stubGlobal('importScripts', () => {});
    vi.stubGlobal('process', undefined);

    expect(thrownBy(() => gatewayAt()).message).toMatch(/secret key in a browser/);
  });

  test('returned by a function is rejected by the first call, and not sent', async () => {
    page();
    const fetch = vi.fn();

    const error = await failureOf(gatewayAt({ apiKey: () => KEY, fetch }).integrations.list());

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('is accepted only with dangerouslyAllowBrowser: true', () => {
    page();

    expect(gatewayAt({ dangerouslyAllowBrowser: true }).keyType).toBe('secret');
    expect(thrownBy(() => gatewayAt({ dangerouslyAllowBrowser: 'yes' as never }))).toBeDefined();
  });

  test('is rejected, unlike a publishable key or a session token', () => {
    page();

    expect(gatewayAt({ apiKey: 'svc_pk_abc' }).keyType).toBe('publishable');
    expect(contextAt()).toBeInstanceOf(ContextClient);
  });
});

describe('sessionHeader', () => {
  test.each([
    { name: '' },
    { name: 'x y' },
    { name: 'x-a\r\nhost' },
    { name: 'host' },
    { name: 'Content-Length' },
    { name: 'transfer-encoding' },
    { name: 'connection' },
    { name: 'accept' },
    { name: 'X-Ünicode' },
    {},
    'X-Token',
    null,
    { name: 5 },
  ])('%j is rejected', (sessionHeader) => {
    const error = thrownBy(() => contextAt({ sessionHeader: sessionHeader as never }));

    expect(error.message).toMatch(/sessionHeader\.name must be a valid header name that the client does not use/);
  });

  test.each(['', 'two words', 'a\r\nb', 'é', 5])('the scheme %j is rejected', (scheme) => {
    const sessionHeader = { name: 'x-token', scheme: scheme as string };

    expect(thrownBy(() => contextAt({ sessionHeader })).message).toMatch(/sessionHeader\.scheme/);
  });

  test('cannot be set through defaultHeaders', () => {
    const defaultHeaders = { 'X-Token': 'CANARY' };

    const error = thrownBy(() => contextAt({ sessionHeader: { name: 'x-token' }, defaultHeaders }));

    expect(error.message).toBe(
      'defaultHeaders.X-Token is the header of the credential; pass the credential to the constructor instead.',
    );
  });
});

describe('baseURL', () => {
  test.each([
    'http://service.test',
    'http://localhost.evil.test',
    'http://127.0.0.1.nip.io',
    'http://0.0.0.0',
    'http://10.0.0.1',
    'http://[::ffff:127.0.0.1]',
    'http://[::]',
    'http://128.0.0.1',
    'http://localhost.',
    'http://my-localhost',
  ])('%s is rejected: http: is for the local machine only', (baseURL) => {
    for (const construct of bothWith({ baseURL })) {
      expect(thrownBy(construct).message).toMatch(/begin with https.* set dangerouslyAllowHTTP: true\.$/);
    }
  });

  test('baseURL with http: on another machine is accepted with dangerouslyAllowHTTP, and requests go there', async () => {
    const fetch = vi.fn(async (_url: string | URL | Request) => Response.json({ success: true }));
    const options = { baseURL: 'http://emulator:4010', dangerouslyAllowHTTP: true, fetch } as const;

    await gatewayAt(options).request({ method: 'GET', path: '/v1/x' });
    await contextAt(options).memory.delete('m');

    const sent = fetch.mock.calls.map(([url]) => url);
    expect(sent).toEqual(['http://emulator:4010/v1/x', 'http://emulator:4010/api/memory/m']);
  });

  test('baseURL with http: follows dangerouslyAllowHTTP of withOptions, set or unset', () => {
    const baseURL = 'http://10.0.0.1';
    for (const client of [gatewayAt(), contextAt()]) {
      expect(thrownBy(() => client.withOptions({ baseURL })).message).toMatch(/dangerouslyAllowHTTP/);
      const derived = client.withOptions({ baseURL, dangerouslyAllowHTTP: true });
      expect(() => derived.withOptions({ timeout: 5 })).not.toThrow();
      expect(thrownBy(() => derived.withOptions({ dangerouslyAllowHTTP: false }))).toBeDefined();
    }
  });

  test('baseURL with ws: is rejected even with dangerouslyAllowHTTP', () => {
    for (const construct of bothWith({ baseURL: 'ws://service.test', dangerouslyAllowHTTP: true })) {
      expect(thrownBy(construct).message).toMatch(/begin with https/);
    }
  });

  test.each([
    'http://localhost:4010',
    'http://LOCALHOST',
    'http://127.0.0.1:1',
    'http://127.9.9.9',
    'http://127.1',
    'http://0x7f.1',
    'http://[::1]:80',
    'https://service.test',
    'https://10.0.0.1:8443',
  ])('%s is accepted', (baseURL) => {
    for (const construct of bothWith({ baseURL })) expect(construct).not.toThrow();
  });

  test.each([
    { baseURL: 'https://kim:CANARY@service.test', hint: /user name, password/ },
    { baseURL: 'https://CANARY@service.test', hint: /user name, password/ },
    { baseURL: 'https://service.test?key=CANARY', hint: /query or fragment/ },
    { baseURL: 'https://service.test/#CANARY', hint: /query or fragment/ },
    { baseURL: 'ftp://service.test/CANARY', hint: /begin with https/ },
    { baseURL: 'data:text/plain,CANARY', hint: /begin with https/ },
    { baseURL: 'file:///CANARY', hint: /begin with https/ },
    { baseURL: 'javascript:CANARY', hint: /begin with https/ },
    { baseURL: 'ws://CANARY', hint: /begin with https/ },
    { baseURL: '/CANARY', hint: /complete URL/ },
    { baseURL: 'service.test/CANARY', hint: /complete URL/ },
    { baseURL: '', hint: /complete URL/ },
    { baseURL: 5, hint: /complete URL/ },
    { baseURL: new URL('https://service.test'), hint: /complete URL/ },
    { baseURL: 'https://service.test/v1', hint: /must not end in \/v1: the client adds it/ },
    { baseURL: 'https://service.test/v1/', hint: /must not end in \/v1: the client adds it/ },
    { baseURL: 'https://service.test/proxy/api', hint: /must not end in \/api/ },
  ])('$baseURL is rejected, and the error shows no user name, path or query', ({ baseURL, hint }) => {
    for (const construct of bothWith({ baseURL })) {
      const error = thrownBy(construct);
      expect(error.message).toMatch(hint);
      expect(leaksOf(error, ['CANARY'])).toEqual([]);
    }
  });

  test('baseURL that is missing is an error of the first call, with the name of its variable', async () => {
    expect(await messageOf(new GatewayClient({ apiKey: KEY }).usage.retrieve())).toMatch(
      /^baseURL is missing.*CONTEXT_GATEWAY_BASE_URL/,
    );
  });

  test.each([
    ['https://service.test', 'https://service.test/v1/usage'],
    ['https://service.test/', 'https://service.test/v1/usage'],
    ['https://service.test//', 'https://service.test/v1/usage'],
    ['https://service.test/proxy', 'https://service.test/proxy/v1/usage'],
    ['https://service.test/proxy/', 'https://service.test/proxy/v1/usage'],
    ['https://service.test//a///b//', 'https://service.test/a/b/v1/usage'],
    ['https://service.test/a b', 'https://service.test/a%20b/v1/usage'],
    ['https://service.test/a/../b', 'https://service.test/b/v1/usage'],
    ['https://service.test/v1beta', 'https://service.test/v1beta/v1/usage'],
    ['HTTPS://SERVICE.test:443', 'https://service.test/v1/usage'],
    ['https://service.test:8443', 'https://service.test:8443/v1/usage'],
  ])('%s is joined to %s', async (baseURL, sent) => {
    const fetch = vi.fn(async (_url: string | URL | Request) => Response.json({}));

    await gatewayAt({ baseURL, fetch, validation: 'report' }).usage.retrieve();

    expect(fetch.mock.calls[0]?.[0]).toBe(sent);
  });
});

describe('options of a client', () => {
  test.each(['timeout', 'deadline', 'streamIdleTimeout'])('an invalid %s is rejected', (option) => {
    for (const value of [0, -1, Number.NaN, Infinity, 1e12, '5s', null]) {
      for (const construct of bothWith({ [option]: value })) {
        expect(thrownBy(construct).message).toBe(
          `${option} must be a number of milliseconds above 0 and at most 2147483647.`,
        );
      }
    }
  });

  test.each([-1, 1.5, 6, Number.NaN, '2', null])('maxRetries %s is rejected', (maxRetries) => {
    for (const construct of bothWith({ maxRetries })) {
      expect(thrownBy(construct).message).toBe('maxRetries must be a whole number from 0 to 5.');
    }
  });

  test.each([0, 5])('maxRetries %d is accepted', (maxRetries) => {
    for (const construct of bothWith({ maxRetries })) expect(construct).not.toThrow();
  });

  test.each([
    ['base_url', 'baseURL'],
    ['baseUrl', 'baseURL'],
    ['timeOut', 'timeout'],
    ['maxretries', 'maxRetries'],
  ])('the misspelt option %s is rejected, and the error suggests the right name', (option, meant) => {
    for (const construct of bothWith({ [option]: 1 })) {
      expect(thrownBy(construct).message).toBe(`${option} is unknown; did you mean ${meant}?`);
    }
  });

  test.each(['signal', 'idempotencyKey', 'schema', 'retries', 'timeoutMs', 'x', 'constructor', '__proto__x'])(
    'the unknown option %s is rejected, and the error lists the valid ones',
    (option) => {
      for (const construct of bothWith({ [option]: 1 })) {
        const { message } = thrownBy(construct);
        expect(message).toContain(`${option} is unknown; expected one of `);
        expect(namesIn(message)).toEqual(expect.arrayContaining(['timeout', 'maxRetries', 'baseURL', 'fetch']));
      }
      const ofGateway = namesIn(thrownBy(() => gatewayAt({ [option]: 1 } as never)).message);
      const ofContext = namesIn(thrownBy(() => contextAt({ [option]: 1 } as never)).message);
      expect(ofGateway.filter((name) => !ofContext.includes(name))).toContain('apiKey');
      expect(ofContext.filter((name) => !ofGateway.includes(name))).toContain('sessionToken');
    },
  );

  test('all mistakes are reported in one error', () => {
    for (const construct of bothWith({ timeOut: 1, deadline: 0, validation: 'strict' })) {
      expect(thrownBy(construct).message).toBe(
        "deadline must be a number of milliseconds above 0 and at most 2147483647; validation must be 'error' or 'report'; " +
          'timeOut is unknown; did you mean timeout?',
      );
    }
  });

  test.each([
    { option: 'validation', value: 'strict', hint: /'error' or 'report'/ },
    { option: 'onEvent', value: {}, hint: /function/ },
    { option: 'fetch', value: 'node-fetch', hint: /function/ },
    { option: 'dispatcher', value: {}, hint: /undici Dispatcher/ },
    { option: 'pacing', value: 'yes', hint: /true, false or a RateLimiter/ },
    { option: 'pacing', value: null, hint: /true, false or a RateLimiter/ },
    { option: 'pacing', value: { admit: () => {} }, hint: /with acquire/ },
    { option: 'dangerouslyAllowBrowser', value: 'yes', hint: /^dangerouslyAllowBrowser must be true or false\.$/ },
    { option: 'dangerouslyAllowBrowser', value: 1, hint: /must be true or false/ },
    { option: 'dangerouslyAllowHTTP', value: 'yes', hint: /^dangerouslyAllowHTTP must be true or false\.$/ },
    { option: 'idempotencyHeader', value: '', hint: /that the client does not use/ },
    { option: 'idempotencyHeader', value: 'host', hint: /that the client does not use/ },
    { option: 'idempotencyHeader', value: 'Authorization', hint: /that the client does not use/ },
    { option: 'idempotencyHeader', value: 'cookie', hint: /that the client does not use/ },
    { option: 'defaultHeaders', value: { Host: 'CANARY' }, hint: /defaultHeaders\.Host is set by the client itself/ },
    {
      option: 'defaultHeaders',
      value: { 'x-a': 'CANARY\r\n' },
      hint: /defaultHeaders\.x-a must be a string of printable/,
    },
    { option: 'defaultHeaders', value: { 'x-a': '1', 'X-A': '2' }, hint: /defaultHeaders\.X-A is set twice/ },
    { option: 'defaultHeaders', value: new Headers(), hint: /defaultHeaders must be a plain object/ },
  ])('$option $value is rejected', ({ option, value, hint }) => {
    for (const construct of bothWith({ [option]: value })) {
      expect(thrownBy(construct).message).toMatch(hint);
      expect(leaksOf(thrownBy(construct), ['CANARY'])).toEqual([]);
    }
  });

  test.each([
    extended.completion,
    { ...documented, decodeChunk: 'x' },
    { ...extended, decodeChunk: null },
    { decodeChunk: () => undefined },
    null,
  ])('completions must be a form whose decodeChunk is a function: %o', (completions) => {
    expect(thrownBy(() => gatewayAt({ completions: completions as never })).message).toMatch(
      /^completions must be documented or extended \(.*\), or a copy with a function decodeChunk/,
    );
  });

  test('only the Gateway client takes completions, and decodeChunk is part of them', () => {
    expect(thrownBy(() => contextAt({ completions: documented } as never)).message).toMatch(
      /^completions is unknown; /,
    );
    expect(thrownBy(() => gatewayAt({ decodeChunk: () => undefined } as never)).message).toMatch(
      /^decodeChunk is unknown; /,
    );
  });

  test('fetch and dispatcher cannot be combined', () => {
    const dispatcher = { dispatch: () => true };
    for (const construct of bothWith({ fetch: globalThis.fetch, dispatcher })) {
      expect(thrownBy(construct).message).toMatch(/fetch and dispatcher cannot be combined: pass only one of them/);
    }
  });

  test.each([null, 'https://service.test', 5])('%j instead of options is rejected', (options) => {
    expect(thrownBy(() => new GatewayClient(options as never))).toBeDefined();
    expect(thrownBy(() => new ContextClient(options as never))).toBeDefined();
  });

  test.each(['fetch', 'dispatcher', 'pacing'])('withOptions rejects %s, which both clients share', (option) => {
    for (const client of [gatewayAt(), contextAt()]) {
      const derive = () => client.withOptions({ [option]: undefined } as never);
      expect(thrownBy(derive).message).toMatch(new RegExp(`${option} cannot be changed`));
    }
  });

  test.each([undefined, null, 'x', 5])('withOptions rejects %j instead of options', (options) => {
    for (const client of [gatewayAt(), contextAt()]) {
      expect(thrownBy(() => client.withOptions(options as never)).message).toBe(
        'withOptions takes an object, such as { timeout: 30_000 }.',
      );
    }
  });

  test('withOptions keeps the other options, shares the rate limits, and validates the new options', async () => {
    const fetch = vi.fn(async () =>
      Response.json(completion(), { headers: { 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' } }),
    );
    const client = gatewayAt({ fetch });
    const derived = client.withOptions({ timeout: 1_000, apiKey: 'svc_pk_other' });

    await derived.request({ method: 'GET', path: '/v1/x' });

    expect(fetch).toHaveBeenCalledOnce();
    expect(client.rateLimit).toEqual(derived.rateLimit);
    expect([client.keyType, derived.keyType]).toEqual(['secret', 'publishable']);
    expect(thrownBy(() => client.withOptions({ timeout: 0 }))).toBeDefined();
  });

  test('options are copied at construction', async () => {
    const fetch = vi.fn(async (_: string | URL | Request, _init?: RequestInit) => Response.json([]));
    const options = { baseURL: BASE, apiKey: KEY, fetch, defaultHeaders: { 'x-a': '1' } };
    const client = new GatewayClient(options);
    options.baseURL = 'https://elsewhere.test';
    options.apiKey = 'svc_sk_other';

    await client.integrations.list();

    expect(fetch.mock.calls[0]?.[0]).toBe(`${BASE}/v1/integrations`);
    expect(new Headers(fetch.mock.calls[0]?.[1]?.headers).get('authorization')).toBe(`Bearer ${KEY}`);
  });
});

/** The names that a message lists. */
function namesIn(message: string): string[] {
  return /expected one of (.*)\.$/.exec(message)?.[1]?.split(', ') ?? [];
}
