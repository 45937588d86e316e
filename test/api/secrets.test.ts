import { inspect } from 'node:util';
import { type ClientEvent, ContextGatewayError } from 'context-gateway';
import { describe, expect, test, vi } from 'vitest';
import { leaksOf } from '../helpers/leaks.js';
import { completion } from '../helpers/samples.js';
import { BASE, contextAt, failureOf, gatewayAt, KEY, TOKEN } from '../helpers/service.js';

const PROMPT = 'CANARY-PROMPT-4f1c';
const ANSWER = 'CANARY-ANSWER-9d2e';
const ID = 'CANARY-ID-77aa';
const SECRETS = [KEY, TOKEN, PROMPT, ANSWER, KEY.slice(7), TOKEN.slice(8)];
const params = { model: 'atlas-small', messages: [{ role: 'user' as const, content: PROMPT }] };

test('leaksOf finds a leak in a field, a hidden field and a cause', () => {
  const hidden = Object.defineProperty({}, 'hidden', { value: KEY, enumerable: false });
  const nested = new Error('outer', { cause: new Error('inner', { cause: { authorization: KEY } }) });
  for (const leaky of [{ key: KEY }, hidden, nested]) expect(leaksOf(leaky, [KEY])).not.toEqual([]);
});

test('leak surface 1: a client shows no credential however it is printed', async () => {
  const fetch = async () => Response.json(completion());
  const clients = [
    gatewayAt({ fetch, defaultHeaders: { 'x-note': PROMPT } }),
    contextAt({ fetch }),
    gatewayAt({ fetch, apiKey: () => KEY }),
    gatewayAt({ fetch }).withOptions({ timeout: 5_000 }),
    contextAt({ fetch }).withOptions({ timeout: 5_000 }),
  ];
  for (const client of clients) {
    await client.request({ method: 'GET', path: '/v1/x' });
    expect(leaksOf(client, SECRETS)).toEqual([]);
    expect(Object.entries(client).flatMap(([, part]) => leaksOf(part, SECRETS))).toEqual([]);
    expect(`${client}${inspect(client, { showProxy: true })}`).not.toContain(KEY);
    expect(leaksOf(inspect(client, { depth: 20, showHidden: true, getters: true }), SECRETS)).toEqual([]);
    await client.close();
  }
});

/** Responses that repeat everything they were sent, as careless services and proxies do. */
const echoes: { name: string; answer: () => Response | Promise<Response> }[] = [
  ...[400, 401, 403, 404, 429, 503].flatMap((status) => [
    {
      name: `${status} in the Gateway format`,
      answer: () => Response.json({ error: echo() }, { status, headers: echoed() }),
    },
    {
      name: `${status} in the Context format`,
      answer: () => Response.json({ success: false, error: secrets() }, { status }),
    },
    { name: `${status} as a page`, answer: () => new Response(`<b>${secrets()}</b>`, { status, headers: echoed() }) },
  ]),
  { name: 'an error in a success', answer: () => Response.json({ error: echo() }) },
  {
    name: 'a redirect',
    answer: () => new Response(null, { status: 302, headers: { location: `https://x.test/${KEY}?t=${TOKEN}` } }),
  },
  { name: 'text that is not JSON', answer: () => new Response(`${KEY} ${TOKEN} ${PROMPT}`) },
  {
    name: 'an unknown format',
    answer: () => Response.json({ [ANSWER]: PROMPT, id: [KEY], choices: ANSWER, usage: TOKEN }),
  },
];
const secrets = () => `wrong credential: ${KEY}, Bearer ${KEY}, ${TOKEN}, Bearer ${TOKEN}`;
const echo = () => ({ message: secrets(), type: secrets(), code: KEY, param: TOKEN });
const echoed = () => ({ 'x-request-id': `${KEY}/${TOKEN}`, 'x-echo': KEY });

describe('leak surface 2: no error shows a credential or a payload', () => {
  test.each(echoes)('$name', async ({ answer }) => {
    const events: ClientEvent[] = [];
    const options = { fetch: async () => answer(), onEvent: (event: ClientEvent) => events.push(event) };
    const calls = [
      // Each call is checked for its own credential and payload.
      { call: () => gatewayAt(options).chat.completions.create(params), own: [KEY, KEY.slice(7), PROMPT, ANSWER] },
      {
        call: () => gatewayAt({ ...options, apiKey: TOKEN }).integrations.list(),
        own: [TOKEN, TOKEN.slice(8), PROMPT, ANSWER],
      },
      { call: () => contextAt(options).retrieve(ID), own: [TOKEN, TOKEN.slice(8), KEY, PROMPT, ANSWER] },
    ];

    for (const { call, own } of calls) {
      events.length = 0;
      const error = await failureOf(call()).catch(() => undefined);
      expect(leaksOf(events, [...own, ID])).toEqual([]);
      if (error === undefined) continue; // an undocumented list accepts almost everything
      expect(error).toBeInstanceOf(ContextGatewayError);
      expect(leaksOf(error, own)).toEqual([]);
    }
  });

  test('errors about arguments show no argument', async () => {
    const fetch = vi.fn();
    const gateway = gatewayAt({ fetch });
    const context = contextAt({ fetch });
    const errors = await Promise.all(
      [
        gateway.chat.completions.create({ ...params, temperature: 9 }),
        gateway.chat.completions.create({ ...params, messages: [{ role: 'user', content: `${PROMPT}\ud800` }] }),
        gateway.chat.completions.create({ ...params, model: PROMPT.repeat(200) }),
        gateway.integrations.execute('chat', { action: 'a', text: new Map([[PROMPT, PROMPT]]) }),
        gateway.presets.list({ category: `${PROMPT}\ud800` }),
        gateway.usage.retrieve({ start_date: PROMPT }),
        gateway.files.upload({ file: { path: `/no/${PROMPT}` }, purpose: PROMPT }),
        gateway.integrations.list({ headers: { 'x-a': `${PROMPT}\n` } }),
        gateway.request({ method: 'GET', path: `/v1/../${PROMPT}` }),
        context.pin(`${PROMPT}\n`, 'm'),
        context.pin('c', 'm', { category: PROMPT as never }),
        context.memory.create({ type: PROMPT as never, key: PROMPT, content: PROMPT }),
      ].map(failureOf),
    );

    for (const error of errors) expect(leaksOf(error, SECRETS)).toEqual([]);
  });
});

test('leak surfaces 4 and 5: events name routes, and no event or URL contains a key or a text', async () => {
  const events: ClientEvent[] = [];
  const urls: string[] = [];
  const fetch = async (url: string | URL | Request) => {
    urls.push(String(url));
    return Response.json({ success: true, pinnedItem: {}, memory: {}, memories: [], data: [] });
  };
  const options = { fetch, onEvent: (event: ClientEvent) => events.push(event), validation: 'report' } as const;
  const context = contextAt(options);

  await context.pin(ID, ID);
  await context.unpin(ID, ID);
  await context.exclude(ID, ID);
  await context.memory.update(ID, { content: PROMPT });
  await context.memory.list({ workspaceId: 'w' });
  await gatewayAt(options).presets.list({ category: 'a' });

  expect(events.length).toBeGreaterThan(12);
  expect(leaksOf(events, [...SECRETS, ID])).toEqual([]);
  expect(leaksOf(urls, SECRETS)).toEqual([]);
  expect(urls.slice(-2)).toEqual([`${BASE}/api/memory?workspaceId=w`, `${BASE}/v1/presets?category=a`]);
});
