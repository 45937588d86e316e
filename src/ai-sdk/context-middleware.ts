import { speakerOf } from '../base/speaker.js';
import { streamOf } from '../base/stream-of.js';
import { toWellFormed } from '../base/unicode.js';
import type { Conversation, ConversationMessage, PreparedTurn } from '../conversation/index.js';
import type { CompletionUsage } from '../index.js';
import type { PromptMessage, PromptPart } from './specification.js';

/** The used part of a call, the same in every version of the AI SDK. */
type Params = {
  prompt: PromptMessage[];
  maxOutputTokens?: number | undefined;
  abortSignal?: AbortSignal | undefined;
  tools?: readonly { name: string }[] | undefined;
};

/** What a call returns, and what it was sent. */
type Generated<Result> = { doGenerate: () => PromiseLike<Result>; params?: Params | undefined };
type Streamed<Result> = { doStream: () => PromiseLike<Result>; params?: Params | undefined };

const LEFT_OUT = { type: 'text', value: '[This result was left out, because the prompt became too long.]' };

/**
 * Keeps the prompts of any AI SDK model within its window, with the context of a conversation and earlier messages that match
 * the input: `wrapLanguageModel({ model, middleware: contextMiddleware(conversation) })`.
 *
 * Pass all messages that your app has. The newest are sent unchanged. Older ones are searched for the words of the user's
 * last message, and the matches are added right before it. System messages come first, and then the context. To let the search
 * and the model know dates and names, set `providerOptions: { contextGateway: { createdAt, name } }` on each message. After
 * each reply, the conversation is compacted in the background if due. The messages are not stored.
 *
 * @example
 * ```ts
 * const svc = createAiSdkProvider(gateway);
 * const model = wrapLanguageModel({ model: svc('atlas-small'), middleware: contextMiddleware(conversation) });
 * ```
 */
export function contextMiddleware(conversation: Pick<Conversation, 'prepare'>) {
  /** By what was sent, because `params` may be copied. */
  const turns = new WeakMap<object, PreparedTurn>();
  /** Finishes a turn once, with the tokens of a response, or of the last part of a stream. */
  const finish = (params: Params | undefined, reported: object | undefined): void => {
    if (params === undefined) return;
    const turn = turns.get(params.prompt);
    turns.delete(params.prompt);
    turn?.finish({ content: '', usage: usageOf(params, reported) }).catch(() => {}); // of which onError is told
  };
  return {
    specificationVersion: 'v3' as const,

    async transformParams<P extends Params>({ params }: { params: P }): Promise<P> {
      const { prompt: given, abortSignal: signal, maxOutputTokens: max_tokens } = params;
      const tools = params.tools?.map((described) => ({ type: 'function' as const, function: described })); // counted
      const system = given.filter(({ role }) => role === 'system');
      const messages = given.filter(({ role }) => role !== 'system');
      const last = messages.findLastIndex(({ role }) => role === 'user');
      if (last < 0) return params;
      const instructions = system.map(textOf).join('\n\n');
      const history = messages.slice(0, last).map(asMessage);
      // With tools, other messages follow the user's last one. They belong to the input.
      let input = messages.slice(last);
      const prepare = async (): Promise<PreparedTurn> => {
        try {
          return await conversation.prepare(input.map(asMessage), { history, instructions, signal, max_tokens, tools });
        } catch (error) {
          // By its name: the class would bring the code of conversations to a page that has only the provider.
          const isTooLong = Object(error).name === 'ContextBudgetError';
          const shorter = isTooLong ? withoutOldestResult(input) : undefined;
          if (shorter === undefined) throw error;
          input = shorter;
          return prepare();
        }
      };
      const turn = await prepare();
      const { messages: sent, context, recalled, start } = turn;
      const newest = sent.slice(context ? 1 : 0, sent.length - input.length - (recalled ? 1 : 0));
      const prompt = [
        ...system,
        ...asPrompt(context?.content),
        ...asInPrompt(messages.slice(start, last), newest),
        ...asPrompt(recalled?.content),
        ...input.map(withSpeaker),
      ];
      turns.set(prompt, turn);
      return { ...params, prompt };
    },

    async wrapGenerate<Result extends object>({ doGenerate, params }: Generated<Result>): Promise<Result> {
      const result = await doGenerate();
      finish(params, result);
      return result;
    },

    async wrapStream<Result extends { stream: ReadableStream }>(call: Streamed<Result>): Promise<Result> {
      const result = await call.doStream();
      const reader = result.stream.getReader();
      let last: object | undefined;
      const end = (): void => finish(call.params, last);
      const next = async (): Promise<IteratorResult<unknown, undefined>> => {
        const step = await reader.read().catch((error) => {
          end();
          throw error;
        });
        if (step.done) end();
        else if (Object(step.value).type === 'finish') last = step.value;
        return step;
      };
      const stream = streamOf({ next }, (reason) => {
        end();
        return reader.cancel(reason);
      });
      return { ...result, stream };
    },
  };
}

