import { GatewayClient, type ToolCall, tool } from 'context-gateway';
import {
  type AppendPlace,
  type ChatTurn,
  type Conversation,
  ConversationConflictError,
  type ConversationStore,
  ConversationStoreError,
  createConversation,
  type ReplyStream,
  type StoredMessage,
  type StoredRow,
  textOf,
} from 'context-gateway/conversation';
import { type Runtime, systemRuntime } from '../../src/base/runtime.js';
import { partOf } from './parts.js';

/** A row of the database. All texts are different. */
type Row = StoredMessage;

/** What was stored in one step. */
interface Commit {
  added: readonly Row[];
  removed: readonly Row[];
  /** Whether it named the newest message that it had seen. */
  hasNewest: boolean;
}

/** A reply of the model, or one that is recorded: what it answers, and how many steps were stored when it was made. */
interface Answer {
  question: string;
  since: number;
}

/** What the model is asked. */
interface Asked {
  messages: { role: string; content: string; tool_calls?: ToolCall[]; tool_call_id?: string }[];
  stream?: boolean;
}

/** A question as a page knows it. */
interface Question {
  id: string;
  text: string;
}

/** How a call of a page ended. */
interface Ended {
  error?: unknown;
  /** Calls of the model that it made. */
  calls: number;
  turn?: ChatTurn;
  fork?: Conversation;
}

/** How often, of a hundred: a load fails; an append fails, loses its response, or reports a conflict with itself. */
const FAULTS = { load: 2, append: 4, response: 4, conflict: 4 };

/** A database whose answers are slow, fail or are lost, as two processes see it. */
class FailingDatabase {
  readonly commits: Commit[] = [];
  readonly talks = new Map<string, Row[]>();
  readonly #edits = new Map<string, number>();
  readonly #states = new Map<string, { state: unknown; revision: number }>();
  /** Off while the test looks. */
  fails = true;

  constructor(
    private readonly random: () => number,
    private readonly returnsParts: boolean,
  ) {}

