/** A chat page for each version of `ai`, built on the class behind `useChat` of its React, Vue and Svelte packages. */
import * as v7 from 'ai';
import * as v5 from 'ai-v5';
import * as v6 from 'ai-v6';

type Ai = typeof v7;
// The newest types are used for all three, since the page uses only what each version has.
const versions: Record<string, Ai> = { 5: v5 as unknown as Ai, 6: v6 as unknown as Ai, 7: v7 };

/** What a user has seen of a chat. */
export interface Seen {
  readonly texts: readonly string[];
  readonly statuses: readonly string[];
  /** How often the last message changed while it was streamed. */
  readonly updates: number;
  readonly error: string | undefined;
}

/** Sends these messages in order. With `stopAt`, stops a reply once it has this many characters. */
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
