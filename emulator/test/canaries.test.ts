import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requestLine } from '../src/http/log/request-line.js';
import { type Emulator, emulatorStore, type FaultResponse } from '../src/index.js';
import { callsTo, dataDirectory, openStream, PROJECT_TALK, testEmulator } from './support.js';

/** What people write and keys, in one text. No output may have what begins with QUOKKA, and no masked one a word of it. */
const PROSE = 'Quokka svc_sk_QUOKKA1 session_local_QUOKKA2 Bearer.QUOKKA-3 Zanzibar';
const KEY = 'svc_sk_QUOKKA4';
const TOKEN = 'session_local_QUOKKA5';
/** A secret of another service, which only the header says to be one. */
const FOREIGN = 'opaque-QUOKKA6-secret';
const WORDS = /Quokka|Zanzibar/;
const SECRETS = /QUOKKA[1245]/;

const BASE = 'http://127.0.0.1';

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI description
type Json = any;

interface Operation {
  id: string;
  method: string;
  path: string;
  parameters: { name: string; in: 'path' | 'query' }[];
  content: Record<string, { schema: Json }>;
}

const description: Json = await (await testEmulator().fetch(`${BASE}/_emulator/openapi.json`)).json();
const operations: Operation[] = Object.entries<Json>(description.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, { operationId, parameters = [], requestBody }]) => ({
    id: operationId,
    method: method.toUpperCase(),
    path,
    parameters,
    content: requestBody?.content ?? {},
  })),
);

/** Values that lead a request to what there is. Any other text is `x`. */
const KNOWN: Record<string, unknown> = {
  ...{ conversationId: 'talk', messageId: 'goal', presetId: 'shout', integration: 'pager', action: 'page' },
  ...{ model: 'atlas-small', role: 'user', level: 'deep', kind: 'secret', plan: 'agency', type: 'fact' },
};

/** What a schema stands for. */
function resolved(schema: Json): Json {
  return schema.$ref === undefined ? schema : description.components.schemas[schema.$ref.split('/').at(-1)];
}

/** The fields of an object's schema. */
function fieldsOf({ properties = {}, additionalProperties: more }: Json): [name: string, schema: Json][] {
  return [...Object.entries<Json>(properties), ...(typeof more === 'object' ? [['more', more] as [string, Json]] : [])];
}

/** A value that a schema allows, with all its fields. */
function sampleOf(given: Json, name = ''): Json {
  const schema = resolved(given);
  const [option] = schema.anyOf ?? schema.oneOf ?? [];
  if (option !== undefined) return sampleOf(option, name);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum.includes(KNOWN[name]) ? KNOWN[name] : schema.enum[0];
  if (schema.type === 'array') return [sampleOf(schema.items, name)];
  if (schema.type === 'boolean') return false;
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type !== 'object') return KNOWN[name] ?? 'x';
  return Object.fromEntries(fieldsOf(schema).map(([field, inner]) => [field, sampleOf(inner, field)]));
}

/** Values that a schema allows, in each of its forms, but with a canary in one place, or as the name of a field. */
function* planted(given: Json, canary: string): Generator<Json> {
  const schema = resolved(given);
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) for (const option of options) yield* planted(option, canary);
  else if (schema.type === 'array') for (const inner of planted(schema.items, canary)) yield [inner];
  else if (schema.type !== 'object') yield canary;
  else {
    const sample = sampleOf(schema);
    for (const [name, inner] of fieldsOf(schema))
      for (const changed of planted(inner, canary)) yield { ...sample, [name]: changed };
    yield { ...sample, [canary]: 'x' };
  }
}

const isModel = ({ path }: Operation): boolean => /completions|presets\/.*execute/.test(path);
const isSame = (one: Operation, { method, path }: Operation): boolean =>
  one.method === method && one.path.slice(0, 4) === path.slice(0, 4);

