import {
  ConfigurationError,
  ContextClient,
  type ContextClientOptions,
  GatewayClient,
  type GatewayClientOptions,
} from 'context-gateway';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { leaksOf } from '../helpers/leaks.js';
import { BASE, contextAt, failureOf, gatewayAt, KEY, TOKEN } from '../helpers/service.js';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

async function messageOf(call: PromiseLike<unknown>): Promise<string> {
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ConfigurationError);
  return (error as Error).message;
}

/** The error that the constructor throws. */
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

const SEALED = new Error('vault is sealed');

describe('credentials', () => {
  test.each([
    { value: 'CANARY\n', hint: /trim it/ },
    { value: 'CANARY\r\nx: y', hint: /line breaks or non-ASCII characters/ },
    { value: 'CAN ARY', hint: /spaces/ },
    { value: 'CAN\0ARY', hint: /no credential does/ },
    { value: 'CANARYé', hint: /non-ASCII/ },
    { value: '', hint: /is empty\. Pass \{ (apiKey|sessionToken): … \} .*, or set CONTEXT_GATEWAY_/ },
    { value: '   ', hint: /is empty\. Pass/ },
    { value: '"CANARY"', hint: /is in quotes; leave them out/ },
    { value: 'bearer CANARY', hint: /must not contain "Bearer"/ },
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

  test('a prefix alone is no key, and an API key is no session token', () => {
    expect(thrownBy(() => gatewayAt({ apiKey: 'svc_sk_' })).message).toMatch(/a prefix without a key/);
    expect(thrownBy(() => gatewayAt({ apiKey: 'svc_pk_' })).message).toMatch(/a prefix without a key/);
    expect(thrownBy(() => contextAt({ sessionToken: KEY })).message).toMatch(/is an API key/);
  });

  test.each([undefined, null])('a function that returns %s is rejected, with what to return', async (value) => {
    const apiKey = () => value as never;
    const sessionToken = async () => value as never;

    expect(await messageOf(gatewayAt({ apiKey }).integrations.list())).toContain(
      `The apiKey function returned ${value} instead of a string. Check that the value it reads is set`,
    );
    expect(await messageOf(contextAt({ sessionToken }).retrieve('c'))).toContain(
      `The sessionToken function returned ${value} instead of a string`,
    );
  });

  test('quotes inside a token, as in a cookie, are part of it', () => {
    expect(() => contextAt({ sessionToken: 'session="abc"', sessionHeader: { name: 'cookie' } })).not.toThrow();
  });

  test('a missing credential or baseURL is an error of the first call, with the names of option and variable', async () => {
    const fetch = vi.fn();
    const gateway = new GatewayClient({ baseURL: BASE, fetch, maxRetries: 2 });
    const context = new ContextClient({ baseURL: BASE, fetch });
    const nowhere = new GatewayClient({ apiKey: KEY, fetch });

    expect(await messageOf(gateway.usage.retrieve())).toMatch(/^apiKey is missing.*CONTEXT_GATEWAY_API_KEY/);
    expect(await messageOf(context.retrieve('c'))).toMatch(/^sessionToken is missing.*CONTEXT_GATEWAY_SESSION_TOKEN/);
    expect(await messageOf(nowhere.usage.retrieve())).toMatch(/^baseURL is missing.*CONTEXT_GATEWAY_BASE_URL/);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('credentials and baseURL may be set in the environment, also after the client was created', async () => {
    const fetch = vi.fn(async (..._: Parameters<typeof globalThis.fetch>) => Response.json({}));
    const gateway = new GatewayClient({ fetch, validation: 'report' });
    vi.stubEnv('CONTEXT_GATEWAY_BASE_URL', BASE);
    vi.stubEnv('CONTEXT_GATEWAY_API_KEY', 'svc_pk_from_environment');
    vi.stubEnv('CONTEXT_GATEWAY_SESSION_TOKEN', TOKEN);

    await gateway.usage.retrieve();
    await gateway.withOptions({ timeout: 1_000 }).usage.retrieve();
    await new ContextClient({ fetch, validation: 'report' }).retrieve('c').catch(() => {});

    const sent = fetch.mock.calls.map(([url, init]) => [url, new Headers(init?.headers).get('authorization')]);
    expect(sent).toEqual([
      [`${BASE}/v1/usage`, 'Bearer svc_pk_from_environment'],
      [`${BASE}/v1/usage`, 'Bearer svc_pk_from_environment'],
      [`${BASE}/api/context?conversationId=c`, `Bearer ${TOKEN}`],
    ]);
    expect([gateway.keyType, new GatewayClient().keyType]).toEqual(['publishable', 'publishable']);
  });

  test('a credential that is set later and wrong is an error of the call', async () => {
    const gateway = new GatewayClient({ baseURL: BASE });
    vi.stubEnv('CONTEXT_GATEWAY_API_KEY', 'Bearer svc_pk_test');

    expect(await messageOf(gateway.usage.retrieve())).toMatch(/^apiKey must not contain "Bearer"/);
  });

  test('a function that fails sends nothing; its error is the cause', async () => {
    const sessionToken = () => Promise.reject(SEALED);
    const fetch = vi.fn();

    const error = await failureOf(contextAt({ fetch, sessionToken, maxRetries: 2 }).retrieve('c'));

    expect(error).toMatchObject({ name: 'ConfigurationError', cause: SEALED, retryable: false });
    expect(String(error)).toMatch(/sessionToken function threw/);
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
  test.each([KEY, 'unknown-kind'])('is rejected on a page and in a worker, and the error says why (%s)', (apiKey) => {
    page();
    const error = thrownBy(() => gatewayAt({ apiKey }));
    expect(error.message).toMatch(/secret key in a browser.*publishable key.*dangerouslyAllowBrowser/);
    expect(leaksOf(error, [KEY])).toEqual([]);

    vi.unstubAllGlobals();
    vi.stubGlobal('importScripts', () => {});
    vi.stubGlobal('process', undefined);
    expect(thrownBy(() => gatewayAt({ apiKey })).message).toBe(error.message);
  });

  test('returned by a function is rejected by the first call, and not sent', async () => {
    page();
    const fetch = vi.fn();

    expect(await messageOf(gatewayAt({ apiKey: () => KEY, fetch }).integrations.list())).toMatch(/secret key/);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('is accepted only with dangerouslyAllowBrowser: true, unlike a publishable key or a session token', () => {
    page();

    expect(gatewayAt({ dangerouslyAllowBrowser: true }).keyType).toBe('secret');
    expect(gatewayAt({ apiKey: 'svc_pk_abc' }).keyType).toBe('publishable');
    expect(contextAt()).toBeInstanceOf(ContextClient);
  });
});

describe('sessionHeader', () => {
  test.each([
    { name: '' },
    { name: 'x-a\r\nhost' },
    { name: 'Content-Length' },
    { name: 'accept' },
    {},
    'X-Token',
    null,
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
  test('baseURL with http: on another machine is accepted with dangerouslyAllowHTTP, and ws: is not', async () => {
    const fetch = vi.fn(async (_url: string | URL | Request) => Response.json({ success: true }));
    const options = { baseURL: 'http://emulator:4010', dangerouslyAllowHTTP: true, fetch } as const;

    await gatewayAt(options).request({ method: 'GET', path: '/v1/x' });
    await contextAt(options).memory.delete('m');

    const sent = fetch.mock.calls.map(([url]) => url);
    expect(sent).toEqual(['http://emulator:4010/v1/x', 'http://emulator:4010/api/memory/m']);
    for (const construct of bothWith({ ...options, baseURL: 'ws://service.test' }))
      expect(thrownBy(construct).message).toMatch(/begin with https/);
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

  test.each(['http://LOCALHOST', 'http://127.9.9.9', 'http://0x7f.1', 'http://[::1]:80', 'https://10.0.0.1:8443'])(
    '%s is accepted',
    (baseURL) => {
      for (const construct of bothWith({ baseURL })) expect(construct).not.toThrow();
    },
  );

  test.each([
    ['https://service.test//', 'https://service.test/v1/usage'],
    ['https://service.test/proxy/', 'https://service.test/proxy/v1/usage'],
    ['https://service.test//a///b//', 'https://service.test/a/b/v1/usage'],
    ['https://service.test/a b/../c', 'https://service.test/c/v1/usage'],
    ['https://service.test/v1beta', 'https://service.test/v1beta/v1/usage'],
    ['HTTPS://SERVICE.test:8443', 'https://service.test:8443/v1/usage'],
  ])('%s is joined to %s', async (baseURL, sent) => {
    const fetch = vi.fn(async (_url: string | URL | Request) => Response.json({}));

    await gatewayAt({ baseURL, fetch, validation: 'report' }).usage.retrieve();

    expect(fetch.mock.calls[0]?.[0]).toBe(sent);
  });
});

describe('options of a client', () => {
  const HTTPS_ONLY = /begin with https.* set dangerouslyAllowHTTP: true\.$/;

  test.each(['signal', 'retrys', 'x', 'constructor', 'completions'])(
    'the unknown option %s is rejected, and the error lists the valid ones',
    (option) => {
      const [ofGateway, ofContext] = bothWith({ [option]: 1 }).map((construct) => {
        const { message } = thrownBy(construct);
        expect(message).toContain(`${option} is unknown; expected one of `);
        return /expected one of (.*)\.$/.exec(message)?.[1]?.split(', ') ?? [];
      }) as [string[], string[]];

      expect(ofGateway).toEqual(expect.arrayContaining(['timeout', 'maxRetries', 'baseURL', 'fetch', 'apiKey']));
      expect(ofContext).toEqual(expect.arrayContaining(['timeout', 'maxRetries', 'sessionToken']));
      expect(ofGateway).not.toContain('sessionToken');
      for (const absent of ['apiKey', 'decodeChunk']) expect(ofContext).not.toContain(absent);
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

  const wrong = (option: string, values: unknown[], hint: RegExp) =>
    values.map((value): [string, unknown, RegExp] => [option, value, hint]);
  test.each<[option: string, value: unknown, hint: RegExp]>([
    ...['timeout', 'deadline', 'streamIdleTimeout'].flatMap((option) =>
      wrong(option, [0, -1, Number.NaN, Infinity, 1e12, '5s', null], /must be a number of milliseconds above 0 and at/),
    ),
    ...wrong(
      'maxRetries',
      [-1, 1.5, 6, Number.NaN, '2', null],
      /^maxRetries must be a whole number from 0 to 5; see also maxRetryAfter\.$/,
    ),
    ...wrong('baseURL', ['http://service.test', 'http://localhost.evil.test', 'http://127.0.0.1.nip.io'], HTTPS_ONLY),
    ...wrong('baseURL', ['http://0.0.0.0', 'http://[::ffff:127.0.0.1]', 'http://128.0.0.1'], HTTPS_ONLY),
    ...wrong('baseURL', ['http://my-localhost', 'ftp://service.test/CANARY', 'javascript:CANARY'], HTTPS_ONLY),
    ['baseURL', 'https://kim:CANARY@service.test', /user name, password/],
    ['baseURL', 'https://CANARY@service.test', /user name, password/],
    ['baseURL', 'https://service.test?key=CANARY', /query or fragment/],
    ['baseURL', 'https://service.test/#CANARY', /query or fragment/],
    ['baseURL', 'service.test/CANARY', /complete URL/],
    ['baseURL', new URL('https://service.test'), /complete URL/],
    ['baseURL', 'https://service.test/v1/', /must not end in \/v1: the client adds it/],
    ['baseURL', 'https://service.test/proxy/api', /must not end in \/api/],
    ['onEvent', {}, /function/],
    ['fetch', 'node-fetch', /function/],
    ['dispatcher', {}, /undici Dispatcher/],
    ['pacing', null, /true, false or a RateLimiter/],
    ['pacing', { admit: () => {} }, /with acquire/],
    ['dangerouslyAllowBrowser', 1, /^dangerouslyAllowBrowser must be true or false\.$/],
    ['dangerouslyAllowHTTP', 'yes', /^dangerouslyAllowHTTP must be true or false\.$/],
    ['idempotencyHeader', '', /that the client does not use/],
    ['idempotencyHeader', 'Authorization', /that the client does not use/],
    ['idempotencyHeader', 'cookie', /that the client does not use/],
    ['defaultHeaders', { Host: 'CANARY' }, /defaultHeaders\.Host is set by the client itself/],
    ['defaultHeaders', { 'x-a': 'CANARY\r\n' }, /^defaultHeaders\.x-a must be a string of/],
    ['defaultHeaders', [['x-a', 'CANARY']], /defaultHeaders must be a plain object or a Headers/],
    ['defaultHeaders', new Headers({ host: 'CANARY' }), /defaultHeaders\.host is set by the client itself/],
    ['base_url', 1, /^base_url is unknown; did you mean baseURL\?$/],
  ])('%s: %o is rejected, and not shown', (option, value, hint) => {
    for (const construct of bothWith({ [option]: value })) {
      const error = thrownBy(construct);
      expect(error.message).toMatch(hint);
      expect(leaksOf(error, ['CANARY'])).toEqual([]);
    }
  });

  test.each([null, 'data', { decodeChunk: () => undefined }])('decodeChunk must be a function: %o', (decodeChunk) => {
    expect(thrownBy(() => gatewayAt({ decodeChunk: decodeChunk as never })).message).toBe(
      'decodeChunk must be a function.',
    );
  });

  test('fetch and dispatcher cannot be combined', () => {
    const dispatcher = { dispatch: () => true };
    for (const construct of bothWith({ fetch: globalThis.fetch, dispatcher })) {
      expect(thrownBy(construct).message).toMatch(/fetch and dispatcher cannot be combined: pass only one of them/);
    }
  });

  test.each([null, 'x', 5])('%j instead of options is rejected, also by withOptions', (options) => {
    expect(thrownBy(() => new GatewayClient(options as never))).toBeDefined();
    expect(thrownBy(() => new ContextClient(options as never))).toBeDefined();
    for (const client of [gatewayAt(), contextAt()]) {
      expect(thrownBy(() => client.withOptions(options as never)).message).toBe(
        'withOptions takes an object, such as { timeout: 30_000 }.',
      );
    }
  });

  test.each(['fetch', 'dispatcher', 'pacing'])('withOptions rejects %s, which both clients share', (option) => {
    for (const client of [gatewayAt(), contextAt()]) {
      const derive = () => client.withOptions({ [option]: undefined } as never);
      expect(thrownBy(derive).message).toMatch(new RegExp(`${option} cannot be changed`));
    }
  });

  test.each(['set', 'not set'])(
    'withOptions calls no constructor of a subclass, with the environment %s',
    async (is) => {
      if (is === 'set') {
        vi.stubEnv('CONTEXT_GATEWAY_BASE_URL', 'https://other.test');
        vi.stubEnv('CONTEXT_GATEWAY_API_KEY', 'svc_sk_other');
      }
      const sent: [url: string, key: string | undefined][] = [];
      const fetch = async (url: string, { headers }: { headers: Record<string, string> }) => {
        sent.push([url, headers.authorization]);
        return new Response('[]');
      };
      class Tenant extends GatewayClient {
        readonly region: string;
        constructor(
          readonly tenant: string,
          region: string,
        ) {
          super({ baseURL: BASE, apiKey: KEY, fetch, defaultHeaders: { 'x-tenant': tenant } });
          this.region = region;
        }
        async count(): Promise<number> {
          return (await this.presets.list()).length;
        }
      }

      const derived = new Tenant('a', 'north').withOptions({ timeout: 1_000 }).withOptions({ maxRetries: 0 });

      expect(derived).toBeInstanceOf(Tenant);
      expect(await derived.count()).toBe(0);
      expect([derived.tenant, derived.region]).toEqual(['a', 'north']);
      expect(sent).toEqual([[`${BASE}/v1/presets`, `Bearer ${KEY}`]]);
    },
  );

  test('withOptions keeps the other options, shares the rate limits, and validates the new options', async () => {
    const fetch = vi.fn(async () => Response.json({}, { headers: { 'x-ratelimit-limit': '5' } }));
    const client = gatewayAt({ fetch });
    const derived = client.withOptions({ timeout: 1_000, apiKey: 'svc_pk_other' });

    await derived.request({ method: 'GET', path: '/v1/x' });

    expect(fetch).toHaveBeenCalledOnce();
    expect(client.rateLimit).toMatchObject({ gateway: { limit: 5 } });
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
