import { bytesOf, eventOf, headOf } from '../wire/behaviours.js';
import { atEnd, type Behaviour, FaultServer, type Turn } from '../wire/fault-server.js';

/** What the service has seen of one operation. */
export interface Account {
  /** How often its work was done. */
  effects: number;
  /** The ids that the proxy gave to the requests of this operation. */
  readonly arrivals: string[];
}

/** A fault, and whether the work is done before the fault. */
export interface Fault {
  readonly works: boolean;
  readonly act: Behaviour['act'];
}

/** A service behind a proxy. It counts the effects of each operation, whose id is in the path or body of a request. */
export class Backend {
  readonly #accounts = new Map<string, Account & { readonly faults: Fault[] }>();
  readonly #server: FaultServer;

  private constructor(server: FaultServer) {
    this.#server = server;
    server.decides(() => atEnd((turn) => this.#answer(turn)));
  }

  static async start(): Promise<Backend> {
    return new Backend(await FaultServer.start());
  }

  get port(): number {
    return this.#server.port;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** A new operation. Its first requests meet these faults in order, and later ones succeed. */
  operation(...faults: Fault[]): { id: string; account: Account } {
    const id = `op-${this.#accounts.size}-`;
    const account = { effects: 0, arrivals: [], faults };
    this.#accounts.set(id, account);
    return { id, account };
  }

  #answer(turn: Turn): void | Promise<void> {
    const [id = ''] = /op-\d+-/.exec(turn.path + turn.body.toString('latin1')) ?? [];
    const account = this.#accounts.get(id);
    if (account === undefined) return void turn.socket.write(bytesOf(404, '{}'));
    account.arrivals.push(turn.headers.get('x-proxy-request') ?? '');
    const fault = account.faults.shift();
    if (fault?.works !== false) account.effects += 1;
    return (fault?.act ?? succeed)(turn);
  }
}

/** Sends a complete response. */
export function succeed(turn: Turn): void {
  const { socket } = turn;
  if (!isStreamed(turn)) return void socket.write(bytesOf(200, bodyOf(turn)));
  socket.write(EVENTS);
  for (const event of [eventOf('Hello'), eventOf('!', 'stop'), 'data: [DONE]\n\n']) socket.write(chunk(event));
  socket.write(chunk(''));
}

/** Sends the beginning of a response with a content-length, or of a stream. */
export function begin(turn: Turn): void {
  const { socket } = turn;
  const whole = bytesOf(200, bodyOf(turn));
  if (isStreamed(turn)) socket.write(EVENTS + chunk(eventOf('Hello')));
  else socket.write(whole.subarray(0, -5));
}

export const isStreamed = ({ body }: Turn): boolean => body.includes('"stream":true');
export const EVENTS = headOf(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' });
export const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

export function bodyOf({ method, path }: Turn): string {
  if (method === 'PATCH') {
    const memory = { id: 'm1', type: 'fact', key: 'home', content: 'a boat' };
    return JSON.stringify({ success: true, memory });
  }
  if (path.startsWith('/v1/presets')) return '[{"id":"p1"}]';
  if (!path.startsWith('/v1/chat')) return '{"id":"r1"}';
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return JSON.stringify({ id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices, usage });
}