/** All requests to an operation that have a canary in one of their fields. */
function* requestsWith(operation: Operation, canary: string): Generator<Request> {
  const { method, path, parameters, content } = operation;
  const { 'application/json': json, 'multipart/form-data': multipart } = content;
  const body = json && sampleOf(json.schema);
  const make = (fields: Record<string, string>, sent: Json, headers: Record<string, string> = {}): Request => {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(fields[name] ?? String(KNOWN[name] ?? 'talk')),
    );
    const query = parameters
      .filter((one) => one.in === 'query' && fields[one.name] !== undefined)
      .map(({ name }) => `${name}=${encodeURIComponent(fields[name] ?? '')}`);
    const isForm = sent instanceof FormData;
    return new Request(`${BASE}${filled}?${query.join('&')}`, {
      method,
      headers: {
        'x-api-key': FOREIGN,
        ...(sent === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: isForm ? sent : sent === undefined ? null : JSON.stringify(sent),
    });
  };
  for (const { name } of parameters) yield make({ [name]: canary }, body);
  if (json !== undefined) for (const sent of planted(json.schema, canary)) yield make({}, sent);
  if (multipart !== undefined) {
    for (const [name, text, purpose] of [
      [canary, 'x', 'x'],
      ['x', canary, 'x'],
      ['x', 'x', canary],
    ] as const) {
      const form = new FormData();
      form.set('file', new File([text], name, { type: 'text/plain' }));
      form.set('purpose', purpose);
      yield make({}, form);
    }
  }
  if (path.startsWith('/_emulator')) return;
  // These are read before the operation is known: one of each API and method shows it.
  if (operation !== operations.find((one) => isSame(one, operation)) && !isModel(operation)) return;
  yield new Request(`${BASE}${path.slice(0, 4)}/${encodeURIComponent(canary)}`, { headers: { 'x-api-key': FOREIGN } });
  const names = ['referer', 'origin', 'x-emulator-conversation', 'x-emulator-fault', 'idempotency-key', 'x-custom'];
  for (const name of names) yield make({}, body, { [name]: canary });
  const error = { message: canary, code: canary };
  const faults = [
    { status: 503, message: canary },
    { status: 503, body: { error } },
    { status: 503, headers: { 'x-note': canary } },
    { type: 'streamError', afterEvents: 1, error },
  ];
  for (const fault of faults) yield make({}, body, { 'x-emulator-fault': JSON.stringify(fault) });
  if (body?.messages !== undefined)
    yield make({}, { ...body, stream: true, messages: [{ role: 'user', content: canary }] });
}

const world = (options: object = {}): Emulator => {
  const emulator = testEmulator({ limits: { gateway: 10_000, context: 10_000, compact: 10_000 }, ...options });
  emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });
  emulator.presets.create({ id: 'shout', name: 'Shout', template: '{{input}}' });
  emulator.integrations.create({ id: 'pager', actions: [{ name: 'page', fields: [{ name: 'more' }] }] });
  return emulator;
};

/** Everything that the emulator says about its requests; `masked` is what a public report would have. */
async function outputsOf(emulator: Emulator): Promise<{ all: Record<string, string>; masked: Record<string, string> }> {
  const read = async (path: string) => (await emulator.fetch(`${BASE}/_emulator${path}`)).text();
  const { requests } = emulator;
  const all: Record<string, string> = {
    requests: JSON.stringify(requests),
    recent: JSON.stringify(emulator.recentRequests(1000)),
    lines: requests.map((request) => requestLine(request, false)).join('\n'),
    listed: await read('/requests?limit=1000'),
    found: await read('/search/requests?q=QUOKKA'),
    foundByWord: await read('/search/requests?q=zanzibar'),
    cost: await read('/usage?by=conversation'),
    replayed: await read('/answers'),
    case: await read('/case?state=false'),
    caseWithState: await read('/case?mask=keys'),
    har: await read('/har'),
  };
  for (const { requestId: id } of requests) {
    all[`request ${id}`] = await read(`/requests/${id}`);
    all[`events of ${id}`] = await read(`/requests/${id}/events`);
  }
  const pushed = (await emulator.fetch(`${BASE}/_emulator/events`)).body?.getReader();
  all.pushed = new TextDecoder().decode((await pushed?.read())?.value);
  await pushed?.cancel();
  const masked = { case: await read('/case?mask=keys,prompts'), har: await read('/har?mask=prompts') };
  return { all: { ...all, maskedCase: masked.case, maskedHar: masked.har }, masked };
}

