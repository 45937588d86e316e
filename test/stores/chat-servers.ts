import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, Command } from './ledger.js';

/** How long a call or the end of a process may take, in ms. It only ends what hangs. */
const PATIENCE = 60_000;

/** A chat server, and the calls that it has not answered. */
export interface ChatServer {
  readonly process: ChildProcess;
  readonly waiting: Map<number, (answer: Answer | undefined) => void>;
  /** Whether it has begun: before, SIGTERM ends it as any program. */
  isUp: boolean;
  /** By what signal it is to end. */
  signal?: 'SIGKILL' | 'SIGTERM';
}

/** The processes of an app: if one is ended, another takes its place at once. */
export class ChatServers {
  /** What must not happen. */
  readonly wrong: string[] = [];
  readonly #servers: ChatServer[];
  readonly #ended: Promise<unknown>[] = [];

  constructor(
    private readonly program: string,
    private readonly args: readonly string[],
    count: number,
  ) {
    this.#servers = Array.from({ length: count }, () => this.#start());
  }

  get list(): readonly ChatServer[] {
    return this.#servers;
  }

  /** Resolves to nothing if the process was ended before it answered. */
  ask(server: ChatServer, command: Command): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.wrong.push(`${command.how} did not end`);
        resolve(undefined);
      }, PATIENCE);
      server.waiting.set(command.call, (answer) => {
        clearTimeout(timer);
        server.waiting.delete(command.call);
        resolve(answer);
      });
      this.tell(server, command);
    });
  }

  tell({ process }: ChatServer, command: Command): void {
    if (process.connected) process.send(command, () => {}); // its end answers
  }

  /** Ends a process, and starts another one. */
  replace(at: number, signal: 'SIGKILL' | 'SIGTERM'): void {
    const server = this.#servers[at] as ChatServer; // the cast is true: `at` is one of the list
    this.#servers[at] = this.#start();
    this.#end(server, signal);
  }

  /** Ends all of them, and waits for those that were replaced, too. */
  async close(): Promise<void> {
    for (const server of this.#servers) this.#end(server, 'SIGTERM');
    await Promise.all(this.#ended);
  }

  #end(server: ChatServer, signal: 'SIGKILL' | 'SIGTERM'): void {
    if (server.process.exitCode !== null || server.process.signalCode !== null) return;
    server.signal = signal;
    server.process.kill(signal);
    if (signal === 'SIGKILL') return;
    const timer = setTimeout(() => {
      this.wrong.push('a server did not end after SIGTERM');
      server.process.kill('SIGKILL');
    }, PATIENCE);
    server.process.once('exit', () => clearTimeout(timer));
  }

  #start(): ChatServer {
    const process = fork(this.program, this.args, { execArgv: ['--no-warnings'] });
    const server: ChatServer = { process, waiting: new Map(), isUp: false };
    process.once('message', () => {
      server.isUp = true;
    });
    process.on('message', (answer: Answer) => server.waiting.get(answer.call)?.(answer));
    process.once('exit', (code, signal) => {
      const isGraceful = server.signal === 'SIGTERM' && (code === 0 || (!server.isUp && signal === 'SIGTERM'));
      const isMeant = isGraceful || (server.signal === 'SIGKILL' && signal === 'SIGKILL');
      if (!isMeant) this.wrong.push(`a server ended by itself, with ${code ?? signal}`);
      for (const answer of server.waiting.values()) answer(undefined);
    });
    this.#ended.push(once(process, 'exit'));
    return server;
  }
}
