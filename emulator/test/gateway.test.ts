import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { callsTo, testEmulator } from './support.js';

describe('a completion', () => {
  test('answers with the sentence of the request that matches the question', async () => {
    const { ask } = callsTo(testEmulator());

    const facts = 'Lunch is at noon. We decided to use PostgreSQL for the database. The office is in Graz.';
    const question = 'What did we decide about the database?';

    const messages = [
      { role: 'system', content: facts },
      { role: 'user', content: question },
    ];
    const { status, body } = await ask('', { model: 'birch-large', messages });

    const answer = 'We decided to use PostgreSQL for the database.';
    const prompt_tokens = countTokens(facts) + countTokens(question) + 2 * 4;
    const completion_tokens = countTokens(answer);

    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl_/),
      object: 'chat.completion',
      created: 1768471200,
      model: 'birch-large',
      choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    });
  });

  test('ends at max_tokens with finish_reason length, or at the maxTokens option', async () => {
    const { ask } = callsTo(testEmulator({ maxTokens: 2 }));

    const { body } = await ask('How tall is the tower?', { max_tokens: 3 });

    expect(body.choices[0]).toMatchObject({ message: { content: 'The context does' }, finish_reason: 'length' });
    expect(body.usage.completion_tokens).toBe(3);
    expect((await ask('How tall is the tower?')).body.choices[0].message.content).toBe('The context');
  });

  test('counts special tokens as plain text', async () => {
    const question = 'The mark <|endoftext|> ends what <|im_start|> begins. Which mark ends it?';

    const { status, body } = await callsTo(testEmulator()).ask(question);

    expect(status).toBe(200);
    expect(body.usage.prompt_tokens).toBeGreaterThan(15);
    expect(body.choices[0].message.content).toContain('<|endoftext|>');
  });

  test('above the context window is rejected with 400 and param messages', async () => {
    const { ask } = callsTo(testEmulator());
    const prompt = 'one two three four five six seven eight nine ten '.repeat(13_000);

    const error = { code: 'context_length_exceeded', param: 'messages' };
    expect((await ask(prompt, { model: 'atlas-large' })).status).toBe(200);
    expect(await ask(prompt, { model: 'birch-large' })).toMatchObject({ status: 400, body: { error } });
  });

  test('does not take a scripted reply with an unknown field, such as a misspelt one', () => {
    const misspelt = { tool_call: [] } as object;

    expect(() => testEmulator().chat.on('x', misspelt)).toThrow('tool_call is not a documented field');
  });

  test('can be scripted: the reply added last wins until it is removed', async () => {
    const emulator = testEmulator();
    const answer = async (content: string) => (await callsTo(emulator).ask(content)).body.choices[0];
    emulator.chat.on('tower', 'As tall as a house.');
    const finish_reason = 'length';
    emulator.chat.on(/^count/, ({ messages, model }) => ({
      content: `${messages.length} for ${model}`,
      finish_reason,
    }));
    const removeReply = emulator.chat.on(({ model }) => model === 'atlas-small', 'Everything is small.');

    expect((await answer('How tall is the tower?')).message.content).toBe('Everything is small.');
    removeReply();
    expect((await answer('How tall is the tower?')).message.content).toBe('As tall as a house.');
    expect(await answer('count them')).toMatchObject({ message: { content: '1 for atlas-small' }, finish_reason });
  });

  test('is a 500 in the format of the Gateway when a reply function throws, and the log holds the error', async () => {
    const emulator = testEmulator();
    const { ask } = callsTo(emulator);
    emulator.chat.on('x', () => {
      throw new Error('no such reply');
    });
    emulator.chat.on('y', () => Promise.reject({ reason: 'none is known' }));

    const { status, body } = await ask('x');

    expect(status).toBe(500);
    const error = { message: 'Internal server error', type: 'api_error', param: '', code: 'internal_error' };
    expect(body).toEqual({ error });
    expect(emulator.requests.at(-1)?.error).toContain('no such reply');
    expect((await ask('y')).status).toBe(500);
    expect(emulator.requests.at(-1)?.error).toContain('none is known');
  });
});

