import { describe, expect, test } from 'vitest';
import { callsTo, PROJECT_TALK, testEmulator } from './support.js';

const plane = (emulator = testEmulator()) => {
  const calls = callsTo(emulator);
  return { emulator, ...calls, call: calls.control };
};

describe('the control plane', () => {
  test('creates conversations for the Context API', async () => {
    const { call, context } = plane();

    const created = await call('POST', '/conversations', { id: 'talk', messages: PROJECT_TALK });
    const added = await call('POST', '/conversations/talk/messages', {
      messages: [{ role: 'user', content: 'One more.' }],
    });

    expect(created.status).toBe(201);
    expect(created.body.messages).toHaveLength(PROJECT_TALK.length);
    expect(added.body).toEqual([expect.objectContaining({ id: expect.stringMatching(/^msg_/), content: 'One more.' })]);
    expect((await call('GET', '/conversations/talk')).body.messages).toHaveLength(PROJECT_TALK.length + 1);
    const { body } = await context('GET', '/api/context?conversationId=talk');
    expect(body.context.metadata.recentMessageCount).toBe(PROJECT_TALK.length + 1);
  });

  test('advances the clock, and returns its time, models and routes', async () => {
    const { call } = plane();

    expect((await call('POST', '/clock', { advance: 60_000 })).body).toEqual({ time: '2026-01-15T10:01:00.000Z' });
    for (const path of ['', '/']) {
      const { body } = await call('GET', path);
      expect(body).toMatchObject({ name: 'context-gateway-emulator', time: '2026-01-15T10:01:00.000Z' });
      expect(body.models).toHaveLength(5);
      expect(body.routes).toContain('POST /_emulator/reset');
    }
  });

  test('adds, lists and removes faults', async () => {
    const { emulator, call, gateway } = plane();
    const rule = { match: { path: '/v1/*' }, times: 3, respond: { status: 503 } };

    const { id } = (await call('POST', '/faults', rule)).body;
    await call('POST', '/faults', { respond: { type: 'cutStream', afterEvents: 1, how: 'end' } });

    expect((await gateway('GET', '/v1/presets')).status).toBe(503);
    expect((await call('GET', '/faults')).body[0]).toMatchObject({ id, remaining: 2 });
    expect((await call('DELETE', `/faults/${id}`)).status).toBe(200);
    expect((await call('GET', '/faults')).body).toHaveLength(1);
    await call('POST', '/faults', { times: null, respond: { status: 503 } });
    expect((await call('GET', '/faults')).body[1]).toMatchObject({ remaining: null });
    await call('DELETE', '/faults');
    expect(emulator.faults.list()).toEqual([]);
  });

  test('shows requests, state, files and integration executions', async () => {
    const { emulator, call, gateway, context, upload } = plane();
    await context('POST', '/api/memory', { type: 'fact', key: 'a', content: 'b' });
    await gateway('POST', '/v1/integrations/team-chat/execute', { action: 'post_message', channel: '#a', text: 'b' });
    await upload(new File(['<script>'], 'x.html', { type: 'text/html' }));

    const [file] = (await call('GET', '/files')).body;
    const content = await emulator.fetch(`http://127.0.0.1:4010/_emulator/files/${file.id}/content`);

    expect(await content.text()).toBe('<script>');
    expect(content.headers.get('content-type')).toBe('application/octet-stream');
    expect((await call('GET', '/requests')).body.map((request: { path: string }) => request.path)).toEqual([
      '/api/memory',
      '/v1/integrations/team-chat/execute',
      '/v1/files',
    ]);
    expect((await call('GET', '/state')).body).toEqual(JSON.parse(JSON.stringify(emulator.state())));
    expect((await call('GET', '/state')).body.memory).toHaveLength(1);
    expect((await call('GET', '/integrations/executions')).body[0].fields).toEqual({ channel: '#a', text: 'b' });
  });

  test('shows the newest requests, or those after a given one', async () => {
    const { emulator, call, gateway } = plane();
    for (let i = 1; i <= 101; i += 1) await gateway('GET', `/v1/presets?limit=${i % 10}`);
    const third = emulator.requests[98]?.requestId;
    const paths = async (query: string) =>
      (await call('GET', `/requests?${query}`)).body.map(({ path }: { path: string }) => path.slice(-1));

    expect(await paths('limit=2')).toEqual(['0', '1']);
    expect(await paths(`after=${third}`)).toEqual(['0', '1']);
    expect(await paths(`after=${third}&limit=1`)).toEqual(['0']);
    expect(await paths('')).toHaveLength(100);
    expect(await paths('limit=1000')).toHaveLength(101);
    expect((await call('GET', '/requests?limit=none')).status).toBe(400);
  });
});

