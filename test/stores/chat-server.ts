/** A chat server as an app has several of them over one database. It makes the calls of pages that its parent sends. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayClient } from 'context-gateway';
import {
  ConversationConflictError,
  ConversationStoreError,
  createConversation,
  type StoredMessage,
} from 'context-gateway/conversation';
import { postgresStore, type SqlStore, sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';
import pg from 'pg';
import type { Answer, Command, Mutant } from './ledger.js';

/** What a call has learned of its question. */
interface Known {
  id: string | undefined;
  /** Whether it was stored when the turn began, which may read several times. */
  saw?: boolean | undefined;
  hasBegun: boolean;
  /** Whether this turn added it, or may have, because an `append` failed. */
  mayHaveStored: boolean;
}

const [kind = '', address = '', model = '', mutant] = process.argv.slice(2) as [string, string, string, Mutant?];
let pool: pg.Pool | undefined;
const real = kind === 'SQLite' ? openSqlite() : openPostgres();
const known = new AsyncLocalStorage<Known>();
const store = watched(mutant === undefined ? real : { ...real, append: appendOf(mutant) });
const gateway = new GatewayClient({ baseURL: model, apiKey: 'svc_sk_model', maxRetries: 0, pacing: false });
const stops = new Map<number, AbortController>();
const running = new Set<Promise<void>>();
const migrated = migrate();

process.on('message', (command: Command) => {
  if (command.how === 'stop') return stops.get(command.call)?.abort();
  const work = play(command).finally(() => running.delete(work));
  running.add(work);
});
process.once('disconnect', () => process.exit());
process.once('SIGTERM', async () => {
  while (running.size > 0) await Promise.all(running);
  await gateway.close();
  process.removeAllListeners('disconnect');
  process.disconnect();
  // Nothing holds the process: it ends by itself, or the parent notices.
  await pool?.end();
});

process.send?.({ call: -1 }); // it is up

/** Makes a call, and sends how it ended. */
async function play(command: Command): Promise<void> {
  await migrated;
  const { call } = command;
  const stop = new AbortController();
  stops.set(call, stop);
  const facts: Known = { id: command.input?.at(-1)?.id, hasBegun: false, mayHaveStored: false };
  const answer: Answer = { call };
  try {
    Object.assign(answer, await known.run(facts, () => make(command, stop.signal)));
  } catch (error) {
    answer.error = {
      ...{ name: error instanceof Error ? error.name : 'none', message: String(error) },
      isConflict: ConversationConflictError.is(error),
      isStore: ConversationStoreError.is(error),
      reply: ConversationStoreError.is(error) ? error.turn?.text : undefined,
    };
  }
  stops.delete(call);
  const isNew = facts.id !== undefined && facts.saw === false;
  process.send?.({ ...answer, mayAsk: !isNew || facts.mayHaveStored });
}

async function make(command: Command, signal: AbortSignal): Promise<Partial<Answer>> {
  const { how, talk: conversationId, call, input = [], id = '', text = '', newest } = command;
  const talk = createConversation({ gateway, conversationId, model: 'm', store, budget: 200 });
  const options = { headers: { 'x-call': String(call) }, signal, newest };
  if (how === 'messages') return { messages: (await talk.messages({ limit: 100 })) as StoredMessage[] };
  if (how === 'send') return { turn: plain(await talk.send(input, options)) };
  if (how === 'stream') return { turn: plain(await talk.stream(input, options).final()) };
  if (how === 'edit') return { turn: plain(await talk.edit(id, text, options).final()) };
  return { turn: plain(await talk.regenerate(options).final()) };
}

/** The used part of a turn, which the channel to the parent takes. */
function plain({ text, stopped, messages }: NonNullable<Answer['turn']>): NonNullable<Answer['turn']> {
  return { text, stopped, messages };
}

/** Notes what the turns of pages learn of their questions. */
function watched(of: SqlStore): SqlStore {
  return {
    ...of,
    load: async (conversation, wanted) => {
      const loaded = await of.load(conversation, wanted);
      const call = known.getStore();
      if (call?.id !== undefined && !call.hasBegun && wanted?.ids.includes(call.id))
        call.saw ||= loaded?.messages.some(({ id }) => id === call.id) ?? false;
      return loaded;
    },
    append: async (conversation, messages, place) => {
      const call = known.getStore();
      const isQuestion = messages.some(({ id }) => id === call?.id);
      if (call !== undefined && isQuestion) call.hasBegun = true;
      try {
        const added = await of.append(conversation, messages, place);
        if (call !== undefined && isQuestion && added > 0) call.mayHaveStored = true;
        return added;
      } catch (error) {
        if (call !== undefined && isQuestion && !ConversationConflictError.is(error)) call.mayHaveStored = true;
        throw error;
      }
    },
  };
}

/** An `append` that is wrong on purpose, so that a test can tell that it is noticed. */
function appendOf(wrong: Mutant): SqlStore['append'] {
  return async (conversation, messages, place) => {
    if (wrong === 'lost') {
      const isReply = messages.at(-1)?.role === 'assistant';
      return isReply ? messages.length : real.append(conversation, messages, place);
    }
    const edits = Number((await real.load(conversation))?.edits ?? 0);
    if (wrong === 'edits') return real.append(conversation, messages, { ...place, edits });
    if (wrong === 'newest') return real.append(conversation, messages, { ...place, newest: undefined });
    const added = await real.append(conversation, messages, place);
    const copies = messages.map((message) => ({ ...message, id: `${message.id}-2` }));
    await real.append(conversation, copies, { edits: edits + Number(place.after !== undefined) });
    return added;
  };
}

/** Waits for a database that is away. */
async function migrate(): Promise<void> {
  for (;;) {
    const isDone = await real.migrate().then(
      () => true,
      () => false,
    );
    if (isDone) return;
    await sleep(100);
  }
}

function openSqlite(): SqlStore {
  return sqliteStore(new Database(address));
}

function openPostgres(): SqlStore {
  pool = new pg.Pool({ host: '127.0.0.1', port: Number(address), user: 'app', database: 'postgres' });
  return postgresStore(pool);
}
