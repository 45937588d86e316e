/** What the types guarantee. This file is compiled and never run. A line that compiles by mistake is an error. */
import type {
  APIPromise,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionStream,
  ContextGatewayError,
  GatewayClientOptions,
  Preset,
  ResponseInfo,
  RollingSummary,
  ServerSentEvent,
} from 'context-gateway';
import { APIError, APITimeoutError, ContextClient, GatewayClient, type RateLimitError, tool } from 'context-gateway';
import { fetch as undiciFetch } from 'undici';
import { expectTypeOf } from 'vitest';
import * as z from 'zod';

declare const gateway: GatewayClient;
declare const context: ContextClient;
declare const signal: AbortSignal | undefined;
declare const maybe: boolean;
const messages = [{ role: 'user', content: 'Hello.' }] as const;
const chat = { model: 'm', messages };

/** Type-checked, and never called. */
export async function completions(): Promise<void> {
  expectTypeOf(gateway.chat.completions.create(chat)).toEqualTypeOf<APIPromise<ChatCompletion>>();
  expectTypeOf(gateway.chat.completions.create({ ...chat, stream: false })).toEqualTypeOf<APIPromise<ChatCompletion>>();
  expectTypeOf(gateway.chat.completions.create({ ...chat, stream: true })).toEqualTypeOf<
    APIPromise<ChatCompletionStream>
  >();
  expectTypeOf(gateway.chat.completions.create({ ...chat, stream: maybe })).toEqualTypeOf<
    APIPromise<ChatCompletion | ChatCompletionStream>
  >();

  const completion = await gateway.chat.completions.create(chat);
  expectTypeOf(completion.usage?.total_tokens).toEqualTypeOf<number | undefined>();
  expectTypeOf(completion.choices[0]?.message.content).toEqualTypeOf<string | null | undefined>();
  // @ts-expect-error a whole completion is not a stream
  for await (const _ of completion);

  const stream = await gateway.chat.completions.create({ ...chat, stream: true });
  // @ts-expect-error the choices of a stream are in its chunks
  stream.choices;
  for await (const chunk of stream) expectTypeOf(chunk).toEqualTypeOf<ChatCompletionChunk>();
  for await (const text of stream.textStream) expectTypeOf(text).toBeString();
  expectTypeOf(await stream.finalCompletion()).toEqualTypeOf<ChatCompletion>();
  // @ts-expect-error a streamed completion may come without its usage
  (await stream.finalCompletion()).usage.total_tokens;

  // @ts-expect-error a misspelt parameter
  gateway.chat.completions.create({ model: 'm', messages, temprature: 1 });
  // @ts-expect-error no model
  gateway.chat.completions.create({ messages });
  // @ts-expect-error content is text or parts
  gateway.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 7 }] });
  // @ts-expect-error create takes no schema
  gateway.chat.completions.create(chat, { schema: z.any() });
  // @ts-expect-error parse needs one
  gateway.chat.completions.parse(chat);
  gateway.chat.completions.create({ ...chat, messages: [{ role: 'tool', content: 'Any role may be sent.' }] });
}

