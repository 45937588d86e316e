import { tool } from 'ai';
import { ResponseValidationError } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { completion } from '../helpers/samples.js';
import { gatewayAt } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';
import { majors } from './majors.js';
import { partsOf } from './parts.js';

const service = emulatedService({});
const { emulator } = service;
const prompt = 'What is the weather in San Francisco?';
const called = { function: { name: 'weather', arguments: { location: 'San Francisco' } } };
const lastBody = () => JSON.parse(service.last.body ?? '');

describe.each(majors)('$name', ({ ai, specification }) => {
  const model = () => createAiSdkProvider(service.gateway(), { specification })('atlas-small') as never;
  // The tool of the AI SDK's own guide.
  const weather = tool({
    description: 'Get the weather in a location',
    inputSchema: z.object({ location: z.string().describe('The location to get the weather for') }),
    execute: async ({ location }) => ({ location, temperature: 72 }),
  });

  test('generateText calls a tool and continues with its result', async () => {
    emulator.chat.on('weather', 'It is 72 degrees.');
    emulator.chat.on('weather', { content: 'I look.', tool_calls: [called] });
    const result = await ai.generateText({
      model: model(),
      tools: { weather },
      prompt,
      stopWhen: ai.stepCountIs(5),
    });

    expect(result.text).toBe('It is 72 degrees.');
    expect(result.steps).toHaveLength(2);
    const [first] = result.steps;
    expect(first?.finishReason).toBe('tool-calls');
    expect(first?.toolCalls).toMatchObject([{ toolName: 'weather', input: { location: 'San Francisco' } }]);
    expect(first?.toolResults).toMatchObject([{ output: { location: 'San Francisco', temperature: 72 } }]);
    expect(lastBody().messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          {
            id: expect.stringMatching(/^call_/),
            type: 'function',
            function: { name: 'weather', arguments: '{"location":"San Francisco"}' },
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: first?.toolCalls[0]?.toolCallId,
        content: '{"location":"San Francisco","temperature":72}',
      },
    ]);
    expect(lastBody().tools).toMatchObject([
      { type: 'function', function: { name: 'weather', parameters: { required: ['location'] } } },
    ]);
    expect(result.warnings ?? []).toEqual([]);
  });

  test('streamText streams the input of a tool, and continues with its result', async () => {
    emulator.chat.on('weather', 'It is 72 degrees.');
    emulator.chat.on('weather', { tool_calls: [called] });
    const result = ai.streamText({ model: model(), tools: { weather }, prompt, stopWhen: ai.stepCountIs(5) });
    const types: string[] = [];
    for await (const part of result.fullStream) types.push(part.type);

    expect(types.filter((type) => type !== 'tool-input-delta')).toEqual(
      expect.arrayContaining(['tool-input-start', 'tool-input-end', 'tool-call', 'tool-result', 'text-end', 'finish']),
    );
    expect(types).toContain('tool-input-delta');
    expect(await result.text).toBe('It is 72 degrees.');
    expect((await result.steps)[0]?.toolCalls).toMatchObject([{ input: { location: 'San Francisco' } }]);
  });

  test('Output.object returns an object of its schema, from generateText and streamText', async () => {
    const recipe = { name: 'Lasagna', ingredients: ['pasta', 'cheese'] };
    emulator.chat.on('lasagna', { json: recipe });
    const schema = z.object({ name: z.string(), ingredients: z.array(z.string()) });
    // In `ai` 5, both have another name.
    const output = ai.Output.object({ schema });
    const asked = { model: model(), prompt: 'A lasagna recipe.', output, experimental_output: output };
    const generated = await ai.generateText(asked);
    const streamed = ai.streamText(asked);
    await streamed.consumeStream();

    expect(generated.output ?? Object(generated).experimental_output).toEqual(recipe);
    expect(JSON.parse(await streamed.text)).toEqual(recipe);
    expect(lastBody().response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'response', schema: { required: ['name', 'ingredients'] } },
    });
  });

  test('sends an image, a URL, a PDF and audio as parts', async () => {
    // `ai` 7 recognises files by their first bytes.
    const bytes = new Uint8Array([137, 80, 78, 71]);
    const pdf = new TextEncoder().encode('%PDF-1.7');
    const wav = new TextEncoder().encode('RIFF    WAVE');
    const content = [
      { type: 'text' as const, text: prompt },
      { type: 'image' as const, image: bytes, mediaType: 'image/png' },
      { type: 'image' as const, image: new URL('https://images.test/harbour.png') },
      { type: 'file' as const, data: pdf, mediaType: 'application/pdf', filename: 'a.pdf' },
      { type: 'file' as const, data: wav, mediaType: 'audio/wav' },
    ];
    await ai.generateText({ model: model(), messages: [{ role: 'user', content }] });

    expect(lastBody().messages[0].content).toEqual([
      { type: 'text', text: prompt },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } },
      { type: 'image_url', image_url: { url: 'https://images.test/harbour.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjc=' } },
      { type: 'input_audio', input_audio: { data: 'UklGRiAgICBXQVZF', format: 'wav' } },
    ]);
  });

  test('sends sampling parameters, the choice of a tool and providerOptions.svc, without warnings', async () => {
    emulator.chat.on('weather', { tool_calls: [called] });
    const settings = { topP: 0.3, topK: 5, presencePenalty: 1, frequencyPenalty: 1, stopSequences: ['x'], seed: 7 };
    const { warnings } = await ai.generateText({
      model: model(),
      tools: { weather },
      toolChoice: { type: 'tool', toolName: 'weather' },
      prompt,
      providerOptions: { svc: { user: 'u1' } },
      ...settings,
    });

    expect(warnings ?? []).toEqual([]);
    expect(lastBody()).toMatchObject({
      ...{ top_p: 0.3, top_k: 5, presence_penalty: 1, frequency_penalty: 1, stop: ['x'], seed: 7, user: 'u1' },
      tool_choice: { type: 'function', function: { name: 'weather' } },
    });
  });
});

const call = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] };
const eventsOf = (...chunks: object[]) =>
  new Response(chunks.map((chunk) => `data: ${JSON.stringify({ ...completion(), ...chunk })}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });

test('a streamed tool call without a name is an error part', async () => {
  const delta = { tool_calls: [{ index: 0, function: { arguments: '{}' } }] };
  const fetch = async () => eventsOf({ choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] });
  const model = createAiSdkProvider(gatewayAt({ fetch }))('atlas-small');
  const parts = await partsOf((await model.doStream(call)).stream);

  expect(parts.find(({ type }) => type === 'error')?.error).toBeInstanceOf(ResponseValidationError);
});
