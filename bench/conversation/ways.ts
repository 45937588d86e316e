import { GatewayClient } from 'context-gateway';
import { createConversation, type StoredMessage } from 'context-gateway/conversation';
import { type SqlStore, sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';
import MiniSearch from 'minisearch';
import { linesOf, renderLines } from '../../src/conversation/prompt/render.js';
import { TokenCounter } from '../../src/conversation/prompt/tokens.js';
import { Bm25 } from './bm25.js';
import type { Message, Talk } from './data.js';
import { asked, INSTRUCTIONS, ours, type Prompt, promptTokens, tokensOf } from './ours.js';
import { summariesOf } from './summaries.js';

/** A way to build a prompt of at most `budget` tokens for a question at the end of a conversation. */
export interface Way {
  name: string;
  prompt(talk: Talk, question: string, budget: number): Prompt | Promise<Prompt>;
}

type PromptAtOnce = (talk: Talk, question: string, budget: number) => Prompt;

const withBm25 = searched((texts) => new Bm25(texts));

export const WAYS: readonly Way[] = [
  { name: 'last messages', prompt: lastMessages },
  { name: 'summary and last messages', prompt: withSummary(lastMessages) },
  { name: 'BM25 with neighbours and last messages', prompt: withBm25 },
  { name: 'summary, BM25 with neighbours and last messages', prompt: withSummary(withBm25) },
  { name: 'context-gateway', prompt: ours },
  { name: 'context-gateway with the summary', prompt: oursWithSummary },
  { name: 'MiniSearch with neighbours and last messages', prompt: searched(miniSearch) },
  { name: 'context-gateway, first turn', prompt: onFirstTurn },
  { name: 'context-gateway, parts from SQLite', prompt: inParts },
];

function lastMessages({ messages }: Talk, question: string, budget: number): Prompt {
  const room = budget - promptTokens(framed([], question));
  return framed(newest(messages, room), question);
}

interface Index {
  /** The positions of the texts that match, best first. */
  search(query: string): number[];
}

/** A quarter of the room for the newest messages, the rest for hits with the message before and after. */
function searched(indexOf: (texts: string[]) => Index): PromptAtOnce {
  const indexes = new Map<readonly Message[], Index>();
  return ({ messages }, question, budget) => {
    const index = indexes.get(messages) ?? indexOf(messages.map(({ content }) => content));
    indexes.set(messages, index);
    const room = budget - promptTokens(framed([], question));
    const chosen = new Set(newest(messages, room / 4));
    let left = room - promptTokens([...chosen]);
    const take = (positions: readonly number[]): boolean => {
      const more = positions.flatMap((at) => messages[at] ?? []).filter((message) => !chosen.has(message));
      const cost = promptTokens(more);
      if (cost > left) return false;
      for (const message of more) chosen.add(message);
      left -= cost;
      return true;
    };
    for (const at of index.search(question)) if (!take([at - 1, at, at + 1])) take([at]);
    for (let at = messages.length - 1; at >= 0 && take([at]); at -= 1);
    return framed(
      messages.filter((message) => chosen.has(message)),
      question,
    );
  };
}

function miniSearch(texts: string[]): Index {
  const index = new MiniSearch({ fields: ['text'] });
  index.addAll(texts.map((text, id) => ({ id, text })));
  // The cast is true: the ids are positions.
  return { search: (query) => index.search(query).map(({ id }) => id as number) };
}

/** With the estimate, which no reply has corrected yet. */
function onFirstTurn(talk: Talk, question: string, budget: number): Prompt {
  return ours(talk, question, budget, { count: new TokenCounter().count });
}

const stores = new Map<readonly Message[], SqlStore>();

/** With a store that returns parts of the conversation. */
async function inParts({ messages }: Talk, question: string, budget: number): Promise<Prompt> {
  const store = stores.get(messages) ?? sqliteStore(new Database(':memory:'));
  if (!stores.has(messages)) {
    stores.set(messages, store);
    await store.migrate();
    // The cast is true for the store, which does not read the times that these messages may lack.
    const rows = messages.map((message, at) => ({ ...message, id: `m${at}` }) as StoredMessage);
    await store.append('talk', rows, { edits: 0 });
  }
  const conversation = createConversation({
    ...{ gateway, model: 'm', conversationId: 'talk', instructions: INSTRUCTIONS, budget },
    store: { load: (...given) => store.load(...given) }, // so that no question is stored
    countTokens: tokensOf,
  });
  return (await conversation.prepare([asked(question, messages)])).prompt;
}

const gateway = new GatewayClient({ baseURL: 'https://gateway.test', apiKey: 'pk' });

async function oursWithSummary(talk: Talk, question: string, budget: number): Promise<Prompt> {
  const summaries = await summariesOf(talk);
  const fits = summaries.find((summary) => tokensOf(renderLines(linesOf({ summary }))) <= budget / 4);
  return ours(talk, question, budget, { parts: { summary: fits ?? summaries.at(-1) } });
}

/** The same with the longest summary that fits into a quarter of the budget. */
function withSummary(way: PromptAtOnce): Way['prompt'] {
  return async (talk, question, budget) => {
    const summaries = (await summariesOf(talk)).map((summary) => renderLines(linesOf({ summary })));
    const lines = (summaries.find((text) => tokensOf(text) <= budget / 4) ?? summaries.at(-1) ?? '').split('\n');
    while (tokensOf(lines.join('\n')) > budget / 4) lines.pop();
    const summary = { role: 'user' as const, content: lines.join('\n') };
    const [instructions = summary, ...others] = way(talk, question, budget - promptTokens([summary]));
    return [instructions, summary, ...others];
  };
}

function newest(messages: readonly Message[], room: number): Message[] {
  let from = messages.length;
  for (let left = room; from > 0; from -= 1) {
    left -= promptTokens(messages.slice(from - 1, from));
    if (left < 0) break;
  }
  return messages.slice(from);
}

function framed(messages: readonly Message[], question: string): Prompt {
  const texts = messages.map(({ role, content }) => ({ role, content }));
  return [{ role: 'system', content: INSTRUCTIONS }, ...texts, { role: 'user', content: question }];
}
