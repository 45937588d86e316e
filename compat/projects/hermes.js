/** Calls, streams and errors in Hermes's VM. The service is a function. Prints a line for each result. */
require('./react-native.js');
const { ContextGatewayError, GatewayClient } = require('context-gateway');

const text = 'Grüße, 漢字 und 👋';
const head = { id: 'c', created: 1, model: 'm' };
const message = { role: 'assistant', content: text };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const completion = {
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
};
const event = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const events = `${[...text].map((content) => event({ content })).join('')}${event({}, 'stop')}data: [DONE]\n\n`;

const json = (status, body) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

/** A `fetch` like React Native's, whose responses have no `body`, or like Expo's, here one byte at a time. */
const fetchAs = (platform) => async (_url, init) => {
  const { model, stream } = JSON.parse(init.body);
  if (model === 'none') return json(404, { error: { message: 'no such model', type: 'invalid_request_error' } });
  if (!stream) return json(200, completion);
  const response = new Response(events, { headers: { 'content-type': 'text/event-stream' } });
  if (platform !== 'Expo') return response;
  const bytes = new TextEncoder().encode(events);
  let at = 0;
  const pull = (controller) => {
    if (at === bytes.length) return controller.close();
    at += 1;
    controller.enqueue(bytes.slice(at - 1, at));
  };
  Object.defineProperty(response, 'body', { value: new ReadableStream({ pull }) });
  return response;
};

async function main(platform) {
  const options = { baseURL: 'https://gateway.test', apiKey: 'svc_pk_hermes_0123456789' };
  const gateway = new GatewayClient({ ...options, fetch: fetchAs(platform) });
  const params = { model: 'm', messages: [{ role: 'user', content: text }] };
  const { choices } = await gateway.chat.completions.create(params);
  print(`${platform}: call ${choices[0].message.content === text}`);
  let streamed = '';
  const stream = await gateway.chat.completions.create({ ...params, stream: true });
  for await (const piece of stream.textStream) streamed += piece;
  print(`${platform}: stream ${streamed === text}`);
  const refused = await gateway.chat.completions.create({ ...params, model: 'none' }).catch((error) => error);
  print(`${platform}: error ${refused instanceof ContextGatewayError && refused.name === 'NotFoundError'}`);
  const invalid = await gateway.chat.completions.create({ ...params, temperature: 3 }).catch((error) => error);
  print(`${platform}: argument ${invalid.name === 'RequestValidationError'}`);
  await gateway.close();
}

main('React Native')
  .then(() => main('Expo'))
  .catch((error) => print(`${error.stack}\n${error.cause?.stack}`));
