/** What two tabs, a failing disk, rows of a database and a long batch do to conversations and batches. */

import {
  type Conversation,
  ConversationConflictError,
  type ConversationStore,
  ConversationStoreError,
  createConversation,
  memoryStore,
} from '../../src/conversation/index.js';
import { GatewayClient, mapCalls, RequestValidationError } from '../../src/index.js';
import type { Batch } from './plan.js';

const ID = 'talk';
const REPLY = 'At nine.';
/** The outcomes of the batch, and the length of each. */
const CALLS = 60_000;
const RESULT = 2_000;

type Store = Required<ConversationStore>;

/** A conversation with two turns in its store. `whileAsked` runs while the model writes a reply. */
function talk(store: Store, whileAsked: () => unknown = () => {}, contextWindow = 4_000) {
  const prompts: string[] = [];
  const gateway = new GatewayClient({
    baseURL: 'https://gateway.test',
    apiKey: 'svc_sk_conversations',
    fetch: async (_input, init) => {
      prompts.push(String(init?.body));
      await whileAsked();
      const message = { role: 'assistant', content: REPLY };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
    },
  });
  const open = (): Conversation =>
    createConversation({ gateway, conversationId: ID, model: 'm', store, contextWindow, reserveOutput: 500 });
  return { conversation: open(), prompts, close: () => gateway.close() };
}

const question = (id: string, content: string) => ({ id, role: 'user' as const, content });
const twoTurns = (): Store =>
  memoryStore({
    [ID]: [
      question('q1', 'When does the harbour open?'),
      { id: 'a1', role: 'assistant', content: 'At six.' },
      question('q2', 'And the pier?'),
      { id: 'a2', role: 'assistant', content: 'At ten.' },
    ],
  });
const idsIn = async (store: Store): Promise<string> =>
  ((await store.load(ID))?.messages ?? []).map(({ id }) => id).join(' ');
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error) => error,
  );

/** Another process stores a turn while this one edits, and something loads the conversation meanwhile. */
export async function editsOverAnotherTab(): Promise<string[]> {
  const found: string[] = [];
  for (const how of ['edit', 'regenerate'] as const) {
    const store = twoTurns();
    const { conversation, close } = talk(store, async () => {
      await store.append(ID, [{ ...question('new', 'From another tab'), createdAt: NOW }], {
        after: 'a2',
        newest: 'a2',
      });
      await conversation.search('tab');
    });
    const reply = how === 'edit' ? conversation.edit('q1', 'When does it close?') : conversation.regenerate();
    const error = await failureOf(reply.final());
    if (!ConversationConflictError.is(error)) found.push(`${how} ended with ${error}`);
    const ids = await idsIn(store);
    if (ids !== 'q1 a1 q2 a2 new') found.push(`${how} left ${ids}`);
    await close();
  }
  return found;
}

/** The disk is full when an edit is stored. */
export async function editsOnAFullDisk(): Promise<string[]> {
  const found: string[] = [];
  const store = twoTurns();
  const full = { ...store, append: () => Promise.reject(new Error('The disk is full.')) };
  for (const how of ['edit', 'regenerate'] as const) {
    const { conversation, close } = talk(full);
    const reply = how === 'edit' ? conversation.edit('q1', 'When does it close?') : conversation.regenerate();
    const error = await failureOf(reply.final());
    if (!ConversationStoreError.is(error)) found.push(`${how} ended with ${error ?? 'success'}`);
    else if (error.turn?.text !== REPLY) found.push(`${how}: an error without the reply`);
    const ids = await idsIn(store);
    if (ids !== 'q1 a1 q2 a2') found.push(`${how} left ${ids}`);
    await close();
  }
  return found;
}

/** Rows with nulls, 0, 1, dates and numbers, in a conversation that must be searched; and a name that is no text. */
export async function readsRows(): Promise<string[]> {
  const found: string[] = [];
  const stored: unknown[] = [];
  const rows = Array.from({ length: 400 }, (_, at) => ({
    ...question(`m${at}`, `Boat ${at} of the harbour has a sail of its own, which the crew looks after.`),
    name: null,
    excluded: at === 7 ? 1 : 0,
    stopped: null,
    createdAt: at % 2 === 0 ? new Date(NOW) : Date.parse(NOW),
  }));
  const store: Store = {
    load: () => ({ messages: rows as never }),
    append: (_, messages) => void stored.push(...messages),
    saveState: () => {},
  };
  const { conversation, prompts, close } = talk(store, undefined, 2_000);
  const error = await failureOf(conversation.send('Which sail do boat 7 and boat 9 have?'));
  if (error !== undefined) found.push(String(error));
  const sent = prompts.join('');
  if (!sent.includes('Boat 9 of')) found.push('the search did not find a row');
  if (sent.includes('Boat 7 of')) found.push('an excluded row was sent');
  const turn = stored.splice(0).length;
  const poison = await failureOf(conversation.send({ role: 'user', content: 'x', name: 5 } as never));
  if (!RequestValidationError.is(poison)) found.push(`a name that is no text ended with ${poison ?? 'success'}`);
  if (turn !== 2 || stored.length > 0) found.push(`${turn} messages were stored, then ${stored.length}`);
  await close();
  return found;
}

/** A long batch whose calls end at once: how much memory it holds on to, and how often a timer ran. */
export async function longBatch(collect: () => void): Promise<Batch> {
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  let [results, ticks, before, grown] = [0, 0, 0, 0];
  const timer = setInterval(() => (ticks += 1), 5);
  const text = async (number: number): Promise<string> => `${number}`.padEnd(RESULT, 'text');
  for await (const { result } of mapCalls(Array(CALLS).keys(), text)) {
    results += result?.length === RESULT ? 1 : 0;
    if (results === 5_000) before = heap();
    if (results === CALLS) grown = heap() - before;
  }
  clearInterval(timer);
  return { missing: CALLS - results, ticks, grown };
}

const NOW = '2026-01-15T10:00:00.000Z';
