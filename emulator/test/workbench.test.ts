import { ContextClient, GatewayClient } from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
import { emulatorStore } from 'context-gateway-emulator';
import { describe, expect, test } from 'vitest';
import { diffSummaries } from '../../src/conversation/context/receipt.js';
import { readTranscript } from '../inspector/conversations/transcript.js';
import { runSync } from '../src/base/slices.js';
import type { MessageInput } from '../src/index.js';
import { missingFrom } from '../src/text/same-words.js';
import { callsTo, dataDirectory, openStream, TRANSCRIPT, testEmulator } from './support.js';

describe('the search of requests', () => {
  const logged = async () => {
    const emulator = testEmulator();
    const { ask, context, control } = callsTo(emulator);
    emulator.conversations.create({ id: 'talk', messages: [{ role: 'user', content: 'We ship on Friday.' }] });
    emulator.chat.on('harbour', 'It opens at seven.');
    await ask('When does the harbour open?');
    emulator.faults.add({ respond: { status: 503 } });
    await ask('Second', { model: 'atlas-large' });
    emulator.clock.advance(60_000);
    await ask('x', { model: 'no-model' });
    await context('GET', '/api/context?conversationId=talk');
    await context('POST', '/api/context/compact', { conversationId: 'none' });
    const find = async (query: string) => (await control('GET', `/search/requests?${query}`)).body;
    return { emulator, find };
  };

  test.each([
    { query: 'q=HARBOUR', found: [0], because: 'a word of the request, in any case' },
    { query: 'q=opens%20at%20seven', found: [0], because: 'a word of the response' },
    { query: 'q=seven+harbour', found: [0], because: 'words that are in different places' },
    { query: 'q=failed', found: [4, 2, 1], because: 'how it ended' },
    { query: 'q=404+first', found: [2], because: 'the status and the key' },
    { query: 'q=failed+harbour', found: [], because: 'all words at once' },
    { query: 'code=model_not_found', found: [2], because: 'the error code' },
    { query: 'code=service_unavailable', found: [1], because: 'the code of a fault' },
    { query: 'code=conversation_not_found', found: [4], because: 'a code that the Context API does not send' },
    { query: 'status=404', found: [4, 2], because: 'the status' },
    { query: 'status=5xx', found: [1], because: 'a class of statuses' },
    { query: 'status=ok', found: [3, 0], because: 'successes' },
    { query: 'model=atlas-large', found: [1], because: 'the model, also of a refused request' },
    { query: 'conversation=talk', found: [3], because: 'the conversation' },
    { query: 'key=first%20secret%20key', found: [2, 1, 0], because: 'the key' },
    { query: 'from=2026-01-15T10:00:30Z', found: [4, 3, 2], because: 'the time' },
    { query: 'to=2026-01-15T10:00:30Z&fault=true', found: [1], because: 'the time and a fault' },
  ])('finds $because: $query', async ({ query, found }) => {
    const { emulator, find } = await logged();
    const ids = emulator.requests.map(({ requestId }) => requestId);

    const { total, requests } = await find(query);

    expect(requests.map(({ requestId }: { requestId: string }) => ids.indexOf(requestId))).toEqual(found);
    expect(total).toBe(found.length);
  });

  test('shows where a text is, and goes on page by page', async () => {
    const { emulator, find } = await logged();

    const { requests, next, total } = await find('limit=2');
    const rest = await find(`limit=200&before=${next}`);
    const [{ match }] = (await find('q=seven')).requests;

    expect([requests.length, rest.requests.length, total, rest.next]).toEqual([2, 3, 5, undefined]);
    expect(match).toMatchObject({ in: 'response', length: 5 });
    expect(match.text.slice(match.at, match.at + match.length)).toBe('seven');
    expect((await find(`q=${emulator.apiKeys.secret.slice(-9)}`)).total).toBe(0); // a key cannot be found
    expect((await find('limit=0')).error).toMatch(/^limit is not valid/);
    expect((await find('colour=red')).error).toMatch(/colour/);
  });
});

test('a call that creates many messages is refused as a whole, and names the place', async () => {
  const emulator = testEmulator();
  const good = { role: 'user', content: 'x' };
  const create = async (messages: object[]) =>
    (await callsTo(emulator).control('POST', '/conversations', { id: 'talk', messages })).body.error;

  const twice = { ...good, id: 'a' };
  expect(await create([good, { role: 'user' }])).toBe('messages.1.content is required');
  expect(await create([twice, twice])).toMatch(/message a already exists/);
  expect(await create([{ ...good, colour: 'red' }])).toMatch(/colour/);
  expect(emulator.conversations.list()).toEqual([]);
  expect(await create([good])).toBeUndefined();
  expect(await create([good])).toBe('conversation talk already exists');
});