/** Where a text has what it must not have. */
function leaks(outputs: Record<string, string>, hidden: RegExp): string[] {
  return Object.entries(outputs).flatMap(([name, text]) => {
    const at = text.search(hidden);
    return at === -1 ? [] : [`${name}: …${text.slice(Math.max(0, at - 200), at + 60)}…`];
  });
}

const callable = operations.filter(({ parameters, content }) => parameters.length + Object.keys(content).length > 0);

test.each(callable)('no output has what $method $path was given', async (operation) => {
  const directory = dataDirectory();
  const echo = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const { messages } = JSON.parse(String(init?.body));
    const said = String(messages.at(-1)?.content);
    if (said.includes('refuse')) return new Response(said, { status: 500 });
    return Response.json({ choices: [{ message: { content: said }, finish_reason: 'stop' }] });
  };
  const upstream = { url: 'http://127.0.0.1:1/v1', fetch: echo };
  const recording = { upstream, cassettes: { directory, mode: 'record' } };
  const worlds = [world(), ...(isModel(operation) ? [world(recording)] : [])];
  for (const emulator of worlds) {
    const ended: string[] = [];
    const refused: string[] = [];
    emulator.onRequest((request) => ended.push(JSON.stringify(request)));
    const isGateway = operation.path.startsWith('/v1');
    const own = isGateway ? emulator.apiKeys.secret : emulator.sessionToken;
    // Its name or its user is what the log says of the caller.
    const named = isGateway
      ? emulator.apiKeys.create('secret', { name: PROSE })
      : emulator.sessions.create({ userId: PROSE }).token;
    const isLogged = !operation.path.startsWith('/_emulator');
    const refusal = emulator === worlds[1] ? [`refuse ${PROSE}`] : [];
    for (const canary of [PROSE, isGateway ? KEY : TOKEN, ...refusal, ...(isLogged ? [FOREIGN] : [])]) {
      for (const request of requestsWith(operation, canary)) {
        request.headers.set('authorization', `Bearer ${canary === PROSE ? named : own}`);
        const response = await emulator.fetch(request).catch(() => undefined);
        const text = (await response?.text().catch(() => '')) ?? '';
        // A fault's body is sent as it was asked for.
        const isOwn = !request.headers.get('x-emulator-fault')?.startsWith('{');
        if (isOwn && response !== undefined && response.status >= 400) refused.push(text);
      }
    }

    const { all, masked } = await outputsOf(emulator);

    expect(leaks({ ...all, ended: ended.join('\n'), refused: refused.join('\n') }, SECRETS)).toEqual([]);
    expect(leaks(masked, WORDS)).toEqual([]);
    // Stored data and recordings may have it: nothing there says that it is a secret.
    const { caseWithState: _, maskedCase: __, replayed: ___, ...ofRequests } = all;
    expect(leaks(ofRequests, /QUOKKA6/)).toEqual([]);
    if (isLogged) expect(leaks({ listed: all.listed ?? '' }, /x-api-key/)).not.toEqual([]);
    await emulator.close();
  }
  const files = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'));
  expect(files.length > 0).toBe(isModel(operation));
  expect(leaks({ files: files.join('\n') }, SECRETS)).toEqual([]);
});

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJRVU9LS0EiOjF9.QUOKKAQUOKKA';

