/** The page's half of a chat in each version of `ai`: what `useChat` of its React, Vue and Svelte packages is made of. */
import * as v7 from 'ai';
import * as v5 from 'ai-v5';
import * as v6 from 'ai-v6';

type Ai = typeof v7;
// The newest types stand for all three: what is used here is in each of them.
const versions: Record<string, Ai> = { 5: v5 as unknown as Ai, 6: v6 as unknown as Ai, 7: v7 };

/** What a user saw of a chat. */
export interface Seen {
  readonly texts: readonly string[];
  readonly statuses: readonly string[];
  /** How often the newest message changed while it was written. */
  readonly updates: number;
  readonly error: string | undefined;
}

/** Sends these messages one after the other. With `stopAt`, the first reply is stopped when it has so many characters. */
async function chat(version: string, api: string, questions: string[], stopAt?: number): Promise<Seen> {
  const { AbstractChat, DefaultChatTransport } = versions[version] as Ai;
  const seen = { statuses: [] as string[], updates: 0 };
  type Message = v7.UIMessage;
  const textOf = ({ parts }: Message) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

  class PlainState {
    error: Error | undefined;
    messages: Message[] = [];
    #status: v7.ChatStatus = 'ready';
    get status(): v7.ChatStatus {
      return this.#status;
    }
    set status(status: v7.ChatStatus) {
      this.#status = status;
      seen.statuses.push(status);
    }
    pushMessage = (message: Message) => void this.messages.push(message);
    popMessage = () => void this.messages.pop();
    replaceMessage = (index: number, message: Message) => {
      this.messages[index] = message;
      seen.updates += 1;
      if (stopAt !== undefined && textOf(message).length >= stopAt) void current.stop();
    };
    snapshot = <T>(value: T): T => structuredClone(value);
  }
  class PlainChat extends AbstractChat<Message> {}

  const state = new PlainState();
  const current = new PlainChat({
    transport: new DefaultChatTransport({ api }),
    state,
  } as unknown as ConstructorParameters<typeof PlainChat>[0]);
  for (const text of questions) await current.sendMessage({ text });
  return { ...seen, texts: state.messages.map(textOf), error: state.error?.message };
}

Object.assign(globalThis, { chat });
