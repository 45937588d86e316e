import { createAiSdkProvider } from 'context-gateway/ai-sdk';
import { expect, test } from 'vitest';
import { completion } from '../helpers/samples.js';
import { gatewayAt } from '../helpers/service.js';
import { partsOf } from './parts.js';

const IMAGE = 'iVBORw0KGgo';
type Prompt = Parameters<ReturnType<ReturnType<typeof createAiSdkProvider>>['doGenerate']>[0]['prompt'];

/** A model whose service gives this reply, and the messages that were sent. */
function modelOf(reply: object) {
  const sent: { role: string; content: unknown; reasoning_content?: string }[][] = [];
  const fetch = async (_url: string, { body }: { body: string }): Promise<Response> => {
    const { messages, stream } = JSON.parse(body);
    sent.push(messages);
    const choice = { index: 0, finish_reason: 'stop' };
    if (!stream)
      return Response.json({ ...completion(), choices: [{ ...choice, message: { role: 'assistant', ...reply } }] });
    const deltas = Object.entries(reply).flatMap(([name, text]) =>
      String(text)
        .split('|')
        .map((part) => ({ [name]: part })),
    );
    const chunks = [...deltas.map((delta) => ({ index: 0, delta })), { ...choice, delta: {} }];
    const events = chunks.map((one) => `data: ${JSON.stringify({ id: 'c', choices: [one] })}\n\n`);
    return new Response(`${events.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
  };
  const model = createAiSdkProvider(gatewayAt({ fetch }))('atlas-small');
  return { model, sent };
}

const asked = (text: string): Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] });
const called = (id: string, reasoning?: string): Prompt[number] => ({
  role: 'assistant',
  content: [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]),
    { type: 'tool-call', toolCallId: id, toolName: 'look', input: {} },
  ],
});
const result = (id: string, output: object): Prompt[number] => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName: 'look', output }],
});

test.each(['reasoning_content', 'reasoning'])('%s of a reply is its reasoning, whole and streamed', async (name) => {
  const { model } = modelOf({ [name]: 'The lamp| is red.', content: 'Red.' });

  const { content } = await model.doGenerate({ prompt: [asked('Which?')] });
  const parts = await partsOf((await model.doStream({ prompt: [asked('Which?')] })).stream);

  expect(content).toEqual([
    { type: 'reasoning', text: 'The lamp| is red.' },
    { type: 'text', text: 'Red.' },
  ]);
  expect(parts.filter(({ type }) => /^(?:reasoning|text)/.test(type))).toEqual([
    { type: 'reasoning-start', id: 'reasoning' },
    { type: 'reasoning-delta', id: 'reasoning', delta: 'The lamp' },
    { type: 'reasoning-delta', id: 'reasoning', delta: ' is red.' },
    { type: 'reasoning-end', id: 'reasoning' },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Red.' },
    { type: 'text-end', id: '0' },
  ]);
});

test('the reasoning before a call of a tool is sent back with its result, and not in later turns', async () => {
  const { model, sent } = modelOf({ content: 'Red.' });
  const loop = [asked('Which?'), called('t1', 'I must look.'), result('t1', { type: 'text', value: 'red' })];

  await model.doGenerate({ prompt: loop });
  await model.doGenerate({ prompt: [...loop, asked('Sure?')] });

  expect(sent.map((messages) => messages[1]?.reasoning_content)).toEqual(['I must look.', undefined]);
});

/** What is sent of the result of a tool, and the warnings. */
async function sentOf(...value: object[]) {
  const { model, sent } = modelOf({ content: 'Red.' });
  const output = result('t1', { type: 'content', value: [{ type: 'text', text: 'The tool says:' }, ...value] });
  const { warnings } = await model.doGenerate({ prompt: [asked('Which?'), called('t1'), output] });
  return { content: sent[0]?.at(-1)?.content, warnings };
}

test.each([
  { type: 'media', data: IMAGE, mediaType: 'image/png' },
  { type: 'image-data', data: IMAGE, mediaType: 'image/png' },
  { type: 'file', data: { type: 'data', data: IMAGE }, mediaType: 'image/png' },
  { type: 'image-url', url: 'https://a.test/x.png' },
])('an image that a tool returns is sent as one: $type', async (part) => {
  const image = { type: 'image_url', image_url: { url: part.url ?? `data:image/png;base64,${IMAGE}` } };

  expect(await sentOf(part)).toEqual({ content: [{ type: 'text', text: 'The tool says:' }, image], warnings: [] });
});

test('a file that a tool returns and the Gateway does not take is left out, with a warning', async () => {
  expect(await sentOf({ type: 'file-data', data: 'UEsDBA', mediaType: 'application/zip' })).toMatchObject({
    content: 'The tool says:\n[application/zip]',
    warnings: [{ type: 'unsupported', feature: 'application/zip of a tool' }],
  });
});
