/** The server. It writes prepared bytes from its own process, so that its CPU time does not count as the client's. */
import { createServer } from 'node:net';
import { END, json, segments } from './answers.js';

const WINDOW = 60;
const LIMIT = 5_000_000;

const cache = new Map();
let requests = 0;
let clock = { second: 0, date: '', left: WINDOW, usedBefore: 0 };

const server = createServer({ noDelay: true }, (socket) => {
  let received = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received.latin1Slice(0, end))?.[1] ?? 0);
      const next = end + 4 + length;
      if (received.length < next) return;
      // Finds `model` in JSON, and in the form encoding of stripe.
      respond(socket, /\bmodel\b["=:]+([\w-]+)/.exec(received.latin1Slice(end + 4, next))?.[1] ?? 'json-1000');
      received = received.subarray(next);
    }
  });
});

function respond(socket, model) {
  const [scenario, first = 1000, second = 1] = model.split('-').map((part, at) => (at === 0 ? part : Number(part)));
  if (scenario === 'json') {
    const body = ready(model, () => json(first));
    send(socket, [head(`Content-Type: application/json\r\nContent-Length: ${body.length}`), body]);
    return;
  }
  const stream = head('Content-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked');
  if (scenario === 'first') {
    const [event] = ready(model, () => segments(1, 1, false));
    send(socket, [stream, event]);
    setTimeout(() => socket.write(END), 1);
  } else {
    sendAll(socket, [stream, ...ready(model, () => segments(first, second, scenario === 'varied')), END], 0);
  }
}

function ready(model, make) {
  if (!cache.has(model)) cache.set(model, make());
  return cache.get(model);
}

/** Headers as a real service sends them, with the date, a request id and the rate limit. */
function head(framing) {
  requests += 1;
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== clock.second) {
    const left = WINDOW - (second % WINDOW);
    const usedBefore = left > clock.left || clock.second === 0 ? requests : clock.usedBefore;
    clock = { second, date: new Date(now).toUTCString(), left, usedBefore };
  }
  const remaining = LIMIT - (requests - clock.usedBefore);
  return (
    `HTTP/1.1 200 OK\r\nDate: ${clock.date}\r\n${framing}\r\nConnection: keep-alive\r\nCache-Control: no-cache\r\n` +
    `X-RateLimit-Limit: ${LIMIT}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${clock.left}\r\n` +
    `X-Request-Id: req_${(requests + 0x10000000000).toString(16)}\r\nVary: Accept-Encoding\r\n` +
    `Strict-Transport-Security: max-age=31536000\r\nX-Content-Type-Options: nosniff\r\nServer: bench\r\n\r\n`
  );
}

/** Writes all parts in one TCP segment. */
function send(socket, parts) {
  socket.cork();
  for (const part of parts) socket.write(part);
  socket.uncork();
}

function sendAll(socket, parts, from) {
  if (from === 0) send(socket, parts.slice(0, 2));
  let at = Math.max(from, 2);
  while (at < parts.length && !socket.destroyed) {
    const goesOn = socket.write(parts[at]);
    at += 1;
    if (!goesOn && at < parts.length) {
      socket.once('drain', () => sendAll(socket, parts, at));
      return;
    }
  }
}

process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', 2048, () => process.send({ port: server.address().port }));