/** Type-checked, and never called. */
export async function undocumented(): Promise<void> {
  expectTypeOf(gateway.presets.list()).toEqualTypeOf<APIPromise<Preset[]>>();
  const [preset] = await gateway.presets.list({ category: 'a', limit: 5 });
  expectTypeOf(preset?.name).toEqualTypeOf<string | undefined>();
  expectTypeOf(preset?.anything).toBeUnknown();

  const schema = z.object({ rows: z.array(z.number()) }).transform(({ rows }) => rows.length);
  const options = { schema };
  expectTypeOf(gateway.presets.list({}, options)).toEqualTypeOf<APIPromise<number>>();
  expectTypeOf(gateway.request({ method: 'GET', path: '/v1/x' }, options)).toEqualTypeOf<APIPromise<number>>();
  expectTypeOf(gateway.files.upload({ file: new Blob(), purpose: 'p' }, { schema })).toEqualTypeOf<
    APIPromise<number>
  >();
  expectTypeOf(gateway.integrations.list({ schema })).toEqualTypeOf<APIPromise<number>>();
  expectTypeOf(context.request({ method: 'GET', path: '/api/x' })).toEqualTypeOf<APIPromise<unknown>>();
  const byHand = {
    '~standard': { version: 1, vendor: 'v', validate: () => ({ value: new Date() }) },
  } as const;
  expectTypeOf(gateway.integrations.list({ schema: byHand })).toEqualTypeOf<APIPromise<Date>>();

  gateway.integrations.execute('chat', { action: 'post_message', channel: '#a', text: 'b', more: { deep: [1] } });
  // @ts-expect-error no action
  gateway.integrations.execute('chat', { channel: '#a' });
  // @ts-expect-error a preset takes only input and model
  gateway.presets.execute('p', { input: 'a', model: 'm', temperature: 1 });
  // @ts-expect-error a string is not a file
  gateway.files.upload({ file: 'text', purpose: 'p' });
  gateway.files.upload(
    { file: { path: '/a' }, purpose: 'p', filename: undefined },
    {
      onProgress: (sent, total) => {
        expectTypeOf(sent).toBeNumber();
        expectTypeOf(total).toEqualTypeOf<number | undefined>();
      },
    },
  );
  // @ts-expect-error only uploads report progress
  gateway.integrations.list({ onProgress: () => {} });
}

/** Type-checked, and never called. */
export async function contexts(): Promise<void> {
  // @ts-expect-error only known values can be sent
  context.compact('c', { level: 'max' });
  // @ts-expect-error an id is a string
  context.retrieve(5);

  const { category } = await context.pin('c', 'm');
  // Responses are open: known values are suggested, and any other string is allowed.
  expectTypeOf(category).toExtend<string>();
  expectTypeOf<'decision'>().toExtend<typeof category>();
  expectTypeOf<'something new'>().toExtend<typeof category>();
  const { metadata } = await context.retrieve('c');
  expectTypeOf(metadata.lastCompactionAt).toEqualTypeOf<string | null | undefined>();
  expectTypeOf((await context.memory.list())[0]?.isActive).toEqualTypeOf<boolean | undefined>();
}

/** Type-checked, and never called. */
export async function answers(): Promise<void> {
  const { data, response } = await context.summary('c').withResponse();
  expectTypeOf(data).toEqualTypeOf<RollingSummary>();
  expectTypeOf(response).toEqualTypeOf<ResponseInfo>();
  expectTypeOf(response.rateLimit?.resetAt).toEqualTypeOf<Date | undefined>();
  expectTypeOf(response.attempts[0]?.status).toEqualTypeOf<number | undefined>();
  const plain: Promise<RollingSummary> = context.summary('c');
  expectTypeOf(await Promise.all([plain, gateway.presets.list()])).toEqualTypeOf<[RollingSummary, Preset[]]>();
  expectTypeOf(context.summary('c').catch(() => null)).toEqualTypeOf<Promise<RollingSummary | null>>();
  // @ts-expect-error a call is awaited before its result is read
  context.summary('c').goals;
}