describe('the resources of the Gateway, over the control plane', () => {
  test('adds scripted replies, as chat.on does, and removes them', async () => {
    const { emulator, call, ask } = plane();
    const said = async (content: string) => (await ask(content)).body.choices[0].message.content;

    await call('POST', '/replies', { match: 'weather', reply: 'Sunny.' });
    const rain = {
      match: { pattern: '^the WEATHER', flags: 'i' },
      reply: { content: 'Rain.', finish_reason: 'length' },
    };
    const { body, status } = await call('POST', '/replies', rain);
    emulator.chat.on(
      () => false,
      () => 'never',
    );

    expect(status).toBe(201);
    expect(await said('The weather?')).toBe('Rain.');
    expect((await call('GET', '/replies')).body).toEqual([
      { id: expect.any(String), match: '(a function)', reply: '(a function)' },
      { id: body.id, ...rain },
      { id: expect.any(String), match: 'weather', reply: 'Sunny.' },
    ]);
    expect((await call('DELETE', `/replies/${body.id}`)).status).toBe(200);
    expect(await said('The weather?')).toBe('Sunny.');
    await call('DELETE', '/replies');
    expect(await said('The weather?')).not.toBe('Sunny.');
    expect((await call('DELETE', `/replies/${body.id}`)).status).toBe(404);
  });

  test('adds models with their context windows, until a reset', async () => {
    const { emulator, call, ask } = plane();
    const status = async () => (await ask('Hello there?', { model: 'cedar' })).status;

    expect(await status()).toBe(404);
    expect((await call('POST', '/models', { id: 'cedar', contextWindow: 100 })).status).toBe(201);

    expect(await status()).toBe(200);
    const long = await ask('word '.repeat(200), { model: 'cedar' });
    expect(long.body.error.code).toBe('context_length_exceeded');
    expect((await call('GET', '/models')).body.at(-1)).toEqual({ id: 'cedar', contextWindow: 100 });
    const copy = testEmulator();
    copy.restore(emulator.state());
    expect(copy.models.get('cedar')).toEqual({ id: 'cedar', contextWindow: 100 });
    await call('POST', '/reset');
    expect(await status()).toBe(404);
  });

  test('adds presets and integrations to the Gateway, and deletes them', async () => {
    const { emulator, call, gateway } = plane();

    await call('POST', '/presets', { id: 'shout', name: 'Shout', template: 'In capitals: {{input}}' });
    await call('POST', '/integrations', { id: 'pager', actions: [{ name: 'page', fields: [{ name: 'who' }] }] });

    const run = await gateway('POST', '/v1/presets/shout/execute', { model: 'atlas-small', input: 'x' });
    expect(run.status).toBe(200);
    const incomplete = await gateway('POST', '/v1/integrations/pager/execute', { action: 'page' });
    expect(incomplete.body.error).toMatchObject({ param: 'who', code: 'missing_parameter' });
    expect((await gateway('POST', '/v1/integrations/pager/execute', { action: 'page', who: 'me' })).status).toBe(200);
    expect((await gateway('GET', '/v1/integrations')).body.data.at(-1)).toMatchObject({ id: 'pager', name: 'pager' });
    const copy = testEmulator();
    copy.restore(emulator.state());
    expect(copy.integrations.get('pager')).toEqual(emulator.integrations.get('pager'));
    expect((await call('DELETE', '/presets/shout')).status).toBe(200);
    expect((await call('DELETE', '/integrations/pager')).status).toBe(200);
    expect(emulator.presets.get('shout') ?? emulator.integrations.get('pager')).toBeUndefined();
  });
});

const dated = { name: 'a', fields: [{ name: 'b', type: 'date' }] };
test.each([
  { path: '/conversations', body: { messages: [{ role: 'robot', content: '' }] }, says: 'role' },
  { path: '/conversations', body: { workspaceId: 'none' }, says: 'workspace' },
  { path: '/conversations/none/messages', body: [], status: 404, says: 'no such conversation' },
  { path: '/faults', body: { respond: { type: 'flood' } }, says: 'type' },
  { path: '/clock', body: { advance: -1 }, says: 'advance' },
  { path: '/clock', body: { advance: 1e15 }, says: '9999' },
  { path: '/elsewhere', body: {}, status: 404, says: '/elsewhere' },
  { path: '/replies', body: { match: { pattern: '(' }, reply: 'x' }, says: 'not a valid regular expression' },
  { path: '/models', body: { id: 'cedar', contextWindow: 0 }, says: 'contextWindow' },
  { path: '/models', body: { id: 'atlas-small', contextWindow: 10 }, says: 'already exists' },
  { path: '/presets', body: { id: 'summarize', name: 'x', template: 'y' }, says: 'already exists' },
  { path: '/integrations', body: { id: 'team-chat', actions: [] }, says: 'already exists' },
  { path: '/integrations', body: { id: 'x', actions: [dated] }, says: 'type' },
])('the control plane rejects $body at $path', async ({ path, body, status = 400, says }) => {
  const answer = await plane().call('POST', path, body);

  expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(says) } });
});
