import type { MessageInput } from 'context-gateway-emulator';
import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { chatParams } from '../helpers/samples.js';
import { emulatedService } from '../helpers/world.js';

const QUESTION: MessageInput[] = [
  { role: 'system', content: 'The store is kept in Lisbon.' },
  { role: 'assistant', content: 'The store opens at nine.' },
  { role: 'user', content: 'When does the store open?' },
];

describe.each(engines)('the Gateway API through $engine', ({ options }) => {
  const world = emulatedService(options);

  test('POST /v1/chat/completions returns id, object, created, model, choices and usage', async () => {
    const completion = await world.gateway().chat.completions.create({ model: 'atlas-large', messages: QUESTION });

    const { prompt_tokens = 0, completion_tokens = 0 } = completion.usage ?? {};
    const message = { role: 'assistant', content: expect.stringContaining('nine') };
    expect(completion).toEqual({
      id: expect.any(String),
      object: 'chat.completion',
      created: Date.UTC(2026, 0, 15, 10) / 1_000,
      model: 'atlas-large',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    });
  });

  test('stream: true returns the completion as server-sent events', async () => {
    const params = { model: 'atlas-small', messages: QUESTION, stream: true } as const;
    const stream = await world.gateway().chat.completions.create(params);
    const pieces: string[] = [];
    for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? '');

    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join('')).toBe((await stream.finalCompletion()).choices[0]?.message.content);
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    expect(world.last.headers.accept).toBe('text/event-stream');
  });

  test('GET /v1/presets filters by category and lists up to limit', async () => {
    const presets = await world.gateway().presets.list({ category: 'meetings', limit: 1 });

    expect(presets.map(({ id }) => id)).toEqual(['meeting-decisions']);
    expect(world.last).toMatchObject({ method: 'GET', path: '/v1/presets?category=meetings&limit=1', status: 200 });
  });

  test('POST /v1/presets/:presetId/execute runs a preset on a model', async () => {
    const params = { input: 'We ship on Friday. The tests are green.', model: 'birch-large' };

    const result = await world.gateway().presets.execute('summarize', params);

    expect(result).toMatchObject({ preset_id: 'summarize', model: 'birch-large', output: expect.any(String) });
    expect(world.last).toMatchObject({ method: 'POST', path: '/v1/presets/summarize/execute' });
    expect(JSON.parse(world.last.body ?? '')).toEqual(params);
  });

  test('POST /v1/files uploads a file part and a purpose field', async () => {
    const bytes = new Uint8Array(3_000).map((_, at) => at % 251);

    const record = await world.gateway().files.upload({ file: bytes, purpose: 'notes', filename: 'notes.bin' });

    expect(record).toMatchObject({ filename: 'notes.bin', purpose: 'notes', bytes: 3_000 });
    expect(world.emulator.files.content(String(record.id))).toEqual(bytes);
    expect(world.last.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  });

  test('GET /v1/integrations lists the connected integrations', async () => {
    const integrations = await world.gateway().integrations.list();

    expect(integrations.map(({ id }) => id)).toEqual(['team-chat', 'issue-tracker']);
  });

  test('POST /v1/integrations/:integration/execute sends the action and its own fields', async () => {
    const message = { channel: '#releases', text: 'Shipped ✓' };
    const { integrations } = world.gateway();

    const result = await integrations.execute('team-chat', { action: 'post_message', ...message });

    expect(result).toMatchObject({ action: 'post_message', result: message });
    expect(world.emulator.integrations.postedMessages()).toMatchObject([message]);
  });

  test('GET /v1/usage returns the report of a period, with tokens by model', async () => {
    const gateway = world.gateway();
    const { usage } = await gateway.chat.completions.create({ ...chatParams, model: 'birch-medium' });
    const period = { start_date: '2026-01-01', end_date: new Date('2026-01-31T23:00:00Z') };

    const report = await gateway.usage.retrieve(period);

    expect(world.last.path).toBe('/v1/usage?start_date=2026-01-01&end_date=2026-01-31');
    expect(report).toMatchObject({
      period: { start: '2026-01-01', end: '2026-01-31' },
      breakdown_by_model: { 'birch-medium': usage?.total_tokens },
    });
    expect(await gateway.usage.retrieve()).toEqual(report);
    expect(world.last.path).toBe('/v1/usage');
  });

  test('a response has the three X-RateLimit headers, which are read into rateLimit', async () => {
    const gateway = world.gateway();

    const { response } = await gateway.integrations.list().withResponse();

    expect(response.rateLimit).toEqual({
      limit: 1_000,
      remaining: 999,
      resetAt: new Date('2026-01-15T10:01:00.000Z'),
      resetAfter: 60_000,
      raw: { limit: '1000', remaining: '999', reset: String(Date.UTC(2026, 0, 15, 10, 1) / 1_000) },
    });
    expect(gateway.rateLimit).toEqual({ gateway: response.rateLimit });
  });

  test('the tests above call every endpoint of /v1 with Authorization: Bearer <API_KEY>', async () => {
    expect(await world.uncalled('/v1', 'Bearer svc_sk_***'), 'endpoints that need a test in this file').toEqual([]);
  });
});