describe('usage', () => {
  test('adds up completions by model and by day', async () => {
    const emulator = testEmulator({ now: '2026-01-31T23:00:00Z' });
    const { ask, gateway } = callsTo(emulator);
    const complete = async (model: string) => (await ask('How tall is the tower?', { model })).body.usage.total_tokens;
    const first = await complete('atlas-small');
    emulator.clock.advance(2 * 3600_000);
    const second = await complete('atlas-small');
    const third = await complete('birch-small');

    const report = async (query: string) => (await gateway('GET', `/v1/usage${query}`)).body;

    expect(await report('')).toEqual({
      period: { start: '2026-02-01', end: '2026-02-28' },
      tokens_used: second + third,
      tokens_included: 10_000_000,
      tokens_remaining: 10_000_000 - second - third,
      overage_tokens: 0,
      estimated_overage_cost: 0,
      breakdown_by_model: { 'atlas-small': second, 'birch-small': third },
    });
    expect((await report('?start_date=2026-01-31&end_date=2026-01-31')).tokens_used).toBe(first);
    const both = { 'atlas-small': first + second, 'birch-small': third };
    expect((await report('?start_date=2026-01-01&end_date=2026-02-01')).breakdown_by_model).toEqual(both);
    expect((await report('?start_date=2026-01-01&end_date=2026-01-30')).tokens_used).toBe(0);
  });

  test('above the included tokens costs extra', async () => {
    const { ask, gateway } = callsTo(testEmulator({ usage: { includedTokens: 10, overagePricePerMillion: 2.5 } }));
    const used = (await ask('How tall is the tower?')).body.usage.total_tokens;

    const { body } = await gateway('GET', '/v1/usage');

    expect(body).toMatchObject({ tokens_remaining: 0, overage_tokens: used - 10 });
    expect(body.estimated_overage_cost).toBeCloseTo(((used - 10) * 2.5) / 1_000_000, 9);
  });

  test.each(['start_date=2026-02-30', 'end_date=tomorrow', 'start_date=2026-02-02&end_date=2026-02-01'])(
    'rejects %s',
    async (query) => {
      const { status, body } = await callsTo(testEmulator()).gateway('GET', `/v1/usage?${query}`);

      expect(status).toBe(400);
      expect(body.error.param).toBe(query.split('=')[0]);
    },
  );
});

describe('presets', () => {
  test('are listed by category, up to a limit', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);
    for (let i = 0; i < 60; i += 1) emulator.presets.create({ name: `p${i}`, template: '{{input}}', category: 'many' });

    expect((await gateway('GET', '/v1/presets')).body.data).toHaveLength(50);
    for (const listForm of ['items', 'named'] as const) {
      const { body } = await callsTo(testEmulator({ listForm })).gateway('GET', '/v1/presets?limit=2');
      expect(body).toEqual({ [listForm === 'named' ? 'presets' : 'items']: [expect.anything(), expect.anything()] });
    }
    expect((await gateway('GET', '/v1/presets?limit=7')).body.data).toHaveLength(7);
    expect((await gateway('GET', '/v1/presets?category=writing')).body).toEqual({
      object: 'list',
      data: [expect.objectContaining({ id: 'summarize', category: 'writing' })],
    });
  });

  test('fill their template, run it and are billed', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);
    emulator.presets.create({ id: 'colours', name: 'Colours', template: '{{input}} Which colour has the case?' });

    const input = 'The case has a yellow colour. $& {{input}} is text.';
    const { body } = await gateway('POST', '/v1/presets/colours/execute', { input, model: 'birch-small' });

    const preset = { object: 'preset.execution', preset_id: 'colours', model: 'birch-small', finish_reason: 'stop' };
    expect(body).toMatchObject({ ...preset, output: input });
    const used = (await gateway('GET', '/v1/usage')).body.breakdown_by_model;
    expect(used).toEqual({ 'birch-small': body.usage.total_tokens });
  });
});