  /** The store of one process: another object, whose turns do not wait for those of others. */
  store(): Required<ConversationStore> {
    return {
      load: async (id, wanted) => {
        await this.#slow();
        if (this.#chance(FAULTS.load)) throw new Error('The database is away.');
        const rows = structuredClone(this.talks.get(id) ?? []);
        const part = partOf(rows as StoredRow[], this.returnsParts ? wanted : undefined);
        return { ...part, ...(this.#states.get(id) as object), edits: this.#edits.get(id) ?? 0 };
      },
      append: async (id, messages, place) => {
        await this.#slow();
        if (this.#chance(FAULTS.append)) throw new Error('The disk is full.');
        const added = this.#commit(id, messages, place);
        await this.#slow();
        if (this.#chance(FAULTS.response)) throw new Error('The connection broke.');
        if (this.#chance(FAULTS.conflict)) this.#commit(id, messages, place); // it repeats what it has committed
        return added;
      },
      setExcluded: async () => {},
      saveState: async (id, state, revision) => {
        await this.#slow();
        if ((this.#states.get(id)?.revision ?? 0) !== revision) throw new ConversationConflictError();
        this.#states.set(id, { state: structuredClone(state), revision: revision + 1 });
      },
    };
  }

  #commit(id: string, messages: readonly Row[], { edits, after, newest }: AppendPlace): number {
    const rows = this.talks.get(id) ?? [];
    const end = after === undefined ? rows.length : rows.findIndex((row) => row.id === after) + 1;
    const isNewest = newest === undefined || newest === (rows.at(-1)?.id ?? null);
    if (edits !== (this.#edits.get(id) ?? 0) || !isNewest || (after && end === 0))
      throw new ConversationConflictError();
    if (after !== undefined) this.#edits.set(id, edits + 1);
    const kept = rows.slice(0, end);
    const added = structuredClone(messages.filter((one) => !kept.some((row) => row.id === one.id)));
    if (id === TALK) this.commits.push({ added, removed: rows.slice(end), hasNewest: newest !== undefined });
    this.talks.set(id, [...kept, ...added]);
    return added.length;
  }

  #chance(percent: number): boolean {
    return this.fails && this.random() * 100 < percent;
  }

  async #slow(): Promise<void> {
    const turns = Math.floor(this.random() * 4);
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Does not wait before a message is stored again. */
const HASTY: Runtime = {
  ...systemRuntime,
  setTimer: (callback, ms) => systemRuntime.setTimer(callback, ms > 1_000 ? ms : 0),
};

export const TALK = 'talk';

/** Two processes, each with two conversation objects, whose pages do at random what pages do. */
export class TurnModel {
  readonly database: FailingDatabase;
  /** What must not happen. */
  readonly wrong: string[] = [];
  /** How often each outcome was seen, so that a test can tell that all of them were. */
  readonly seen = new Map<string, number>();
  readonly #processes: (readonly Conversation[])[];
  readonly #gateway: GatewayClient;
  readonly #answers = new Map<string, Answer>();
  /** The calls of the model, by the page's call that caused them. */
  readonly #calls = new Map<string, { count: number; since: number }>();
  readonly #questions: Question[] = [];
  #texts = 0;
  #checked = 0;

  constructor(
    private readonly random: () => number,
    returnsParts: boolean,
  ) {
    this.database = new FailingDatabase(random, returnsParts);
    this.#gateway = new GatewayClient(
      {
        ...{ baseURL: 'https://model.test', apiKey: 'svc_sk_model', maxRetries: 0, pacing: false },
        fetch: async (_, init) =>
          this.#answer(JSON.parse(String(init?.body)), new Headers(init?.headers).get('x-call')),
      },
      undefined,
      HASTY,
    );
    const look = tool({ name: 'look', execute: ({ question }) => this.#reply(String(question)) });
    const tools = [look, tool({ name: 'ask' })];
    const open = (store: ConversationStore): Conversation =>
      createConversation({
        gateway: this.#gateway as never,
        conversationId: TALK,
        model: 'm',
        store,
        budget: 60,
        tools,
      });
    this.#processes = [this.database.store(), this.database.store()].map((store) => [open(store), open(store)]);
  }

  async close(): Promise<void> {
    await this.#gateway.close();
  }

  /** Plays a call in some of the pages at once, and checks what is stored then. */
  async step(): Promise<void> {
    const talks = this.#processes.flat().filter(() => this.random() < 0.5);
    await Promise.all(talks.map((talk) => this.#play(talk)));
    this.#check();
  }

  get #rows(): readonly Row[] {
    return this.database.talks.get(TALK) ?? [];
  }

  #play(talk: Conversation): Promise<unknown> {
    const question = this.#pick(this.#questions);
    const asked = question && [{ role: 'user', content: question.text, id: question.id }];
    const plays: (() => Promise<unknown>)[] = [
      () => this.#ask('send', (options) => talk.send(this.#newQuestion(), options)),
      () => this.#ask('read', (options) => talk.stream(this.#newQuestion(), options).final()),
      () => this.#ask('leave', (options) => leave(talk.stream(this.#newQuestion(), options))),
      () => this.#stop(talk),
      () => this.#twice(),
      () => this.#ask('regenerate', (options) => talk.regenerate(options).final()),
      () => this.#ask('regenerate, left', (options) => leave(talk.regenerate(options))),
      () => this.#prepare(talk),
      () => this.#fork(talk),
      () => this.#again(talk, asked),
      () => this.#edit(talk),
      () => this.#results(talk),
      () => this.#results(talk),
      () => this.#ask('add', async () => void (await talk.add(this.#newQuestion()))),
    ];
    return (this.#pick(plays) as () => Promise<unknown>)();
  }

  /** Sends a question once more, as a page does that got no reply, or that has not seen an edit. */
  async #again(talk: Conversation, input: { role: string; content: string; id: string }[] | undefined): Promise<void> {
    if (input === undefined) return;
    const isOther = (): boolean =>
      this.#rows.some(({ id, content }) => id === input[0]?.id && content !== input[0]?.content);
    const before = isOther();
    const { error, calls } = await this.#ask('again', (options) => talk.send(input, options));
    if (!before || !isOther()) return;
    this.#note('again, with an old text');
    if (calls > 0) this.wrong.push('a known id was sent with another text');
    if (error === undefined) this.wrong.push('a known id was taken with another text');
  }

  async #edit(talk: Conversation): Promise<void> {
    const { id } = this.#pick(this.#stored()) ?? {};
    if (id === undefined) return;
    const text = this.#newText();
    this.#questions.push({ id, text });
    const isLeft = this.random() < 0.2;
    const edit = (options: object) => talk.edit(id, text, options);
    await this.#ask('edit', (options) => (isLeft ? leave(edit(options)) : edit(options).final()));
  }

  /** Gives calls that wait their results, which others may do at the same moment, or have done. */
  async #results(talk: Conversation): Promise<void> {
    const calling = this.#rows.findLast(({ tool_calls }) =>
      tool_calls?.some(({ function: { name } }) => name === 'ask'),
    );
    const question = this.#answerOf(textOf(calling ?? {}))?.question;
    if (calling === undefined || question === undefined) return;
    const waiting = calling.tool_calls?.filter(({ function: { name } }) => name === 'ask') ?? [];
    const results = waiting.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: this.#reply(question) }));
    const other = this.random() < 0.5 ? this.#pick(this.#processes.flat()) : undefined;
    const give = (talk: Conversation) => this.#ask('results', (options) => talk.send(results, options));
    await Promise.all([give(talk), other && give(other)]);
  }

  async #stop(talk: Conversation): Promise<void> {
    const stop = new AbortController();
    const turns = Math.floor(this.random() * 30);
    const turn = this.#ask('stop', (options) => talk.send(this.#newQuestion(), { ...options, signal: stop.signal }));
    for (let at = 0; at < turns; at += 1) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await turn;
  }

  /** A double click, in one process. */
  async #twice(): Promise<void> {
    const input = this.#newQuestion();
    const talks = this.#pick(this.#processes) ?? [];
    const [one, two] = await Promise.all(
      talks.map((talk) => this.#ask('twice', (options) => talk.send(input, options))),
    );
    if (one?.turn === undefined || one.turn.stopped || two === undefined) return;
    // An edit of an earlier message may have removed it before the second click.
    if (this.database.commits.some(({ removed }) => removed.some(({ id }) => id === input[0].id))) return;
    this.#note('twice, asked once');
    if (two.calls > 0) this.wrong.push('a double click called the model twice');
    if (two.turn !== undefined && two.turn.text !== one.turn.text) this.wrong.push('a double click got two replies');
  }

  /** A turn whose reply another client generates, finished twice. */
  async #prepare(talk: Conversation): Promise<void> {
    const input = this.#newQuestion();
    await this.#ask('prepare', async () => {
      const turn = await talk.prepare(input);
      const reply = this.#reply(input[0].content);
      await turn.finish(reply);
      return turn.finish(reply);
    });
  }

  async #fork(talk: Conversation): Promise<void> {
    const { id } = this.#pick(this.#rows) ?? {};
    if (id === undefined) return;
    const before = this.#rows;
    const { fork } = await this.#ask('fork', async () => ({ fork: await talk.fork(id) }));
    if (fork === undefined) return;
    const rows = this.database.talks.get(fork.id) ?? [];
    const ids = new Set(rows.map((row) => row.id));
    if (this.#rows === before && rows.at(-1)?.content !== before.find((row) => row.id === id)?.content)
      this.wrong.push('a fork has other messages');
    for (const { replyTo } of rows)
      if (replyTo !== undefined && !ids.has(replyTo)) this.wrong.push('a fork names others');
    this.#checkPlaces(rows);
  }

  /** Makes a call of a page, and checks how it ends. */
  async #ask(how: string, make: (options: { headers: Record<string, string> }) => Promise<unknown>): Promise<Ended> {
    const call = String(this.#calls.size);
    const made = { count: 0, since: this.database.commits.length };
    this.#calls.set(call, made);
    try {
      const result = await make({ headers: { 'x-call': call } });
      this.#note(how);
      if (isTurn(result)) {
        const { text, stopped, messages } = result;
        const isStored = !stopped || messages.some(({ role }) => role === 'assistant'); // not in place of a whole one
        if (result.steps.length > 0) this.#note('steps');
        if (result.toolCalls !== undefined) this.#note('waiting');
        if (
          isStored &&
          text !== '' &&
          !this.database.commits.some(({ added }) => added.some(({ content }) => content === text))
        )
          this.wrong.push(`${how}: a turn resolved, and its reply is not stored`);
        return { calls: made.count, turn: result };
      }
      return { calls: made.count, ...(result as { fork?: Conversation } | undefined) };
    } catch (error) {
      this.#note(`${how}: ${error instanceof Error ? error.name : 'another error'}`);
      this.#checkError(how, error, made);
      return { error, calls: made.count };
    }
  }

  #checkError(how: string, error: unknown, { count, since }: { count: number; since: number }): void {
    if (ConversationStoreError.is(error)) {
      const hasReply = error.turn !== undefined;
      if (count > 0 && !hasReply) this.wrong.push(`${how}: the model was called, and the error has no reply`);
      const isConflict = ConversationConflictError.is(error);
      if (isConflict && count > 0 && this.database.commits.length === since)
        this.wrong.push(`${how}: a conflict after a call, although nothing was stored meanwhile`);
    } else if (
      !/away|aborted by its signal|500|ended before|messageId|no message of the user|does not wait|is missing/.test(
        String(error),
      )
    )
      this.wrong.push(`${how}: ${error}`);
  }

  /** What is stored, once all calls have ended. */
  #check(): void {
    const { commits } = this.database;
    for (const commit of commits.slice(this.#checked)) this.#checkCommit(commit);
    this.#checked = commits.length;
    this.#checkPlaces(this.#rows);
  }

  /** Only an edit removes a question, and a reply only replies to its own question. Both have seen what they remove. */
  #checkCommit({ added, removed: all, hasNewest }: Commit): void {
    if (all.length === 0) return;
    if (!hasNewest) this.wrong.push('messages were removed, and not the newest named that was seen');
    // What stands behind a call that waited is given again.
    const removed = all.filter((row) => !added.some((one) => one.id === row.id && one.content === row.content));
    if (added[0]?.role === 'tool' && removed.length < all.length) this.#note('given again behind results');
    const reply = added.at(-1);
    const { question } = this.#answerOf(reply && textOf(reply)) ?? {};
    const isEdit = added.some(({ id, role }) => role === 'user' && id === removed[0]?.id);
    for (const row of removed) {
      const isOwn = row.role !== 'user' && this.#answerOf(textOf(row))?.question === question;
      if (!isEdit && !isOwn) this.wrong.push(`"${reply?.content}" removed "${row.content}"`);
      if (!isEdit && isEnd(row) && !added.some((one) => isEnd(one) || one.tool_calls))
        this.wrong.push('a part of a reply removed a whole one');
      // A late reply to an earlier question is given again.
      const isLate = !removed.some(({ id }) => id === row.replyTo) && row.role !== 'user';
      if (isEdit && isLate && !added.some(({ id }) => id === row.id)) this.wrong.push(`an edit lost "${row.content}"`);
    }
  }

  /** Each message once, and each reply after its own question, which it names unless it directly follows it. */
  #checkPlaces(rows: readonly Row[]): void {
    for (const field of ['id', 'content'] as const)
      if (new Set(rows.map((row) => row[field])).size < rows.length) this.wrong.push(`two messages have one ${field}`);
    for (const [at, { role, content, replyTo }] of rows.entries()) {
      if (role === 'user') continue;
      const { question } = this.#answerOf(textOf({ content })) ?? {};
      const asked = rows
        .slice(0, at)
        .findLast((row) => row.role === 'user' && (replyTo === undefined || row.id === replyTo));
      if (question === undefined || asked?.content !== question)
        this.wrong.push(`"${content}" is stored as a reply to "${asked?.content}"`);
    }
    this.#checkReplies(rows);
  }

  /** Each result once, and after its call; each reply with one end at most. */
  #checkReplies(rows: readonly Row[]): void {
    const open = new Map<string, string | undefined>();
    const ended = new Set<string>();
    for (const row of rows) {
      const { reply, tool_calls = [], tool_call_id } = row;
      for (const { id } of tool_calls) open.set(id, reply);
      if (tool_call_id !== undefined && (open.get(tool_call_id) ?? '') !== reply)
        this.wrong.push('a result has no call, or is not the first one');
      if (tool_call_id !== undefined) open.delete(tool_call_id);
      if (reply === undefined || !isEnd(row)) continue;
      if (ended.has(reply)) this.wrong.push('a reply has two ends');
      ended.add(reply);
    }
  }

