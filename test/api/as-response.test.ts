import { NotFoundError } from 'context-gateway';
import { expect, test } from 'vitest';
import { chatParams, completion, pinnedItem } from '../helpers/samples.js';
import { cannedService, contextAt, failureOf, gatewayAt, json, text } from '../helpers/service.js';

const { answers, requests } = cannedService();
const events = (chunks: object[]): string => chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
const chunk = (content: string, finish_reason: string | null = null) => ({
  id: 'c',
  choices: [{ index: 0, delta: { content }, finish_reason }],
});
const streamed = () => gatewayAt().chat.completions.create({ ...chatParams, stream: true });
const asStream = (body: string) => text(body, { headers: { 'content-type': 'text/event-stream' } });

test('is a Response with the status, the headers and the whole body', async () => {
  const body = { success: true, pinnedItem: pinnedItem(), note: 'from a newer service' };
  const headers = { 'x-request-id': 'r1', 'content-encoding': 'identity', 'x-served-by': 'node 3' };
  answers(json(body, { status: 201, headers }));

  const response = await contextAt().pin('c', 'm').asResponse();

  expect(response).toBeInstanceOf(Response);
  expect(response.status).toBe(201);
  expect(response.headers.get('x-served-by')).toBe('node 3');
  expect(response.headers.get('content-length')).toBeNull();
  expect(await response.json()).toEqual(body);
});

test('names no encoding, because its body is text', async () => {
  const headers = { 'content-encoding': 'zstd', 'content-type': 'application/json' };
  const fetch = async () => new Response(JSON.stringify(completion()), { headers }); // decoded, as in a browser

  const response = await gatewayAt({ fetch }).chat.completions.create(chatParams).asResponse();

  expect(response.headers.get('content-encoding')).toBeNull();
});

test('comes from the one request whose data is awaited, too', async () => {
  answers(json(completion()));
  const call = gatewayAt().chat.completions.create(chatParams);

  const texts = await Promise.all([call, call.asResponse().then((one) => one.json()), call.asResponse()]);

  expect(texts[0]).toEqual(texts[1]);
  expect(requests).toHaveLength(1);
});

test('says that its body is JSON, whatever the service calls it', async () => {
  answers(text(JSON.stringify(completion()), { headers: { 'content-type': 'text/plain' } }));

  const response = await gatewayAt().chat.completions.create(chatParams).asResponse();

  expect(response.headers.get('content-type')).toBe('application/json');
});

test('has no body where there is none', async () => {
  answers(text(null, { status: 204 }));

  const response = await contextAt().unpin('c', 'm').asResponse();

  expect(response.status).toBe(204);
  expect(response.body).toBeNull();
});

test('of a stream has its events, as they arrive', async () => {
  answers(asStream(`${events([chunk('Six'), chunk('.', 'stop')])}data: [DONE]\n\n`));

  const response = await streamed().asResponse();

  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(await response.text()).toBe(`${events([chunk('Six'), chunk('.', 'stop')])}data: [DONE]\n\n`);
});

test('of a stream that is cut ends with an error, which names no property of our own errors', async () => {
  answers(asStream(events([chunk('Si')])));

  const [first, error] = (await (await streamed().asResponse()).text()).trim().split('\n\n');

  expect(first).toContain('"Si"');
  expect(JSON.parse(error?.slice('data: '.length) ?? '').error).toMatchObject({
    message: 'The stream ended before the completion was complete (POST /v1/chat/completions).',
    type: 'StreamTruncatedError',
  });
});

test('rejects as the call does', async () => {
  answers(json({ error: { message: 'No such preset' } }, { status: 404 }));

  const error = await failureOf(gatewayAt().presets.execute('p', { model: 'm', input: 'x' }).asResponse());

  expect(error).toBeInstanceOf(NotFoundError);
});
