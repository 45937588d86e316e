import { describe, expect, test } from 'vitest';
import type { Emulator, EmulatorOptions } from '../src/index.js';
import { callsTo, PROJECT_TALK, standingEmulator } from './support.js';

const ITEMS = {
  goals: [{ messageId: 'goal', text: 'A service of its own for the invoice export.' }],
  decisions: [{ messageId: 'dec', text: 'Parquet.', reason: 'finance loads it' }],
  definitions: [{ messageId: 'def', term: 'Manifest', text: 'files and checksums' }],
  importantReferences: [{ messageId: 'file', type: 'file', value: 'jobs/export.py', label: 'the job' }],
};

/** An emulator whose summaries a model writes; `answer` is what the model says. */
function summarizing(answer: (prompt: string) => string | Promise<string>, options: EmulatorOptions = {}) {
  const prompts: string[] = [];
  const emulator = standingEmulator({
    summarizer: 'upstream',
    upstream: {
      url: 'http://up.test/v1',
      fetch: async (_, init) => {
        const { messages } = JSON.parse(String(init?.body));
        prompts.push(messages[1].content);
        return Response.json({
          choices: [{ message: { content: await answer(messages[1].content) }, finish_reason: 'stop' }],
        });
      },
    },
    ...options,
  });
  emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });
  return { emulator, prompts };
}

const compact = (emulator: Emulator, level = 'deep') =>
  callsTo(emulator).context('POST', '/api/context/compact', { conversationId: 'talk', level });
const summaryOf = async (emulator: Emulator) =>
  (await callsTo(emulator).context('GET', '/api/context/summary?conversationId=talk')).body.summary;

describe('a model that writes summaries', () => {
  test('is shown the folded messages, and its words are the summary', async () => {
    const { emulator, prompts } = summarizing(() => `\`\`\`json\n${JSON.stringify(ITEMS)}\n\`\`\``);

    const { headers, body } = await compact(emulator);

    expect(headers.get('x-emulator-summarizer')).toBe('upstream');
    expect(Object.keys(body)).toEqual(['success', 'result']);
    expect(body.result.newTokenCount).toBeLessThan(body.result.previousTokenCount);
    expect(await summaryOf(emulator)).toMatchObject({
      version: 1,
      goals: ['A service of its own for the invoice export.'],
      decisions: [{ decision: 'Parquet.', reason: 'finance loads it', timestamp: '2026-01-15T10:00:00.000Z' }],
      definitions: { Manifest: 'files and checksums' },
      importantReferences: [{ type: 'file', value: 'jobs/export.py', label: 'the job' }],
    });
    expect(JSON.parse(prompts[0] ?? '')[0]).toEqual({
      messageId: 'goal',
      role: 'user',
      content: PROJECT_TALK[0]?.content,
    });
    expect(emulator.conversations.summaryVersions('talk')[0]?.summarizer).toBe('upstream');
  });

  test('is not believed: references and messages that are not there are dropped', async () => {
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
    { because: 'it answers no JSON', answer: () => 'Sure! Here is your summary.' },
    { because: 'it answers another form', answer: () => '{"goals":"many"}' },
    { because: 'nothing of it is true', answer: () => '{"goals":[{"messageId":"x","text":"y"}]}' },
    { because: 'it fails', answer: () => Promise.reject(new Error('down')) },
  ])('gives way to the extractive engine when $because', async ({ answer }) => {
    const { emulator } = summarizing(answer as () => string);
    const plain = standingEmulator();
    plain.conversations.create({ id: 'talk', messages: PROJECT_TALK });
    await compact(plain);

    const { status, headers } = await compact(emulator);

    expect(status).toBe(200);
    expect(headers.get('x-emulator-summarizer')).toBe('extractive');
    expect(await summaryOf(emulator)).toEqual(await summaryOf(plain));
  });

  test('never sees what is excluded or pinned, nor asks again when nothing is new', async () => {
    const { emulator, prompts } = summarizing(() => JSON.stringify(ITEMS));
    const { context } = callsTo(emulator);
    await context('PATCH', '/api/context/exclude/talk/goal', { exclude: true });
    await context('POST', '/api/context/pin/talk', { messageId: 'req' });

    const first = await compact(emulator);
    const second = await compact(emulator);

    expect(prompts).toHaveLength(1);
    expect(prompts[0]).not.toContain('"goal"');
    expect(prompts[0]).not.toContain('"req"');
    expect((await summaryOf(emulator)).goals).toEqual([]);
    expect(first.body.result.summaryUpdated).toBe(true);
    expect(second.body.result).toMatchObject({ summaryUpdated: false, tokensRemoved: 0 });
  });

  test('whose summary is of something else by now is not used', async () => {
    const { emulator } = summarizing(async () => {
      await callsTo(emulator).context('PATCH', '/api/context/exclude/talk/dec', { exclude: true });
      return JSON.stringify(ITEMS);
    });

    const { headers } = await compact(emulator);

    expect(headers.get('x-emulator-summarizer')).toBe('extractive');
    expect(JSON.stringify(await summaryOf(emulator))).not.toContain('Parquet');
  });

  test('is cut to the budget and cannot grow the context', async () => {
    const flood = Array.from({ length: 300 }, (_, i) => ({
      messageId: 'goal',
      text: `Goal number ${i} with many words.`,
    }));
    const { emulator } = summarizing(() => JSON.stringify({ ...ITEMS, goals: flood }));

    const { body } = await compact(emulator);

    expect(body.result.newTokenCount).toBeLessThanOrEqual(body.result.previousTokenCount);
    expect((await summaryOf(emulator)).decisions).toHaveLength(1);
  });
});