test.each([
  { secret: KEY, shown: 'svc_sk_***' },
  { secret: JWT, shown: 'eyJ***' },
  { secret: 'sk-proj-QUOKKA1234567890', shown: 'sk-***' },
  { secret: 'Bearer QUOKKA1234567890', shown: 'Bearer ***' },
  { secret: FOREIGN, shown: '***' },
])('$shown that comes in pieces is in no output of a stream, while it is sent and later', async ({ secret, shown }) => {
  const emulator = testEmulator({ pace: { chunkBy: 'char' } });
  emulator.chat.on('key', `It is ${secret} now. Keep it.`);
  const headers = { authorization: `Bearer ${emulator.apiKeys.secret}`, 'x-api-key': FOREIGN };
  const opened = await openStream(emulator, 'The key?', {}, { headers });
  const reader = opened.body?.getReader();
  const [request] = emulator.requests;
  const followed = emulator.fetch(`${BASE}/_emulator/requests/${request?.requestId}/events`);
  const live = followed.then((response) => response.text());
  while (!(await reader?.read())?.done);
  const { all } = await outputsOf(emulator);

  const said = (text: string): string =>
    [...text.matchAll(/\\?"content\\?":\\?"((?:[^"\\]|\\.)*?)\\?"/g)].map(([, piece]) => piece).join('');
  expect(said(await live)).toBe(`It is ${shown} now. Keep it.`);
  expect(said(emulator.requests[0]?.response?.body ?? '')).toBe(`It is ${shown} now. Keep it.`);
  for (const [name, text] of Object.entries(all)) expect(said(text), name).not.toContain('QUOKKA');
  expect(emulator.requests[0]?.response?.events?.map(({ text }) => text).join('')).toBe(
    emulator.requests[0]?.response?.body,
  );
});

test.each(['x-caller', 'x-session'])(
  'no output has the foreign token that comes in the header %s of sessions',
  async (name) => {
    const emulator = world({ sessionHeader: { name } });
    for (const token of [FOREIGN, emulator.sessionToken]) {
      const init = { method: 'POST', body: JSON.stringify({ type: 'fact', key: 'k', content: `It is ${token}.` }) };
      await emulator.fetch(`${BASE}/api/memory?type=${token}`, { ...init, headers: { [name]: token } });
    }

    const { caseWithState: _, maskedCase: __, ...ofRequests } = (await outputsOf(emulator)).all;

    expect(leaks(ofRequests, /QUOKKA/)).toEqual([]);
    expect(emulator.requests.map(({ headers }) => headers[name])).toEqual(['***', 'session_local_***']);
    expect(emulator.requests.map(({ caller }) => caller)).toEqual([undefined, emulator.userId]);
  },
);

test('a listener that joins in the middle of a word sees each event once', async () => {
  const emulator = testEmulator({ pace: { chunkBy: 'char' } });
  emulator.chat.on('key', `It is ${KEY} now.`);
  const reader = (await openStream(emulator, 'The key?')).body?.getReader();
  const path = `${BASE}/_emulator/requests/${emulator.requests[0]?.requestId}/events`;
  const first = emulator.fetch(path).then((response) => response.text());
  for (let i = 0; i < 12; i += 1) await reader?.read();
  const second = emulator.fetch(path).then((response) => response.text());
  while (!(await reader?.read())?.done);

  const numbers = (text: string) => [...text.matchAll(/"index":(\d+),"at"/g)].map(([, number]) => Number(number));
  for (const text of [await first, await second]) {
    expect(text).not.toContain('QUOKKA');
    expect(numbers(text)).toEqual(numbers(text).map((_, i) => i));
    expect(numbers(text).length).toBe(emulator.requests[0]?.events);
  }
});

