import { type ChatMessage, ContextClient, GatewayClient } from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { type Meeting, recalled } from './meeting.js';
import type { Way } from './ways.js';

/** The result of one way for one meeting. */
export interface Played {
  turns: number;
  /** Prompts for turns and questions. */
  prompts: number;
  fitted: number;
  /** The exact tokens of all turns. */
  tokens: number;
  /** Turns whose prompt starts with the bytes of the previous one, up to its input. */
  stable: number;
  compactions: number;
  evidence: number;
  recalled: number;
}

/** The tokens that the emulator, like OpenAI's models, adds per message. */
const TOKENS_PER_MESSAGE = 4;

/** Counts tokens exactly, and each text only once. */
class Tokens {
  readonly #known = new Map<string, number>();

  of(messages: readonly ChatMessage[]): number {
    return messages.reduce((sum, { content }) => sum + this.#ofText(content) + TOKENS_PER_MESSAGE, 0);
  }

  #ofText(text: string): number {
    const tokens = this.#known.get(text) ?? countTokens(text);
    this.#known.set(text, tokens);
    return tokens;
  }
}

/** Plays a meeting turn by turn, then asks its questions. */
export async function play({ exchanges, questions, name }: Meeting, contextWindow: number, way: Way): Promise<Played> {
  await using emulator = createEmulator({ seed: name, limits: { gateway: 1e6, context: 1e6, compact: 1e6 } });
  let sent: ChatMessage[] = [];
  let compactions = 0;
  const tokens = new Tokens();
  const spy: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith('/v1/chat/completions')) sent = (await request.clone().json()).messages;
    if (request.url.endsWith('/api/context/compact')) compactions += 1;
    return emulator.fetch(request);
  };
  await using gateway = new GatewayClient({
    baseURL: 'https://emulator.test',
    apiKey: emulator.apiKeys.secret,
    fetch: spy,
  });
  await using context = new ContextClient({
    baseURL: 'https://emulator.test',
    sessionToken: emulator.sessionToken,
    fetch: spy,
  });
  const { id: conversationId } = emulator.conversations.create({ messages: [] });
  const reserve = contextWindow / 8;
  const budget = contextWindow - reserve;
  const count = (messages: readonly ChatMessage[]): number => tokens.of(messages);
  const fitting = way.open({ emulator, context, gateway, conversationId, budget, reserve, count });

  const played = { turns: 0, prompts: 0, fitted: 0, tokens: 0, stable: 0, evidence: 0, recalled: 0 };
  const fits = (messages: readonly ChatMessage[]): void => {
    played.prompts += 1;
    played.fitted += Number(count(messages) <= budget);
  };
  for (const { input, reply } of exchanges) {
    const beginning = JSON.stringify(sent.slice(0, -1)).slice(0, -1);
    const removeReply = emulator.chat.on(() => true, reply);
    await fitting.exchange(input);
    removeReply();
    emulator.conversations.append(conversationId, [
      { role: 'user', content: input },
      { role: 'assistant', content: reply },
    ]);
    fits(sent);
    played.turns += 1;
    played.tokens += count(sent);
    played.stable += Number(JSON.stringify(sent).startsWith(beginning));
    await fitting.rest();
  }
  for (const question of questions) {
    const messages = await fitting.ask(question.query);
    fits(messages);
    played.evidence += question.evidence.length;
    // The question itself does not count as recalled.
    played.recalled += recalled(
      question,
      messages.slice(0, -1).map(({ content }) => content),
    );
  }
  return { ...played, compactions };
}
