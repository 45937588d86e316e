import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatServer, ChatServers } from './chat-servers.js';
import type { Call, Command } from './ledger.js';
import { DIRECTED, type ModelServer } from './model-server.js';

/** A conversation, and what pages know of it. */
interface Talk {
  id: string;
  questions: { id: string; text: string }[];
  /** What some page shows as the newest message. */
  newest: string | null;
  calls: number;
}

/** Conversations at a time, and calls in each: then another one begins. */
const TALKS = 3;
const CALLS = 60;

/** Pages that do at random what people do, several in one conversation. */
export class Pages {
  readonly calls: Call[] = [];
  /** How often each outcome was seen. */
  readonly seen = new Map<string, number>();
  readonly #talks: Talk[] = [];
  #texts = 0;
  #opened = 0;

  constructor(
    private readonly servers: ChatServers,
    private readonly model: ModelServer,
    private readonly random: () => number,
  ) {
    for (let at = 0; at < TALKS; at += 1) this.#talks.push(this.#open());
  }

  /** One page, until some time in milliseconds since 1970. */
  async play(until: number): Promise<void> {
    while (Date.now() < until) {
      const at = Math.floor(this.random() * TALKS);
      const talk = this.#talks[at] ?? this.#open();
      if (talk.calls > CALLS) this.#talks[at] = this.#open();
      await this.#act(talk, this.random() < 0.2 ? { newest: talk.newest } : {});
      await sleep(this.random() * 20);
    }
  }

  /** What only happens by chance otherwise: a question whose earlier message is edited meanwhile, and the reverse. */
  async direct(): Promise<void> {
    const [one, two] = [this.#open(), this.#open()];
    const [here, there] = this.servers.list; // within a process, turns keep their order
    const say = (talk: Talk, server?: ChatServer, how = ''): Promise<Call> =>
      this.#send(talk, {}, server, `${DIRECTED.sure} ${how}`);
    const editFirst = (talk: Talk, server?: ChatServer, how = ''): Promise<Call> =>
      this.#edit(talk, talk.questions[0]?.id ?? '', {}, server, `${DIRECTED.sure} ${how}`);
    await Promise.all([say(one, here), say(two, here)]);
    const slow = [say(one, here, DIRECTED.slow), editFirst(two, here, DIRECTED.slow)];
    const asked = (): number => this.model.calls.filter(({ question }) => question.includes(DIRECTED.slow)).length;
    for (let tries = 0; asked() < 2 && tries < 10_000; tries += 1) await sleep(5);
    await Promise.all([editFirst(one, there), say(two, there)]);
    this.model.release();
    await Promise.all(slow);
    await Promise.all([say(one), say(two)]);
  }

  #act(talk: Talk, page: Partial<Command>): Promise<unknown> {
    const { random } = this;
    const known = talk.questions[Math.floor(random() * talk.questions.length)];
    const chance = random() * 20;
    if (chance < 6 || known === undefined) return this.#send(talk, page);
    if (chance < 8) return this.#stop(talk);
    if (chance < 11) return this.#twice(talk);
    if (chance < 13) return this.#ask(talk, { how: 'regenerate', ...page });
    if (chance < 16) return this.#edit(talk, known.id, page);
    if (chance < 18) return this.#ask(talk, { how: 'send', input: inputOf(known), ...page });
    return this.#look(talk);
  }

  /** Sends a new question, and once more if there is no answer. */
  async #send(talk: Talk, page: Partial<Command>, server?: ChatServer, text?: string): Promise<Call> {
    const input = this.#newQuestion(talk, text);
    const how = this.random() < 0.5 ? 'send' : 'stream';
    let call = await this.#ask(talk, { how, input, ...page }, server);
    for (let tries = 0; call.answer === undefined && tries < 2; tries += 1)
      call = await this.#ask(talk, { how, input });
    return call;
  }

  async #stop(talk: Talk): Promise<void> {
    const server = this.#pick();
    const turn = this.#ask(talk, { how: 'stream', input: this.#newQuestion(talk) }, server);
    const call = this.calls.length - 1;
    await sleep(this.random() ** 2 * 150);
    this.servers.tell(server, { how: 'stop', call, talk: talk.id });
    await turn;
  }

  /** A double click, in one process or in two. */
  async #twice(talk: Talk): Promise<void> {
    const input = this.#newQuestion(talk);
    const servers = [this.#pick(), this.#pick()] as const;
    const first = this.calls.length;
    const clicks = servers.map((server) => this.#ask(talk, { how: 'send', input }, server));
    const second = this.calls.at(-1);
    if (second !== undefined && servers[0] === servers[1]) second.first = first;
    await Promise.all(clicks);
  }

  #edit(talk: Talk, id: string, page: Partial<Command>, server?: ChatServer, given?: string): Promise<Call> {
    const text = this.#newText(given);
    talk.questions.push({ id, text });
    return this.#ask(talk, { how: 'edit', id, text, ...page }, server);
  }

  async #look(talk: Talk): Promise<void> {
    const { answer } = await this.#ask(talk, { how: 'messages' });
    talk.newest = answer?.messages?.at(-1)?.id ?? talk.newest;
  }

  async #ask(talk: Talk, given: Omit<Command, 'call' | 'talk'>, server = this.#pick()): Promise<Call> {
    const call: Call = { command: { ...given, call: this.calls.length, talk: talk.id } };
    this.calls.push(call);
    talk.calls += 1;
    call.answer = await this.servers.ask(server, call.command);
    const { turn, error } = call.answer ?? {};
    talk.newest = turn?.messages.at(-1)?.id ?? talk.newest;
    const end = error?.name ?? (turn?.stopped ? 'stopped' : 'done');
    const outcome = call.answer === undefined ? 'no answer' : end;
    this.seen.set(outcome, (this.seen.get(outcome) ?? 0) + 1);
    return call;
  }

  #pick(): ChatServer {
    const { list } = this.servers;
    return list[Math.floor(this.random() * list.length)] as ChatServer; // the cast is true: there are some
  }

  #open(): Talk {
    this.#opened += 1;
    return { id: `talk ${this.#opened}`, questions: [], newest: null, calls: 0 };
  }

  #newText(text = ''): string {
    this.#texts += 1;
    return `${text} Question ${this.#texts}?`.trim();
  }

  #newQuestion(talk: Talk, text?: string): NonNullable<Command['input']> {
    const question = { id: randomUUID(), text: this.#newText(text) };
    talk.questions.push(question);
    return inputOf(question);
  }
}

function inputOf({ id, text }: Talk['questions'][number]): NonNullable<Command['input']> {
  return [{ id, role: 'user', content: text }];
}
