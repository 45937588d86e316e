import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { simulateReadableStream, streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { ContextClient, GatewayClient } from 'context-gateway';
import { contextMiddleware } from 'context-gateway/ai-sdk';
import { type ConversationState, type ConversationStore, createConversation } from 'context-gateway/conversation';
import { createEmulator } from 'context-gateway-emulator';
import { textOf } from '../../src/conversation/content.js';
import type { Language, Message, SetName, Talk } from './data.js';
import { asked, INSTRUCTIONS, promptTokens, tokensOf } from './ours.js';
import { recallOf } from './recall.js';

/** What became of a conversation that was sent turn by turn, and of the questions at its end. */
interface Played {
  turns: number;
  /** Turns that were rejected: a required part left no room. */
  failed: number;
  /** Prompts within the budget, by an exact count. */
  fitted: number;
  /** Prompts that begin with the context and the messages of the one before. */
  stable: number;
  compactions: number;
  /** Tokens of all prompts, of which those of messages that begin as in the prompt before count a tenth. */
  cost: number;
  recall: number[];
  /** Of messages without dates and names. */
  recallUndated: number[];
  /** The same questions, asked with `streamText` of the AI SDK. */
  recallOfAiSdk: number[];
}

type Recalls = 'recall' | 'recallUndated' | 'recallOfAiSdk';

/** The sums and means of several talks. */
export interface PlayedRow extends Omit<Played, Recalls> {
  set: SetName;
  language: Language;
  budget: number;
  recall: number;
  recallUndated: number;
  recallOfAiSdk: number;
}

/** Plays all talks of one kind. */
export async function playAll(talks: readonly Talk[], budget: number): Promise<PlayedRow | undefined> {
  const [first] = talks;
  if (first === undefined) return undefined;
  const all: Played[] = [];
  for (const talk of talks) all.push(await play(talk, budget));
  const sum = (field: 'turns' | 'failed' | 'fitted' | 'stable' | 'compactions' | 'cost'): number =>
    all.reduce((total, one) => total + one[field], 0);
  const mean = (field: Recalls): number => {
    const values = all.flatMap((one) => one[field]);
    return values.reduce((total, value) => total + value, 0) / values.length;
  };
  return {
    ...{ set: first.set, language: first.language, budget },
    ...{ turns: sum('turns'), failed: sum('failed'), fitted: sum('fitted'), stable: sum('stable') },
    ...{
      compactions: sum('compactions'),
      cost: sum('cost'),
      recall: mean('recall'),
      recallUndated: mean('recallUndated'),
      recallOfAiSdk: mean('recallOfAiSdk'),
    },
  };
}

/** Plays every turn of a talk through `createConversation`, with the service's context and compactions. */
async function play(talk: Talk, budget: number): Promise<Played> {
  await using emulator = createEmulator({ seed: talk.name, limits: { context: 1e6, compact: 1e6 } });
  const { id } = emulator.conversations.create({});
  const played: Played = {
    turns: 0,
    failed: 0,
    fitted: 0,
    stable: 0,
    compactions: 0,
    cost: 0,
    recall: [],
    recallUndated: [],
    recallOfAiSdk: [],
  };
  const messages: (Message & { id: string })[] = [];
  let before: string[] = [];
  let last: string[] = [];
  const answer: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.endsWith('/chat/completions')) return emulator.fetch(request);
    const { messages: sent } = (await request.json()) as { messages: Message[] };
    played.fitted += Number(promptTokens(sent) <= budget);
    return Response.json(completion(promptTokens(sent)));
  };
  await using context = new ContextClient({
    ...{ baseURL: 'https://emulator.test', sessionToken: emulator.sessionToken, fetch: answer, pacing: false },
  });
  await using gateway = new GatewayClient({
    ...{ baseURL: 'https://emulator.test', apiKey: emulator.apiKeys.secret, fetch: answer, pacing: false },
  });
  let saved: { state?: ConversationState; revision: number } = { revision: 0 };
  const store: ConversationStore = {
    load: () => ({ messages, ...saved }),
    saveState: (_, state, revision) => {
      saved = { state, revision: revision + 1 };
    },
  };
  const options = {
    gateway,
    context,
    model: 'atlas-small',
    conversationId: id,
    contextWindow: Math.floor((budget * 8) / 7),
    store,
  };
  await using conversation = createConversation({
    ...options,
    instructions: INSTRUCTIONS,
    compaction: true,
    onCompaction: () => {
      played.compactions += 1;
    },
  });

  for (const [at, message] of talk.messages.entries()) {
    // Some messages of the data are empty. No user sends one.
    if (message.role === 'user' && message.content !== '' && at > 0) {
      played.turns += 1;
      try {
        const turn = await conversation.prepare([message]);
        const now = turn.messages.map((one) => JSON.stringify(one));
        played.stable += Number(before.every((text, i) => text === now[i]));
        before = now.slice(0, turn.recalled === undefined ? -1 : -2);
        const changed = now.findIndex((text, i) => text !== last[i]);
        const cached = promptTokens(turn.messages.slice(0, changed));
        played.cost += promptTokens(turn.prompt) - (1 - CACHED) * cached;
        last = now;
        await conversation.send([message]);
      } catch {
        played.failed += 1;
      }
      await conversation.idle();
    }
    const [stored] = emulator.conversations.append(id, [{ role: message.role, content: message.content }]);
    messages.push({ ...message, id: stored?.id ?? '' });
  }

  const wrapped = createConversation({ ...options, context: undefined, store: undefined });
  const inner = new MockLanguageModelV4({
    doStream: async ({ prompt }) => ({
      stream: simulateReadableStream({ chunks: [...partsOf(promptTokens(textsOf(prompt)))] }),
    }),
  });
  const model = wrapLanguageModel({ model: inner, middleware: contextMiddleware(wrapped) });
  const plain = talk.messages.map(({ role, content }) => ({ role, content }));
  const dated = talk.messages
    .filter(({ content }) => content !== '')
    .map(({ role, content, name, createdAt }) => ({
      ...{ role, content },
      providerOptions: { contextGateway: { ...(name && { name }), ...(createdAt && { createdAt }) } },
    }));
  for (const { question, evidence } of talk.questions) {
    const wanted = evidence.map((at) => talk.messages[at]?.content ?? '');
    const { prompt } = await conversation.prepare([asked(question, talk.messages)]);
    const recall = recallOf(wanted, prompt.slice(0, -1).map(textOf));
    if (recall === undefined) continue;
    played.recall.push(recall);
    const { prompt: undated } = await conversation.prepare([asked(question, talk.messages)], { history: plain });
    played.recallUndated.push(recallOf(wanted, undated.slice(0, -1).map(textOf)) ?? 0);
    const messages = [...dated, { role: 'user' as const, content: question }];
    await streamText({ model, system: INSTRUCTIONS, messages }).consumeStream();
    const sent = textsOf(inner.doStreamCalls.at(-1)?.prompt ?? []).map(textOf);
    await wrapped.idle();
    played.recallOfAiSdk.push(recallOf(wanted, sent.slice(0, -1)) ?? 0);
  }
  return played;
}

/** The messages of a prompt of the AI SDK, as text. */
function textsOf(prompt: readonly { content: string | readonly object[] }[]): { role: 'user'; content: string }[] {
  return prompt.map(({ content }) => {
    const texts = typeof content === 'string' ? [content] : content.map((part) => String(Object(part).text));
    return { role: 'user', content: texts.join('\n') };
  });
}

function* partsOf(total: number): Generator<LanguageModelV4StreamPart> {
  const inputTokens = { total, noCache: total, cacheRead: 0, cacheWrite: 0 };
  yield { type: 'stream-start', warnings: [] };
  yield {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens, outputTokens: { total: 1, text: 1, reasoning: 0 } },
  };
}

/** What a cached token costs. */
const CACHED = 0.1;

function completion(prompt_tokens: number): object {
  const reply = 'I see.';
  return {
    ...{ id: 'c', object: 'chat.completion', created: 0, model: 'atlas-small' },
    choices: [{ index: 0, message: { role: 'assistant', content: reply }, finish_reason: 'stop' }],
    usage: { prompt_tokens, completion_tokens: tokensOf(reply), total_tokens: prompt_tokens + tokensOf(reply) },
  };
}