/** The input without the oldest output of its tools, except those of the last step. `undefined` if none is left. */
function withoutOldestResult(input: readonly PromptMessage[]): PromptMessage[] | undefined {
  const newest = input.findLastIndex(({ role }) => role === 'tool');
  const oldest = input.findIndex((message) => message.role === 'tool' && partsOf(message).some(isWholeResult));
  if (oldest < 0 || oldest === newest) return undefined;
  return input.map((message, at) => (at === oldest ? withoutResults(message) : message));
}

function withoutResults(message: PromptMessage): PromptMessage {
  const content = partsOf(message).map((part) => (isWholeResult(part) ? { ...part, output: LEFT_OUT } : part));
  return { ...message, content };
}

function isWholeResult({ type, output }: PromptPart): boolean {
  return type === 'tool-result' && output !== LEFT_OUT;
}

/** A message for counting and searching. Only a message of the user begins a turn. */
function asMessage(message: PromptMessage): ConversationMessage {
  const options = (message.providerOptions?.contextGateway ?? {}) as Record<string, unknown>;
  const [name, createdAt] = [options.name, options.createdAt].map((value) =>
    typeof value === 'string' ? value : undefined,
  );
  return { role: message.role === 'user' ? 'user' : 'assistant', content: textOf(message), name, createdAt };
}

/**
 * The newest messages as they are sent. Those of a last turn that does not fit are shortened, and some of its replies are left
 * out: then the first message is its question, and the others are its newest replies.
 */
function asInPrompt(messages: readonly PromptMessage[], sent: readonly { content: string }[]): PromptMessage[] {
  const hasText = (message: PromptMessage): boolean => textOf(message).trim() !== '';
  const missing = messages.filter(hasText).length - sent.length;
  const texts = sent[0] === undefined ? [] : [sent[0], ...Array<undefined>(missing), ...sent.slice(1)];
  return messages.flatMap((message) => {
    const text = hasText(message) ? texts.shift()?.content : undefined;
    if (!hasText(message) || text?.endsWith(toWellFormed(textOf(message)))) return withSpeaker(message);
    return shortened(message, text);
  });
}

/** A message with another text, or without one. A call of a tool and its result stay together, without a text. */
function shortened(message: PromptMessage, text: string | undefined): PromptMessage[] {
  const parts = partsOf(message);
  const ofTools = parts.filter(({ type }) => type.startsWith('tool-'));
  if (ofTools.length > 0) return [withoutResults({ ...message, content: ofTools })];
  if (text === undefined) return [];
  const files = parts.filter(({ type }) => type !== 'text' && type !== 'reasoning');
  return [{ ...message, content: [{ type: 'text', text }, ...files] }];
}

/** The speaker in front of a user's message, as in what is recalled. */
function withSpeaker(message: PromptMessage): PromptMessage {
  const speaker = message.role === 'user' ? speakerOf(asMessage(message)) : undefined;
  if (speaker === undefined) return message;
  return { ...message, content: [{ type: 'text', text: `[${speaker}]` }, ...partsOf(message)] };
}

/** A message of the system is a text. */
function partsOf({ content }: PromptMessage): readonly PromptPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function textOf(message: PromptMessage): string {
  const textIn = (part: PromptPart): string => {
    if (part.type === 'text' || part.type === 'reasoning') return String(part.text);
    return part.type === 'file' ? '[file]' : JSON.stringify(part, (_, value) => (isFile(value) ? '[file]' : value));
  };
  return partsOf(message).map(textIn).join('\n');
}

/** A file in the output of a tool. Its length as text says nothing of its tokens. */
function isFile(value: unknown): boolean {
  const { data, mediaType } = Object(value) as { data?: unknown; mediaType?: unknown };
  return typeof mediaType === 'string' && data !== undefined;
}

function asPrompt(text: string | undefined): PromptMessage[] {
  return text === undefined ? [] : [{ role: 'user', content: [{ type: 'text', text }] }];
}

/**
 * The reported tokens. `undefined` if none were, or if they are also those of tools and files, whose length as text says nothing of
 * them.
 */
function usageOf({ tools = [], prompt }: Params, reported: object | undefined): CompletionUsage | undefined {
  const { inputTokens } = Object((reported as { usage?: unknown } | undefined)?.usage) as { inputTokens?: unknown };
  // A number in `ai` 5.
  const total: unknown = typeof inputTokens === 'number' ? inputTokens : Object(inputTokens).total;
  const isText = prompt.flatMap(partsOf).every(({ type }) => type === 'text');
  if (typeof total !== 'number' || tools.length > 0 || !isText) return undefined;
  return { prompt_tokens: total, completion_tokens: 0, total_tokens: total };
}