test('the keys of other services are hidden, at the start of a line, in a cookie, cut off, and as names', async () => {
  const emulator = world();
  const words = `my env:\nsk-proj-QUOKKA1234567890\n${JWT}\tBearer QUOKKA123456\nhttp://anna:QUOKKA@host/x`;
  const cookie = `theme=dark; a=svc_sk_1; sid=${FOREIGN}`;
  const { ask, gateway } = callsTo(emulator);
  await ask(`${words} ${FOREIGN} ${'x'.repeat(40)}`, { [FOREIGN]: 1 }, { cookie });
  await ask(`${'x'.repeat(60)}${FOREIGN}`, { model: `${'x'.repeat(80)}${FOREIGN}` }, { 'x-api-key': FOREIGN });
  await gateway('GET', `/v1/presets?note=${encodeURIComponent('key: sk-proj-QUOKKA1234567890')}`);
  const { all } = await outputsOf(emulator);

  expect(leaks(all, /QUOKKA/)).toEqual([]);
});

test('ordinary words are not taken for keys', async () => {
  const emulator = world();
  const words = 'Bearer authentication, sk-learning-rate, session_local_storage, http://a.example:8080;bob@example.com';
  await callsTo(emulator).ask(words);

  expect(emulator.requests[0]).toMatchObject({ isBodyExact: true, body: expect.stringContaining(words) });
});

test('a mask hides the text of files in any script, and records stay distinct', async () => {
  const emulator = world();
  await callsTo(emulator).upload(new File(['Привет, меня зовут Анна. 你好'], 'a.txt'));
  for (const id of ['foo bar', 'baz qux']) emulator.conversations.create({ id, messages: [] });

  const { body } = await callsTo(emulator).control('GET', '/case?mask=keys,prompts');
  const opened = testEmulator();
  await callsTo(opened).control('POST', '/case', body);

  expect(Buffer.from(body.state.files[0].content, 'base64').toString()).toBe('xxxxxx, xxxx xxxxx xxxx. xx');
  expect(opened.conversations.list()).toHaveLength(3);
});

/** What looks like a name, as a text and as a term that someone defines. */
const WORD = 'Quokka';
const DEFINED = { definitions: { [WORD]: WORD } };

/** Requests with the word wherever people write. */
function* wordsOfPeople(): Generator<object | string> {
  const messages = [{ role: 'user', content: WORD }];
  const call = {
    id: 'c1',
    type: 'function',
    function: { name: 'find', arguments: JSON.stringify({ q: WORD, ...DEFINED }) },
  };
  yield { messages, stop: WORD, user: WORD, metadata: { topic: WORD, list: [WORD] }, title: WORD, note: WORD };
  yield {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: WORD },
          { type: 'image_url', url: WORD },
        ],
      },
    ],
  };
  yield {
    messages: [
      ...messages,
      { role: 'assistant', content: WORD, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: WORD },
    ],
    tools: [
      { type: 'function', function: { name: 'find', description: WORD, parameters: { type: 'object', ...DEFINED } } },
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { description: WORD, ...DEFINED } } },
    stream: true,
  };
  yield { messages, ...DEFINED, context: DEFINED, summary: DEFINED, result: [DEFINED], more: [{ inner: DEFINED }] };
  yield* [JSON.stringify(WORD), JSON.stringify([WORD]), `{"a": "${WORD}`, WORD, `data: {"x":"${WORD}"}\n\n: ${WORD}\n`];
}

const FAULTS_OF_PEOPLE: FaultResponse[] = [
  { status: 503, message: WORD },
  { status: 503, body: WORD },
  { status: 503, body: [WORD, { text: WORD, ...DEFINED }] },
  { status: 503, body: { error: { message: WORD, ...DEFINED }, ...DEFINED } },
  { status: 503, headers: { 'x-note': WORD } },
  { type: 'garbage', body: WORD },
  { type: 'garbage', body: JSON.stringify({ text: WORD, ...DEFINED }) },
  { type: 'streamError', afterEvents: 1, error: { message: WORD, inner: DEFINED } },
];

