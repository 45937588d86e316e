/** Answers with bytes made ready before the first request, in a process of its own, so that the client's CPU time is the client's alone. */
import { createServer } from 'node:net';

const usage = { prompt_tokens: 12, completion_tokens: 120, total_tokens: 132 };
const head = { id: 'chatcmpl_0123456789', created: 1760000000, model: 'atlas-large' };

function completion(bytes) {
  const content = 'a plain answer of some words. '.repeat(Math.ceil(bytes / 30)).slice(0, Math.max(1, bytes - 330));
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return JSON.stringify({ ...head, object: 'chat.completion', choices, usage });
}

function json(body) {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-RateLimit-Limit: 1000000\r\nX-RateLimit-Remaining: 999999\r\nX-RateLimit-Reset: 60\r\nX-Request-Id: req_0123456789\r\n` +
      `Date: Thu, 01 Oct 2026 00:00:00 GMT\r\n\r\n${body}`,
  );
}

/** A chunk of about 293 bytes. `varied` changes more than the content in each, as services do that stamp their chunks. */
function event(at, varied) {
  const delta = { content: ` word${at % 10}` };
  const stamp = varied
    ? { system_fingerprint: `fp_${at}`, service_tier: 'default' }
    : { system_fingerprint: 'fp_44709d6fcb', service_tier: 'default' };
  const chunk = {
    ...head,
    object: 'chat.completion.chunk',
    ...stamp,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
    usage: null,
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

const FINISH = `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nX-Request-Id: req_0123456789\r\n\r\n';

function httpChunk(text) {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function stream(events, perSegment, varied) {
  const segments = [];
  for (let at = 0; at < events; at += perSegment) {
    let text = '';
    for (let one = at; one < Math.min(events, at + perSegment); one += 1) text += event(one, varied);
    segments.push(Buffer.from(httpChunk(text)));
  }
  segments[0] = Buffer.concat([Buffer.from(STREAM_HEAD), segments[0]]);
  segments.push(Buffer.from(`${httpChunk(FINISH)}0\r\n\r\n`));
  return segments;
}

const cache = new Map();
function answerFor(path) {
  let answer = cache.get(path);
  if (answer === undefined) {
    const [, scenario, ...numbers] = /^\/([a-z]+)((?:-\d+)*)/.exec(path) ?? [];
    const [first = 1000, second = 1] = numbers.join('').split('-').filter(Boolean).map(Number);
    if (scenario === 'json') answer = [json(completion(first))];
    else if (scenario === 'stream') answer = stream(first, second, false);
    else if (scenario === 'varied') answer = stream(first, second, true);
    else if (scenario === 'endless') answer = stream(first, second, false).slice(0, -1);
    else answer = [json(completion(1000))];
    cache.set(path, answer);
  }
  return answer;
}

/** `paced-EVENTS`: one event a segment, each with a turn of the event loop between. */
const PACED = /^\/paced-(\d+)/;

const server = createServer({ noDelay: true }, (socket) => {
  let received = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      if (end === -1) return;
      const text = received.latin1Slice(0, end);
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      received = received.subarray(end + 4 + length);
      respond(socket, text.slice(text.indexOf(' ') + 1, text.indexOf(' HTTP/')));
    }
  });
});

function respond(socket, path) {
  if (path.startsWith('/count')) {
    server.getConnections((_, count) => socket.write(json(JSON.stringify({ count }))));
    return;
  }
  const paced = PACED.exec(path);
  const segments = answerFor(paced === null ? path : path.replace(/^\/paced-(\d+).*/, '/stream-$1-1'));
  if (paced !== null) sendPaced(socket, segments, 0);
  else if (segments.length === 1) socket.write(segments[0]);
  else sendAll(socket, segments, 0);
}

function sendAll(socket, segments, from) {
  let at = from;
  while (at < segments.length) {
    const goesOn = socket.write(segments[at]);
    at += 1;
    if (!goesOn && at < segments.length) {
      socket.once('drain', () => sendAll(socket, segments, at));
      return;
    }
  }
}

function sendPaced(socket, segments, at) {
  if (at >= segments.length || socket.destroyed) return;
  socket.write(segments[at]);
  setImmediate(() => sendPaced(socket, segments, at + 1));
}

server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }));
process.on('disconnect', () => process.exit());