/** Type-checked, and never called. */
export async function tools(options: GatewayClientOptions): Promise<void> {
  expectTypeOf(new GatewayClient(options)).toEqualTypeOf<GatewayClient>();
  const tools = [{ type: 'function', function: { name: 'tide' } }] as const;
  expectTypeOf(gateway.chat.completions.create({ ...chat, tools })).toEqualTypeOf<APIPromise<ChatCompletion>>();
  for await (const chunk of await gateway.chat.completions.create({ ...chat, tools, stream: true }))
    expectTypeOf(chunk.choices[0]?.delta.tool_calls?.[0]?.function?.name).toEqualTypeOf<string | null | undefined>();
  // @ts-expect-error: misspelled
  gateway.chat.completions.create({ model: 'm', messages: [{ role: 'asistant', content: 'a' }] });
  // A reply can be sent back as it is.
  const reply = (await gateway.chat.completions.create(chat)).choices[0]?.message;
  if (reply) gateway.chat.completions.create({ model: 'm', messages: [...messages, reply] });
  // @ts-expect-error no such parameter; others can be passed in a variable
  gateway.chat.completions.create({ ...chat, tool: [] });

  const schema = z.object({ high: z.string() });
  const { parse } = gateway.chat.completions;
  expectTypeOf((await parse(chat, { schema })).parsed).toEqualTypeOf<{ high: string }>();
  expectTypeOf((await parse({ ...chat, tools }, { schema })).parsed).toEqualTypeOf<{ high: string } | undefined>();

  const decodeChunk = ({ data }: ServerSentEvent) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: data }] } }],
  });
  new GatewayClient({ decodeChunk }).withOptions({ decodeChunk: () => 'done' });
  // @ts-expect-error a chunk has choices
  new GatewayClient({ decodeChunk: () => ({ text: 'a' }) });
}

/** Type-checked, and never called. */
export function options(): void {
  new GatewayClient({ apiKey: async () => 'k', baseURL: undefined, timeout: undefined, pacing: false, maxRetries: 5 });
  new ContextClient({ sessionToken: 't', sessionHeader: { name: 'x', scheme: undefined } });
  context.retrieve('c', { signal, timeout: undefined, headers: { 'x-a': undefined }, idempotencyKey: 'k' });
  gateway.withOptions({ timeout: 5, apiKey: 'k' }).withOptions({ defaultHeaders: {} });

  // @ts-expect-error a misspelt option
  new GatewayClient({ apikey: 'k' });
  // @ts-expect-error the Gateway client has no session token
  new GatewayClient({ sessionToken: 't' });
  // @ts-expect-error the Context client has no API key
  new ContextClient({ apiKey: 'k' });
  // @ts-expect-error 'error' or 'report'
  new GatewayClient({ validation: 'strict' });
  new GatewayClient({ fetch: globalThis.fetch });
  new GatewayClient({ fetch: undiciFetch });
  new GatewayClient({ fetch: (url, init) => globalThis.fetch(url, init) });
  new GatewayClient({ fetch: async (url, { body }) => new Response(`${url} ${body}`) });

  // @ts-expect-error derived clients share the connections
  gateway.withOptions({ fetch: globalThis.fetch });
  // @ts-expect-error derived clients share the rate limiter
  context.withOptions({ pacing: false });
  // @ts-expect-error a misspelt option
  context.retrieve('c', { timout: 5 });
  // @ts-expect-error an option of the client
  context.retrieve('c', { baseURL: 'https://a.test' });
}

/** Type-checked, and never called. */
export function errors(error: unknown): void {
  if (APIError.is(error)) expectTypeOf(error).toEqualTypeOf<APIError>();
  if (APITimeoutError.is(error)) {
    expectTypeOf(error.kind).toEqualTypeOf<'attempt' | 'deadline' | 'idle'>();
    expectTypeOf(error.sent).toEqualTypeOf<'no' | 'maybe' | 'yes'>();
  }
  expectTypeOf<RateLimitError>().toExtend<APIError>();
  expectTypeOf<APIError>().toExtend<ContextGatewayError>();
}

/** Type-checked, and never called. */
export function schemas(): void {
  const parameters = { type: 'object', properties: { harbour: { type: 'string' } }, required: ['harbour'] } as const;
  tool({ name: 'tide', parameters: { type: 'object', properties: {} }, execute: () => 'At noon.' });
  tool({ name: 'tide', parameters });
  interface OfALibrary {
    type?: string;
  }
  const ofALibrary: OfALibrary = {};
  tool({ name: 'tide', parameters: ofALibrary });
  // @ts-expect-error not a schema
  tool({ name: 'tide', parameters: 'object' });
}
