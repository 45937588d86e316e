/** The server for `suite.js`, with one path per case. */
import { createServer } from 'node:http';

let left = 0;
let trapped = 0;
let refused = 0;
let worked = 0;

const json = (response, status, body, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};
const head = { id: 'c', created: 1, model: 'm' };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const chunk = (delta, rest = {}) => {
  const choices = [{ index: 0, delta, finish_reason: null }];
  return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...rest })}\n\n`;
};
const sse = { 'content-type': 'text/event-stream' };

const answers = {
  plain(response, body) {
    const message = { role: 'assistant', content: JSON.parse(body).messages[0].content };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    const limits = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '99', 'x-ratelimit-reset': '60' };
    json(response, 200, { ...head, object: 'chat.completion', choices, usage }, limits);
  },
  /** Sends single bytes, so that every multi-byte character and every CRLF is split. */
  async cuts(response, body) {
    const text = JSON.parse(body).messages[0].content;
    const whole = [
      chunk({ role: 'assistant', content: '' }),
      ...[...text].map((content) => chunk({ content })),
      chunk({}, { choices: [], usage }),
      'data: [DONE]\n\n',
    ];
    response.writeHead(200, sse);
    for (const byte of Buffer.from(`: hello\r\n\r\n${whole.join('')}`)) {
      if (!response.write(Buffer.of(byte))) await new Promise((resolve) => response.once('drain', resolve));
      await new Promise(setImmediate);
    }
    response.end();
  },
  truncated(response) {
    response.writeHead(200, sse);
    response.end(chunk({ content: 'half' }));
  },
  abort(response) {
    response.writeHead(200, sse);
    const timer = setInterval(() => response.write(chunk({ content: 'more ' })), 10);
    response.on('close', () => {
      clearInterval(timer);
      left += 1;
    });
  },
  async upload(response, body, request) {
    const form = await new Response(body, { headers: { 'content-type': request.headers['content-type'] } }).formData();
    const bytes = new Uint8Array(await form.get('file').arrayBuffer());
    const sum = bytes.reduce((total, byte) => total + byte, 0);
    json(response, 200, { id: 'f', bytes: bytes.length, sum, purpose: form.get('purpose') });
  },
  streamed: (response, body, request) => answers.upload(response, body, request),
  path: (response, body, request) => answers.upload(response, body, request),
  retry(response) {
    refused += 1;
    if (refused % 2 === 1)
      json(response, 429, { error: { message: 'slow down', type: 'rate_limit_error', retry_after: 1 } });
    else json(response, 200, { data: [] });
  },
  once(response, _body, request) {
    if (request.url.endsWith('/warm')) return json(response, 200, {});
    worked += 1;
    request.socket.destroy();
  },
  errors(response) {
    const facts = { type: 'invalid_request_error', code: 'preset_not_found', param: 'preset' };
    json(response, 404, { error: { message: 'no such preset', ...facts } });
  },
  redirect: (response, _body, request) =>
    response.writeHead(307, { location: `http://${request.headers.host}/trap` }).end(),
  trap: (response) => {
    trapped += 1;
    json(response, 200, {});
  },
  left: (response) => json(response, 200, { left }),
  trapped: (response) => json(response, 200, { trapped }),
  /** Begins anew: a program may run the suite several times. */
  worked(response) {
    json(response, 200, { worked });
    worked = 0;
  },
};

/** Resets all counters, so that runtimes do not affect each other. */
export async function startServer() {
  left = 0;
  trapped = 0;
  refused = 0;
  const server = createServer(async (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-expose-headers', 'x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset');
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '');
      return response.writeHead(204).end();
    }
    const parts = [];
    for await (const part of request) parts.push(part);
    const name = request.url.split(/[/:?]/)[1];
    await (answers[name] ?? ((one) => json(one, 404, {})))(response, Buffer.concat(parts), request);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