test('a mask hides a single word, and a term that someone defines, wherever people write', async () => {
  const emulator = world();
  const { gateway, context, control, upload } = callsTo(emulator);
  const send = async (body: string) => (await openStream(emulator, '', {}, { body })).text();
  const ask = (more: object = {}) =>
    send(JSON.stringify({ model: 'atlas-small', messages: [{ role: 'user', content: WORD }], ...more }));
  for (const sent of wordsOfPeople()) await (typeof sent === 'string' ? send(sent) : ask(sent));
  for (const respond of FAULTS_OF_PEOPLE) {
    emulator.faults.add({ respond });
    await ask({ stream: respond.type === 'streamError' });
    emulator.faults.add({ match: { path: '/v1/none' }, respond });
  }
  for (const reply of [WORD, { json: { text: WORD, ...DEFINED } }]) {
    emulator.chat.on(WORD, reply);
    await ask();
  }
  emulator.chat.on(/Quokka+/, [
    { content: WORD, tool_calls: [{ function: { name: 'find', arguments: DEFINED } }] },
    WORD,
  ]);
  await ask();
  const content = `${WORD} means the island. We decided to use ${WORD} because ${WORD} is small.`;
  const messages = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, role: 'user' as const, content }));
  emulator.conversations.create({ id: 'said', messages, stylePreferences: { tone: WORD, ...DEFINED } });
  await context('POST', '/api/context/pin/said', { messageId: 'a' });
  for (const level of ['light', 'aggressive'])
    await context('POST', '/api/context/compact', { conversationId: 'said', level });
  for (const path of ['/api/context', '/api/context/summary']) await context('GET', `${path}?conversationId=said`);
  await context('POST', '/api/memory', { type: 'definition', key: WORD, content: WORD });
  await context('GET', '/api/memory');
  await upload(new File([WORD], WORD, { type: 'text/plain' }));
  emulator.presets.create({ id: 'mine', name: WORD, description: WORD, template: `${WORD} {{input}}` });
  await gateway('POST', '/v1/presets/mine/execute', { model: 'atlas-small', input: WORD });
  emulator.workspaces.create({ id: 'team', name: WORD });
  emulator.integrations.create({ id: 'bell', name: WORD, actions: [{ name: 'ring', description: WORD }] });
  await gateway('POST', '/v1/integrations/pager/execute', { action: 'page', more: WORD });
  const store = emulatorStore(emulator);
  const stored = {
    role: 'user',
    content: [{ type: 'text', text: WORD }],
    name: WORD,
    extra: { note: WORD, ...DEFINED },
  };
  store.append('stored', [{ id: 'a', ...stored, recalled: [{ text: WORD, score: 1, match: 'words' }] } as never], {
    edits: 0,
  });
  const lost = [{ section: 'definitions', term: WORD, text: WORD, until: 1 }];
  store.saveState('stored', { format: 1, lost, snapshot: { summary: { goals: [WORD], ...DEFINED }, ...DEFINED } }, 0);

  const masked = {
    case: JSON.stringify((await control('GET', '/case?mask=prompts')).body),
    har: JSON.stringify((await control('GET', '/har?mask=prompts')).body),
  };

  expect(masked.case).toContain('summaryItems');
  expect(leaks(masked, /Quokka/)).toEqual([]);
  expect((await callsTo(testEmulator()).control('POST', '/case', JSON.parse(masked.case))).status).toBe(200);
});

test('a mask keeps the code of the error that a stream ends with', async () => {
  const emulator = world();
  const error = { type: 'server_error', code: 'overloaded', message: 'Zanzibar', retry: { after: 'Quokka' } };
  emulator.faults.add({ respond: { type: 'streamError', afterEvents: 1, error } });
  await (await openStream(emulator, 'Hello?')).text();

  const { requests } = (await callsTo(emulator).control('GET', '/case?mask=prompts')).body;

  const shown = { type: 'server_error', code: 'overloaded', message: 'xxxxxxxx', retry: { after: 'xxxxxx' } };
  expect(requests[0].faultResponse).toEqual({ type: 'streamError', afterEvents: 1, error: shown });
  expect(requests[0].response.body).toContain(JSON.stringify({ error: shown }));
});

