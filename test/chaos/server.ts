/** The second process of the chaos run: a service on raw sockets that keeps a ledger. */
import { gzipSync } from 'node:zlib';
import { bytesOf, eventOf, headOf } from '../wire/behaviours.js';
import { atEnd, atHead, type Behaviour, FaultServer, type Turn } from '../wire/fault-server.js';
import { BARE, type Fault, FLOOD, faultOf, fraction, KEY, type Ledger, piecesOf, SPEED, WINDOW } from './plan.js';

const seed = Number(process.argv[2]);
const server = await FaultServer.start();
const trap = await FaultServer.start();

const commits: Record<string, number> = {};
const sends: Record<string, number> = {};
const slack: number[] = [];
/** Connections whose response never starts or never ends. */
const hanging = new Set<Turn['socket']>();
const hints = new Map<string, number>();
let requests = 0;
let mixedUp = 0;
const bare = { requests: 0, rejected: 0 };

server.decides((turn) => {
  server.turns.length = 0; // the ledger keeps what is needed
  requests += 1;
  const operation = turn.headers.get('x-operation') ?? '';
  const attempt = (sends[operation] ?? 0) + 1;
  sends[operation] = attempt;
  const due = hints.get(operation);
  if (due !== undefined) slack.push(performance.now() - due);
  hints.delete(operation);
  if (operation.startsWith('outage')) return reply(503, '{"error":{"message":"out of order","type":"outage"}}');
  if (operation.startsWith('window')) return inWindow();
  if (operation.startsWith('bare')) return bareInWindow();
  if (operation.startsWith('flood')) return reply(200, floodOfMistakes(), JSON_TYPE);
  return behaviourOf(faultOf(seed, operation, attempt), operation, attempt, turn.path);
});