describe('files', () => {
  test('keep their bytes', async () => {
    const emulator = testEmulator();
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 256);
    const file = new File([bytes], 'Übersicht "1".bin', { type: 'application/x-test' });

    const { body: record } = await callsTo(emulator).upload(file);

    expect(record).toEqual({
      id: expect.stringMatching(/^file_/),
      object: 'file',
      bytes: 1000,
      filename: 'Übersicht "1".bin',
      purpose: 'x',
      created_at: 1768471200,
    });
    expect(emulator.files.content(record.id)).toEqual(bytes);
    expect(emulator.files.contentType(record.id)).toBe('application/x-test');
  });

  test.each([
    ['file', (form: FormData) => form.set('purpose', 'x')],
    ['file', (form: FormData) => form.set('file', 'just text')],
    ['purpose', (form: FormData) => form.set('file', new File(['x'], 'x'))],
  ])('are rejected without a valid %s', async (param, fill) => {
    const form = new FormData();
    fill(form);

    const { status, body } = await callsTo(testEmulator()).gateway('POST', '/v1/files', form);

    expect(status).toBe(400);
    expect(body.error.param).toBe(param);
  });

  test('are stored at the size limit, and rejected with 413 above it', async () => {
    const emulator = testEmulator({ maxFileSize: 100_000 });
    const sized = (size: number) => callsTo(emulator).upload(new File([new Uint8Array(size)], 'x'));

    expect((await sized(100_000)).status).toBe(200);
    for (const size of [100_001, 500_000]) {
      const answer = await sized(size);

      expect(answer).toMatchObject({ status: 413, body: { error: { param: 'file', code: 'file_too_large' } } });
    }
    expect(emulator.files.list()).toHaveLength(1);
  });

  test('are rejected when the body is not multipart or is malformed', async () => {
    const emulator = testEmulator();
    const authorization = `Bearer ${emulator.apiKeys.secret}`;
    for (const [type, body] of [
      ['application/json', '{}'],
      ['multipart/form-data; boundary=x', '--x\r\nnonsense'],
      ['multipart/form-data', ''],
    ] as const) {
      const headers = { authorization, 'content-type': type };
      const answer = await emulator.fetch('http://emulator.test/v1/files', { method: 'POST', headers, body });
      expect(answer.status, type).toBe(400);
    }
  });
});

describe('integrations', () => {
  test('declare their actions', async () => {
    const { body } = await callsTo(testEmulator()).gateway('GET', '/v1/integrations');

    expect(body.data.map((integration: { id: string }) => integration.id)).toEqual(['team-chat', 'issue-tracker']);
    const fields = ['channel', 'text'].map((name) => ({ name, type: 'string', required: true }));
    const description = 'Post a message to a channel.';
    expect(body.data[0].actions[0]).toEqual({ name: 'post_message', description, fields });
  });

  test('keep the messages they post', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);

    const said = { channel: '#billing', text: 'Export done' };
    const { body } = await gateway('POST', '/v1/integrations/team-chat/execute', { action: 'post_message', ...said });

    const integration = 'team-chat';
    const posted = { id: body.id, ...said };
    expect(body).toMatchObject({ object: 'integration.execution', integration, action: 'post_message' });
    expect(body).toMatchObject({ status: 'completed', result: posted });
    const postedAt = '2026-01-15T10:00:00.000Z';
    expect(emulator.integrations.postedMessages()).toEqual([{ ...posted, integration, postedAt }]);
  });

  test.each([
    { path: 'pigeon', body: { action: 'post_message' }, status: 404, param: 'integration' },
    { body: {}, param: 'action' },
    { body: { action: 'sing' }, param: 'action' },
    { body: { action: 'post_message', text: 'x' }, param: 'channel' },
    { body: { action: 'post_message', channel: 7, text: 'x' }, param: 'channel' },
    { path: 'issue-tracker', body: { action: 'create_issue', title: 'x', priority: 'high' }, param: 'priority' },
  ])('name $param in the refusal of $body', async ({ path = 'team-chat', body, status = 400, param }) => {
    const emulator = testEmulator();

    const answer = await callsTo(emulator).gateway('POST', `/v1/integrations/${path}/execute`, body);

    expect(answer).toMatchObject({ status, body: { error: { type: 'invalid_request_error', param } } });
    expect(emulator.integrations.executions()).toEqual([]);
  });
});