test('a mask hides all of a body that is to be no answer, in JSON too', async () => {
  const emulator = world();
  const body = JSON.stringify({ id: 'Quokka', object: 'Zanzibar' });
  emulator.faults.add({ respond: { type: 'garbage', body } });
  emulator.faults.add({ respond: { type: 'garbage', body } });
  await callsTo(emulator).ask('Hello?');

  const { requests, faults } = (await callsTo(emulator).control('GET', '/case?mask=prompts')).body;

  for (const shown of [requests[0].faultResponse, faults[0].respond])
    expect(shown).toEqual({ type: 'garbage', body: '{"xx":"xxxxxx","xxxxxx":"xxxxxxxx"}' });
});

test('an error in a reply function is in no output with what it quotes', async () => {
  const emulator = world();
  const ended: string[] = [];
  emulator.onRequest((request) => ended.push(JSON.stringify(request)));
  emulator.chat.on('break', () => Promise.reject(new Error(PROSE)));
  await callsTo(emulator).ask('break');
  const { all, masked } = await outputsOf(emulator);

  expect(all.requests).toMatch(WORDS);
  expect(leaks({ ...all, ended: ended.join() }, SECRETS)).toEqual([]);
  expect(leaks(masked, WORDS)).toEqual([]);
});

test('a mask keeps the message of an error, without what it quotes', async () => {
  const upstream = {
    url: 'http://127.0.0.1:1/v1',
    fetch: async () => new Response('no "Quokka" today', { status: 500 }),
  };
  const emulator = testEmulator({ upstream });
  await callsTo(emulator).ask('Hello?');

  const { requests } = (await callsTo(emulator).control('GET', '/case?mask=prompts')).body;

  const { message, code } = JSON.parse(requests[0].response.body).error;
  expect(message).toBe('The upstream responded with 500: "xx \\"xxxxxx\\" xxxxx"');
  expect(code).toBe('upstream_error');
});

test('a mask keeps the names of what is documented, and hides what the API does not document', async () => {
  const emulator = world();
  const { control, gateway, ask } = callsTo(emulator);
  await gateway('POST', '/v1/integrations/pager/execute', { action: 'page', more: 'Quokka' });
  await ask('Hello?', { colour: 'Quokka', role: 'Zanzibar' });

  const { requests, state } = (await control('GET', '/case?mask=prompts')).body;

  expect(JSON.parse(requests[0].body)).toEqual({ action: 'page', more: 'xxxxxx' });
  expect(JSON.parse(requests[0].response.body)).toMatchObject({ integration: 'pager', action: 'page' });
  expect(JSON.parse(requests[1].body)).toMatchObject({ model: 'atlas-small', colour: 'xxxxxx', role: 'xxxxxxxx' });
  expect(state.integrations[0].actions[0].name).toBe('page');
  expect(state.presets.at(-1)).toMatchObject({ id: 'shout', name: 'xxxxx', template: '{{input}}' });
});

test('a masked case opens, whatever the patterns of its replies', async () => {
  const emulator = testEmulator();
  for (const pattern of [/\p{Lu}\w+\x41{2}/u, /(?<one>a)|(?<two>b)/, /[0-9a-z]/i])
    emulator.chat.on(pattern, 'Zanzibar');
  emulator.faults.add({ match: { path: '/v1/*', header: { 'x-api-key': FOREIGN } }, respond: { status: 503 } });
  const { body } = await callsTo(emulator).control('GET', '/case?mask=keys,prompts');

  const opened = await callsTo(testEmulator()).control('POST', '/case', body);

  expect(JSON.stringify(body)).not.toMatch(/Zanzibar|QUOKKA/);
  expect(opened).toMatchObject({ status: 200, body: { replies: 3, faults: 1 } });
});
