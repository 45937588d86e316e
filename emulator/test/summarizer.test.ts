import { describe, expect, test } from 'vitest';
import type { Emulator } from '../src/index.js';
import { callsTo, PROJECT_TALK, testEmulator } from './support.js';

const ITEMS = {
  goals: [{ messageId: 'goal', text: 'A service of its own for the invoice export.' }],
  decisions: [{ messageId: 'dec', text: 'Parquet.', reason: 'finance loads it' }],
  definitions: [{ messageId: 'def', term: 'Manifest', text: 'files and checksums' }],
  importantReferences: [{ messageId: 'file', type: 'file', value: 'jobs/export.py', label: 'the job' }],
};

/** An emulator whose summaries are written by a model that replies with `answer`. */
function summarizing(answer: () => string | Promise<string>) {
  const prompts: string[] = [];
  const emulator = testEmulator({
    summarizer: 'upstream',
    upstream: {
      url: 'http://up.test/v1',
      fetch: async (_, init) => {
        const { messages } = JSON.parse(String(init?.body));
        prompts.push(messages[1].content);
        return Response.json({ choices: [{ message: { content: await answer() }, finish_reason: 'stop' }] });
      },
    },
  });
  emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });
  return { emulator, prompts };
}

const compact = (emulator: Emulator, level = 'deep') =>
  callsTo(emulator).context('POST', '/api/context/compact', { conversationId: 'talk', level });
const summaryOf = async (emulator: Emulator) =>
  (await callsTo(emulator).context('GET', '/api/context/summary?conversationId=talk')).body.summary;

describe('a model that writes summaries', () => {
  test('receives the folded messages, and its output becomes the summary', async () => {
    const { emulator, prompts } = summarizing(() => `\`\`\`json\n${JSON.stringify(ITEMS)}\n\`\`\``);

    const { headers, body } = await compact(emulator);

    expect(headers.get('x-emulator-summarizer')).toBe('upstream');
    expect(body.result.newTokenCount).toBeLessThan(body.result.previousTokenCount);
    expect(await summaryOf(emulator)).toMatchObject({
      version: 1,
      goals: ['A service of its own for the invoice export.'],
      decisions: [{ decision: 'Parquet.', reason: 'finance loads it', timestamp: '2026-01-15T10:00:00.000Z' }],
      definitions: { Manifest: 'files and checksums' },
      importantReferences: [{ type: 'file', value: 'jobs/export.py', label: 'the job' }],
    });
    const { content } = PROJECT_TALK[0] ?? {};
    expect(JSON.parse(prompts[0] ?? '')[0]).toEqual({ messageId: 'goal', role: 'user', content });
    expect(emulator.conversations.summaryVersions('talk')[0]?.summarizer).toBe('upstream');
  });

  test('is verified: references and messages that it invented are dropped', async () => {
    const { emulator } = summarizing(() =>
      JSON.stringify({
        ...ITEMS,
        goals: [{ messageId: 'invented', text: 'World peace.' }],
        importantReferences: [
          ...ITEMS.importantReferences,
          { messageId: 'file', type: 'file', value: 'jobs/invented.py' },
          { messageId: 'goal', type: 'file', value: 'jobs/export.py' },
        ],
      }),
    );

    await compact(emulator);

    const summary = await summaryOf(emulator);
    expect(summary.goals).toEqual([]);
    expect(summary.importantReferences).toHaveLength(1);
  });

  test.each([
    { because: 'it does not return JSON', answer: () => 'Sure! Here is your summary.' },
    { because: 'it returns JSON of another shape', answer: () => '{"goals":"many"}' },
    { because: 'every item is invented', answer: () => '{"goals":[{"messageId":"x","text":"y"}]}' },
    { because: 'it fails', answer: () => Promise.reject(new Error('down')) },
  ])('is replaced by the extractive engine when $because', async ({ answer }) => {
    const { emulator } = summarizing(answer as () => string);
    const plain = testEmulator();
    plain.conversations.create({ id: 'talk', messages: PROJECT_TALK });
    await compact(plain);

    const { status, headers } = await compact(emulator);

    expect(status).toBe(200);
    expect(headers.get('x-emulator-summarizer')).toBe('extractive');
    expect(await summaryOf(emulator)).toEqual(await summaryOf(plain));
  });

  test('never sees excluded or pinned messages, and is not called again when nothing is new', async () => {
    const { emulator, prompts } = summarizing(() => JSON.stringify(ITEMS));
    const { context } = callsTo(emulator);
    await context('PATCH', '/api/context/exclude/talk/goal', { exclude: true });
    await context('POST', '/api/context/pin/talk', { messageId: 'req' });

    const first = await compact(emulator);
    const second = await compact(emulator);

    expect(prompts).toHaveLength(1);
    expect(prompts[0]).not.toMatch(/"goal"|"req"/);
    expect((await summaryOf(emulator)).goals).toEqual([]);
    expect(first.body.result.summaryUpdated).toBe(true);
    expect(second.body.result).toMatchObject({ summaryUpdated: false, tokensRemoved: 0 });
  });

  test('is ignored if the conversation changed in the meantime', async () => {
    const { emulator } = summarizing(async () => {
      await callsTo(emulator).context('PATCH', '/api/context/exclude/talk/dec', { exclude: true });
      return JSON.stringify(ITEMS);
    });

    const { headers } = await compact(emulator);

    expect(headers.get('x-emulator-summarizer')).toBe('extractive');
    expect(JSON.stringify(await summaryOf(emulator))).not.toContain('Parquet');
  });

  test('has its output cut to the budget, so that the context cannot grow', async () => {
    const goals = Array.from({ length: 300 }, (_, i) => ({ messageId: 'goal', text: `Goal ${i} with many words.` }));
    const { emulator } = summarizing(() => JSON.stringify({ ...ITEMS, goals }));

    const { body } = await compact(emulator);

    expect(body.result.newTokenCount).toBeLessThanOrEqual(body.result.previousTokenCount);
    expect((await summaryOf(emulator)).decisions).toHaveLength(1);
  });
});