describe('a stream', () => {
  test('can be followed while it is sent, and says who stopped it', async () => {
    const emulator = testEmulator({ pace: { tokensPerSecond: 10 } });
    emulator.chat.on('Hello', 'One two three four five six seven.');
    const leave = new AbortController();
    const response = await openStream(emulator, 'Hello', {}, { signal: leave.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const [request] = emulator.requests;
    const path = `http://emulator.test/_emulator/requests/${request?.requestId}/events`;
    const followed = await emulator.fetch(path);
    await reader.read();
    const next = reader.read();
    emulator.clock.advance(100);
    await next;
    leave.abort();
    await reader.read().catch(() => {});

    const events = (await followed.text()).trim().split('\n\n');

    const sent = events.slice(0, -1).map((event) => JSON.parse(event.split('data: ').slice(1).join('data: ')));
    expect(events.slice(0, -1).every((event) => event.startsWith('event: sent\n'))).toBe(true);
    expect(sent.map(({ index, at }) => `${index}: ${at} ms`)).toEqual(['0: 0 ms', '1: 0 ms', '2: 100 ms']);
    expect(events.at(-1)).toMatch(/^event: end\ndata: .*"outcome":"aborted".*"stoppedBy":"client"/);
    expect(emulator.requests[0]?.response?.events?.map(({ text }) => text)).toEqual(sent.map(({ text }) => text));
    expect((await emulator.fetch(`${path}x`)).status).toBe(404);
  });
});

describe('the record of a completion', () => {
  test('has the tokens of each message, and what a conversation of the SDK put where', async () => {
    const emulator = testEmulator();
    emulator.conversations.create({ id: 'talk', messages: readTranscript(TRANSCRIPT) });
    const clients = { baseURL: 'https://emulator.test', fetch: emulator.fetch };
    await using gateway = new GatewayClient({ ...clients, apiKey: emulator.apiKeys.secret });
    await using context = new ContextClient({ ...clients, sessionToken: emulator.sessionToken });
    await context.compact('talk', { level: 'aggressive' });
    const [pinned] = emulator.conversations.get('talk')?.messages ?? [];
    await context.pin('talk', pinned?.id ?? '');
    const options = { model: 'atlas-small', instructions: 'You are helpful.', budget: 400 };
    const store = emulatorStore(emulator);
    const conversation = createConversation({ ...options, store, gateway, context, conversationId: 'talk' });

    await conversation.send('When must every export be finished?');

    const record = emulator.requests.at(-1);
    const prompt = record?.prompt;
    const parts = prompt?.messages.map(({ part }) => part) ?? [];
    expect(parts.slice(0, 2)).toEqual(['instructions', 'context']);
    expect(parts.at(-1)).toBe('input');
    expect(prompt?.messages[1]?.lines).toBe(1);
    expect(prompt?.messages.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(prompt?.tokens);
    expect(prompt?.tokens).toBe(record?.tokens?.prompt);
  });

  test('tells what was too long, and keeps the 200 largest messages', async () => {
    const emulator = testEmulator();
    const messages = Array.from({ length: 300 }, (_, i) => ({ role: 'user', content: 'word '.repeat(i) }));
    emulator.models.create({ id: 'tiny', contextWindow: 100 });
    await callsTo(emulator).ask('', { model: 'tiny', messages });

    const { prompt, code } = emulator.requests[0] ?? {};
    expect(code).toBe('context_length_exceeded');
    expect(prompt?.messages).toHaveLength(200);
    expect(prompt?.messages[0]).toMatchObject({ index: 100, text: 'word '.repeat(16) });
    const shown = prompt?.messages.reduce((sum, { tokens }) => sum + tokens, 0) ?? 0;
    expect(prompt?.others.messages).toBe(100);
    expect(shown + (prompt?.others.tokens ?? 0)).toBe(prompt?.tokens);
    expect(prompt?.messages.some(({ part }) => part !== undefined)).toBe(false);
  });
});

describe('a receipt', () => {
  const begun = (data?: string) => {
    const emulator = testEmulator({ data });
    if (emulator.conversations.get('talk') === undefined)
      emulator.conversations.create({ id: 'talk', messages: readTranscript(TRANSCRIPT) });
    return emulator;
  };

  test('is kept for every compaction, of a program too', async () => {
    const emulator = begun();
    await callsTo(emulator).context('POST', '/api/context/compact', { conversationId: 'talk', level: 'aggressive' });
    await emulator.compact('talk', 'aggressive');

    const { body: receipts } = await callsTo(emulator).control('GET', '/conversations/talk/receipts');

    expect(receipts).toHaveLength(2);
    expect(receipts[0]).toMatchObject({ number: 2, tokensRemoved: 0, summaryUpdated: false });
    expect(receipts[1]).toMatchObject({ number: 1, level: 'aggressive', version: 1, summaryUpdated: true });
    expect(receipts[1].requestId).toBe(emulator.requests[0]?.requestId);
    expect((await emulator.inspect('talk'))?.receipt).toEqual(receipts[0]);
  });

  test('is in the data file, and goes with its conversation', async () => {
    const data = dataDirectory();
    const first = begun(data);
    await first.compact('talk', 'deep');
    const kept = first.conversations.receipts('talk');
    await first.close();

    const again = begun(data);

    expect(kept).toHaveLength(1);
    expect(again.conversations.receipts('talk')).toEqual(kept);
    again.conversations.delete('talk');
    expect(again.conversations.receipts('talk')).toEqual([]);
    await again.close();
  });

  test.each([
    ['We need the export by six.', 'we needed an export by six'],
    ['Redis, Kafka and Postgres are used.', 'Kafka, Postgres and Redis are used.'],
    ['Use http for it.', 'Use https for it.'],
    ['The limit is 1.5.', 'The limit is 15.'],
    ['It carries two copies.', 'It carried two copy.'],
    ['C++ is dropped.', 'C# is dropped.'],
  ])('compares statements as the SDK does: %s / %s', (one, other) => {
    const empty = { goals: [], decisions: [], currentPlan: [], openQuestions: [], definitions: {} };
    const rest = { importantReferences: [], stylePreferences: {}, version: 1, lastUpdated: '' };
    const summary = (text: string) => ({ ...empty, ...rest, requirements: [text] });
    const isLost = diffSummaries(summary(one), summary(other)).lost.length === 1;

    expect(runSync(missingFrom([one], [other], (text) => text)).size === 1).toBe(isLost);
  });
});

describe('the cost', () => {
  test('is summed up by key, model, conversation and day', async () => {
    const emulator = testEmulator({ usage: { includedTokens: 10 } });
    const { ask, control, gateway } = callsTo(emulator);
    const other = emulator.apiKeys.create('secret', { name: 'other' });
    const messages: MessageInput[] = [
      { role: 'user', content: 'Where is the boat?' },
      { role: 'assistant', content: 'At the quay.' },
    ];
    emulator.conversations.create({ id: 'talk', messages });
    await ask('', { messages: [...messages, { role: 'user', content: 'And the crew?' }] });
    await ask('a', { model: 'atlas-large' }, { authorization: `Bearer ${other}` });
    emulator.clock.advance(86_400_000);
    await ask('b', {}, { 'x-emulator-conversation': 'named' });
    emulator.apiKeys.delete(other);
    const cost = async (by: string) => (await control('GET', `/usage?by=${by}`)).body;
    const used = emulator.requests.map(({ tokens }) => (tokens?.prompt ?? 0) + (tokens?.completion ?? 0));
    const [a = 0, b = 0, c = 0] = used;

    const byKey = await cost('key');
    const sums = async (by: string) =>
      Object.fromEntries((await cost(by)).groups.map(({ id, tokens }: { id: string; tokens: number }) => [id, tokens]));

    expect(byKey.groups).toMatchObject([
      { name: 'first secret key', requests: 2 },
      { name: 'other', requests: 1 },
    ]);
    expect(byKey.total).toMatchObject({ requests: 3, tokens: a + b + c });
    expect(byKey.total.prompt + byKey.total.completion).toBe(a + b + c);
    expect(byKey.overageCost).toBeCloseTo(((a + b + c - 10) * 2) / 1e6);
    expect(await sums('model')).toEqual({ 'atlas-small': a + c, 'atlas-large': b });
    expect(await sums('conversation')).toEqual({ talk: a, '': b, named: c });
    expect(await sums('day')).toEqual({ '2026-01-15': a + b, '2026-01-16': c });
    expect((await gateway('GET', '/v1/usage')).body.tokens_used).toBe(a + b + c);
  });
});

describe('an upload', () => {
  test('leads to its request, has a preview, and can be deleted', async () => {
    const emulator = testEmulator();
    const { control, upload } = callsTo(emulator);
    await upload(new File(['Hello, harbour.'], 'note.txt', { type: 'text/plain' }));
    const [file] = (await control('GET', '/files')).body;
    const preview = await emulator.fetch(`http://emulator.test/_emulator/files/${file.id}/content?bytes=5`);

    expect(file).toMatchObject({ filename: 'note.txt', contentType: 'text/plain' });
    expect(emulator.request(file.requestId)?.file).toBe(file.id);
    expect(await preview.text()).toBe('Hello');
    expect((await control('DELETE', `/files/${file.id}`)).body).toEqual({ ok: true });
    expect((await control('DELETE', `/files/${file.id}`)).status).toBe(404);
    expect(emulator.files.list()).toEqual([]);
  });
});

describe('a case', () => {
  const failing = async () => {
    const emulator = testEmulator({ seed: 'theirs' });
    emulator.conversations.create({ id: 'talk', messages: readTranscript(TRANSCRIPT) });
    emulator.memory.create({ type: 'fact', key: 'city', content: 'Oslo' });
    await emulator.compact('talk', 'aggressive');
    emulator.chat.on(/harbour/i, { json: { open: 'seven' } });
    emulator.faults.add({ match: { path: '/v1/usage' }, respond: { status: 500 }, times: 3 });
    emulator.faults.add({ match: { path: '/v1/chat/completions' }, respond: { status: 503, message: 'Too busy' } });
    const { ask, control } = callsTo(emulator);
    await ask('When does the harbour open?');
    await ask('When does the harbour open?');
    await (await openStream(emulator, 'A secret plan?')).text();
    const shared = async (query = '') => (await control('GET', `/case?${query}`)).body;
    return { emulator, shared };
  };
  const openedElsewhere = async (file: unknown, query = '') => {
    const emulator = testEmulator({ seed: 'mine' });
    const { status, body } = await callsTo(emulator).control('POST', `/case${query}`, file);
    return { emulator, status, body };
  };

  test('is opened elsewhere with its requests, faults, replies and data', async () => {
    const { emulator: theirs, shared } = await failing();
    const file = await shared('note=Why?');
    const { emulator, body } = await openedElsewhere(file, '?rearm=true');

    expect(body).toEqual({ requests: 3, faults: 2, replies: 1, state: true });
    expect(file).toMatchObject({ format: 'context-gateway-emulator/case', version: 1, note: 'Why?', masked: [] });
    expect(JSON.parse(JSON.stringify(emulator.state()))).toEqual(JSON.parse(JSON.stringify(theirs.state())));
    const imported = file.requests.map((request: object) => ({ ...request, isImported: true }));
    expect(JSON.parse(JSON.stringify(emulator.requests))).toEqual(imported);
    expect(emulator.faults.list().map(({ match, respond }) => [match.path, respond])).toEqual([
      ['/v1/usage', { status: 500 }],
      ['/v1/chat/completions', { status: 503, message: 'Too busy' }],
    ]);
    const [first] = emulator.requests;
    const resend = () => callsTo(emulator).control('POST', `/requests/${first?.requestId}/resend`, {});
    await resend();
    await expect.poll(() => emulator.requests.at(-1)?.status).toBe(503);
    await resend();
    await expect.poll(() => emulator.requests.at(-1)?.response?.body).toContain('{\\"open\\":\\"seven\\"}');
  });

  test('has the requests that a filter finds, as the page shows them, and so has the archive', async () => {
    const { emulator, shared } = await failing();
    const har = async (query: string) => (await callsTo(emulator).control('GET', `/har?${query}`)).body;

    expect((await shared('status=503')).requests).toHaveLength(1);
    expect((await shared('q=secret%20plan')).requests).toMatchObject([{ path: '/v1/chat/completions', status: 200 }]);
    expect((await shared('status=404')).requests).toEqual([]);
    expect((await har('status=503')).log.entries).toMatchObject([{ response: { status: 503 } }]);
    expect((await har('colour=red')).error).toMatch(/colour/);
  });

  test('hides keys on request: who opens it keeps theirs, and owns the data', async () => {
    const { emulator: theirs, shared } = await failing();
    const file = await shared('mask=keys');
    const text = JSON.stringify(file);
    for (const hidden of ['theirs', theirs.apiKeys.secret, theirs.sessionToken, theirs.state().apiKeys[0]?.hash])
      expect(text).not.toContain(`"${hidden}"`);

    const { emulator } = await openedElsewhere(file);
    const { context, gateway } = callsTo(emulator);

    expect((await context('GET', '/api/context?conversationId=talk')).status).toBe(200);
    expect((await context('GET', '/api/memory')).body.memories).toHaveLength(1);
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
    expect(emulator.state().seed).toBe('mine');
  });

  test('hides what people wrote on request, and nothing that names or counts', async () => {
    const { shared } = await failing();
    const file = await shared('mask=prompts');
    const text = JSON.stringify(file);

    for (const word of ['harbour', 'Parquet', 'secret plan', 'Oslo', 'seven', 'invoice'])
      expect(text.toLowerCase()).not.toContain(word.toLowerCase());
    const messages = [{ role: 'user', content: 'xxxx xxxx xxx xxxxxxx xxxx?' }];
    expect(JSON.parse(file.requests[0].body)).toEqual({ model: 'atlas-small', messages });
    expect(file.requests[0].response.body).toContain('"message":"xxx xxxx"');
    expect((await openedElsewhere(file)).status).toBe(200);
  });

  test('has no key of a prompt, masked or not', async () => {
    const { emulator, shared } = await failing();
    const key = emulator.apiKeys.secret;
    await callsTo(emulator).ask(`My key is ${key}.`);

    for (const mask of ['', 'mask=keys', 'mask=prompts']) {
      const { requests } = await shared(mask);
      expect(requests.at(-1).prompt.messages).toHaveLength(1);
      expect(JSON.stringify(requests)).not.toContain(key);
    }
  });

  test('masks prose wherever it stands: in fields that name something, in paths and in the idempotency key', async () => {
    const { emulator, shared } = await failing();
    const prose = 'a purple submarine';
    const { ask, gateway } = callsTo(emulator);
    await ask('', { model: prose, messages: [], status: prose, id: prose, code: prose }, { 'idempotency-key': prose });
    await gateway('GET', `/v1/files/${encodeURIComponent(prose)}?conversationId=conv_${encodeURIComponent(prose)}`);

    const { requests } = await shared('mask=prompts');

    const kept = requests.map(({ response: _, ...request }: { response: unknown }) => request);
    expect(JSON.stringify(kept)).not.toContain('purple');
    expect(JSON.stringify(kept)).toContain('/v1/files/x%00xxxxxx%00xxxxxxxxx');
  });

  test('may have only some requests, and no data', async () => {
    const { emulator, shared } = await failing();
    const [first] = emulator.requests;
    const file = await shared(`requests=${first?.requestId}&state=false`);

    expect(file.requests.map(({ requestId }: { requestId: string }) => requestId)).toEqual([first?.requestId]);
    expect(file.state).toBeUndefined();
    expect((await shared('requests=none')).requests).toEqual([]);
    const { body, emulator: other } = await openedElsewhere(file);
    expect(body.state).toBe(false);
    expect(other.conversations.list()).toEqual([]);
  });

  test.each([
    { change: { format: 'other' }, error: /format/ },
    { change: { requests: [{}] }, error: /requests\.0/ },
    { change: { state: { seed: 'x' } }, error: /sequences/ },
  ])('is refused if it is damaged: $change', async ({ change, error }) => {
    const { shared } = await failing();
    const { status, body, emulator } = await openedElsewhere({ ...(await shared()), ...change });

    expect(status).toBe(400);
    expect(body.error).toMatch(error);
    expect(emulator.requests).toEqual([]);
  });

  test('is also an HTTP archive', async () => {
    const { emulator } = await failing();
    const { body, headers } = await callsTo(emulator).control('GET', '/har?mask=prompts');

    expect(headers.get('content-disposition')).toContain('requests.har');
    expect(body.log.entries).toMatchObject([
      { response: { status: 503 }, comment: expect.stringMatching(/^fault: status 503/) },
      { response: { status: 200 } },
      { response: { status: 200 }, comment: expect.stringMatching(/events/) },
    ]);
    expect(body.log.entries[1]).not.toHaveProperty('comment');
    for (const { time, timings, request } of body.log.entries) {
      expect(timings.send + timings.wait + timings.receive).toBe(time);
      expect(request.postData).toEqual({ mimeType: 'application/json', params: [], text: expect.any(String) });
    }
    expect(JSON.stringify(body)).not.toContain('harbour');
  });
});