function behaviourOf(fault: Fault, operation: string, attempt: number, path: string): Behaviour {
  const streamed = operation.startsWith('stream');
  const hint = 1 + Math.floor(fraction(seed, `${operation}#${attempt}#hint`) * 3);
  const error = (more: object = {}) =>
    JSON.stringify({ error: { message: `refused, not with ${KEY}`, type: 'refused', ...more } });
  const hinted = () => hints.set(operation, performance.now() + (hint * 1_000) / SPEED);
  switch (fault) {
    case '429 with a hint in its body':
      return reply(429, error({ retry_after: hint }), {}, hinted);
    case '429 with a hint in its headers':
      return reply(429, error(), { 'retry-after': hint }, hinted);
    case '429 without a hint':
      return reply(429, error());
    case '503':
    case '408':
    case '409':
    case '425':
      return reply(Number(fault), error());
    case "a proxy's 503":
      // As Varnish responds if its backend did the work and then broke the connection.
      return reply(503, '<h1>503</h1>', { 'content-type': 'text/html', 'retry-after': 0 }, () => commit(operation));
    case '500':
    case '502':
    case '504':
      // The work may be done, and here it is.
      return reply(Number(fault), error(), {}, () => commit(operation));
    case 'reset before it is read':
      return atHead(({ socket }) => void socket.resetAndDestroy());
    case 'reset after it is done':
      return done(operation, ({ socket }) => void socket.resetAndDestroy());
    case 'closed after it is done':
      return done(operation, ({ socket }) => void socket.end());
    case 'cut in the headers':
      return done(operation, ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-ty'));
    case 'cut in a chunked body':
      return done(operation, ({ socket }) => void socket.end(cut(operation, { 'transfer-encoding': 'chunked' })));
    case 'cut before its length':
      return done(operation, ({ socket }) => void socket.end(cut(operation, { 'content-length': 5_000 })));
    case 'cut with its connection':
      return done(operation, ({ socket }) => void socket.end(cut(operation, { connection: 'close' })));
    case 'silent before the headers':
      return done(operation, ({ socket }) => void hanging.add(socket));
    case 'silent in the body':
      return done(operation, ({ socket }) => {
        hanging.add(socket);
        socket.write(cut(operation, { 'content-length': 5_000 }));
      });
    case 'gzip':
      return done(operation, ({ socket }) => void socket.write(compressed(operation)));
    case 'damaged gzip':
      return done(operation, ({ socket }) => void socket.write(compressed(operation, true)));
    case 'garbage':
      return done(operation, ({ socket }) => void socket.end('\u0000\u0001 SSH-2.0\r\n\r\n'));
    case 'oversized':
      return done(operation, ({ socket }) => void socket.write(headOf(200, OVERSIZED)));
    case 'HTML':
      return reply(200, '<html>a page</html>', { 'content-type': 'text/html' }, () => commit(operation));
    case 'redirect':
      return reply(307, '', { location: `${trap.url}/v1/things` });
    case 'an error that quotes the request':
      return quoting(400, 'application/json', (text) => JSON.stringify({ error: { message: text, type: text } }));
    case 'a page that quotes the request':
      return quoting(422, 'text/html', (text) => `<h1>Rejected</h1><pre>${text.replaceAll('"', '&quot;')}</pre>`);
    case 'truncated stream':
      if (streamed) return done(operation, ({ socket }) => void socket.end(cut(operation, { connection: 'close' })));
      break;
    case 'error in the stream':
      if (streamed) {
        const failed = `event: error\ndata: ${error({ type: 'server_error' })}\n\n`;
        return done(operation, ({ socket }) => void socket.end(cut(operation, { connection: 'close' }) + failed));
      }
      break;
    case 'wrong shape':
      if (path.endsWith('/completions') && !streamed) return reply(200, '{"choices":5}', {}, () => commit(operation));
      break;
    case 'none':
      break;
  }
  return done(operation, ({ socket }) => void socket.write(good(operation)));
}

const JSON_TYPE = { 'content-type': 'application/json' };
const OVERSIZED = { ...JSON_TYPE, 'content-length': 64 * 1024 ** 2 };
const SSE_TYPE = { 'content-type': 'text/event-stream' };

function commit(operation: string): void {
  commits[operation] = (commits[operation] ?? 0) + 1;
}

/** Does the work, and then acts on the connection. */
function done(operation: string, act: (turn: Turn) => void): Behaviour {
  return atEnd((turn) => {
    const payload = turn.body.toString('latin1');
    if (payload !== '' && !payload.includes(operation)) mixedUp += 1;
    commit(operation);
    act(turn);
  });
}

/** Quotes a JSON body. Those of uploads are not texts of a conversation. */
function quoting(status: number, type: string, write: (text: string) => string): Behaviour {
  return atEnd(({ headers, body, socket }) => {
    const text = headers.get('content-type') === 'application/json' ? body.toString() : '';
    socket.write(bytesOf(status, write(text), { 'content-type': type }));
  });
}

function reply(status: number, body: string, headers = {}, before = () => {}): Behaviour {
  return atEnd(({ socket }) => {
    before();
    socket.write(bytesOf(status, body, headers));
  });
}

function answerTo(operation: string): string {
  const pieces = piecesOf(operation);
  if (operation.startsWith('stream')) return `${eventsOf(pieces)}${eventOf('', 'stop')}data: [DONE]\n\n`;
  return completionOf(operation, [
    { index: 0, message: { role: 'assistant', content: pieces.join('') }, finish_reason: 'stop' },
  ]);
}

function completionOf(id: string, choices: object[]): string {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  return JSON.stringify({ id, object: 'chat.completion', created: 1, model: 'm', choices, usage });
}

const eventsOf = (pieces: readonly string[]): string => pieces.map((piece) => eventOf(piece)).join('');

function typeOf(operation: string): { 'content-type': string } {
  return operation.startsWith('stream') ? SSE_TYPE : JSON_TYPE;
}

function good(operation: string): Buffer {
  return bytesOf(200, answerTo(operation), typeOf(operation));
}

function compressed(operation: string, damaged = false): Buffer {
  const bytes = gzipSync(answerTo(operation));
  if (damaged) bytes.fill(0xff, 30, 60);
  return bytesOf(200, bytes, { ...typeOf(operation), 'content-encoding': 'gzip' });
}

/** The headers and the first part of the body. */
function cut(operation: string, framing: Record<string, string | number>): string {
  const isStream = operation.startsWith('stream');
  const body = isStream ? eventsOf(piecesOf(operation).slice(0, 5)) : answerTo(operation).slice(0, 60);
  const framed = 'transfer-encoding' in framing ? `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n` : body;
  return headOf(200, { ...typeOf(operation), ...framing }) + framed;
}

/** Counts requests in consecutive windows. */
class Windows {
  used = 0;
  fullest = 0;
  endsAt = 0;

  /** `length` in real ms. */
  constructor(
    readonly limit: number,
    private readonly length: number,
  ) {}

  /** Whether one more request is within the limit. */
  admits(now: number): boolean {
    if (now >= this.endsAt) {
      this.used = 0;
      this.endsAt = now + this.length;
    }
    this.used += 1;
    this.fullest = Math.max(this.fullest, this.used);
    return this.used <= this.limit;
  }
}

/** A completion in which every field of every choice has a wrong type. */
function floodOfMistakes(): string {
  const choice = { index: 'first', message: { role: 1, content: 2 }, finish_reason: 3 };
  return completionOf('c', Array(FLOOD).fill(choice));
}

/** Responds with 429 above the limit, like nginx: without a header or a body that helps. */
function bareInWindow(): Behaviour {
  bare.requests += 1;
  if (bareWindows.admits(performance.now())) return reply(200, '{}');
  bare.rejected += 1;
  return reply(429, '<h1>429 Too Many Requests</h1>', { 'content-type': 'text/html' });
}

/** Responds with 429 above the limit, and always with rate-limit headers. */
function inWindow(): Behaviour {
  const now = performance.now();
  const isWithin = windows.admits(now);
  const reset = Math.ceil(((windows.endsAt - now) * SPEED) / 1_000);
  const headers = {
    'x-ratelimit-limit': WINDOW.limit,
    'x-ratelimit-remaining': Math.max(0, WINDOW.limit - windows.used),
    'x-ratelimit-reset': reset,
  };
  if (isWithin) return reply(200, '{}', headers);
  return reply(429, JSON.stringify({ error: { message: 'slow down', retry_after: reset } }), headers);
}

const windows = new Windows(WINDOW.limit, (WINDOW.seconds * 1_000) / SPEED);
const bareWindows = new Windows(BARE.limit, (BARE.seconds * 1_000) / BARE.speed);

process.on('message', (question: string) => {
  const held = [...hanging].filter((socket) => server.open.has(socket)).length;
  if (question === 'open') process.send?.({ open: server.open.size });
  if (question === 'hanging') process.send?.({ open: held });
  if (question === 'ledger') {
    const ledger: Ledger = {
      requests,
      connections: server.connections,
      commits,
      sends,
      slack,
      trapped: trap.connections,
      fullestWindow: windows.fullest,
      bare,
      mixedUp,
    };
    process.send?.({ ledger });
  }
});
process.on('disconnect', () => process.exit());
process.send?.({ port: server.port });