  /** By its number, which also a reply has that was cut. */
  #answerOf(text = ''): Answer | undefined {
    return this.#answers.get(text.split(' ')[0] ?? '');
  }

  /** The text of a new reply to a question: it begins with a number. */
  #reply(question: string): string {
    const number = `#${this.#answers.size}`;
    this.#answers.set(number, { question, since: this.database.commits.length });
    return `${number} is the reply to ${question}`;
  }

  #newText(): string {
    this.#texts += 1;
    return `Question ${this.#texts}?`;
  }

  #newQuestion(): [{ role: string; content: string; id: string }] {
    const [id, text] = [crypto.randomUUID(), this.#newText()];
    this.#questions.push({ id, text });
    return [{ role: 'user', content: text, id }];
  }

  #stored(): Question[] {
    return this.#rows.flatMap(({ id, role, content }) => (role === 'user' ? { id, text: textOf({ content }) } : []));
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.random() * list.length)];
  }

  #note(outcome: string): void {
    this.seen.set(outcome, (this.seen.get(outcome) ?? 0) + 1);
  }

  /** One that runs, and sometimes one that waits. */
  #callsFor(question: string): ToolCall[] {
    const names = this.random() < 0.3 ? ['look', 'ask'] : ['look'];
    return names.map((name) => ({
      id: crypto.randomUUID(),
      type: 'function',
      function: { name, arguments: JSON.stringify({ question }) },
    }));
  }

  /** Each call has its results, and each result its call. */
  #checkPrompt(messages: Asked['messages']): void {
    let open: string[] = [];
    for (const { role, tool_calls = [], tool_call_id } of [
      ...messages,
      { role: 'user', content: '' } as Asked['messages'][0],
    ]) {
      const isKnown = tool_call_id !== undefined && open.includes(tool_call_id);
      if (role === 'tool' && !isKnown) this.wrong.push('a result was sent without its call');
      if (role !== 'tool' && open.length > 0) this.wrong.push('a call was sent without its result');
      open = role === 'tool' ? open.filter((id) => id !== tool_call_id) : tool_calls.map(({ id }) => id);
    }
  }

  /** The model: it fails now and then, also in the middle of a reply. */
  #answer({ messages, stream }: Asked, call: string | null): Response {
    const made = this.#calls.get(call ?? '');
    if (made !== undefined) made.count += 1;
    this.#checkPrompt(messages);
    const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    const text = this.#reply(question);
    const calls = this.random() < 0.3 ? this.#callsFor(question) : undefined;
    const finish_reason = calls ? 'tool_calls' : 'stop';
    if (this.random() < 0.03) return Response.json({ error: { message: 'It failed.' } }, { status: 500 });
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const head = { id: 'c', created: 1, model: 'm' };
    if (!stream) {
      const choice = { index: 0, message: { role: 'assistant', content: text, tool_calls: calls }, finish_reason };
      return Response.json({ ...head, object: 'chat.completion', choices: [choice], usage });
    }
    const pieces = text.split(/(?<= )/);
    const end = this.random() < 0.05 ? 2 : pieces.length;
    const events = pieces
      .slice(0, end)
      .map((content) => ({ delta: { content } as object, finish_reason: null as string | null }));
    const tool_calls = calls?.map((made, index) => ({ ...made, index }));
    if (end === pieces.length) events.push({ delta: { content: '', tool_calls }, finish_reason });
    const chunks = events.map((event) => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, ...event }],
    }));
    return new Response(streamOf(chunks), { headers: { 'content-type': 'text/event-stream' } });
  }
}

/** Whether a message ends a reply: a text that was not stopped. */
function isEnd({ role, stopped, tool_calls }: Row): boolean {
  return role === 'assistant' && !stopped && tool_calls === undefined;
}

function isTurn(result: unknown): result is ChatTurn {
  return typeof result === 'object' && result !== null && 'text' in result;
}

/** Reads the first piece, and leaves. */
async function leave(reply: ReplyStream): Promise<ChatTurn> {
  for await (const _ of reply) break;
  return reply.final();
}

function streamOf(chunks: readonly object[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`);
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = events.shift();
      if (next === undefined) return controller.close();
      controller.enqueue(encoder.encode(next));
    },
  });
}
