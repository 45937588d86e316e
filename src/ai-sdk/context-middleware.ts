import type { Conversation } from '../conversation/index.js';
import type { ChatMessage } from '../index.js';
import type { PromptMessage } from './specification.js';

/** A call of any version of the AI SDK, as far as this looks at it. */
interface Params {
  prompt: PromptMessage[];
  abortSignal?: AbortSignal | undefined;
}

/** A middleware for `wrapLanguageModel` of `ai` 5, 6 and 7. */
export interface ContextMiddleware {
  readonly specificationVersion: 'v3';
  transformParams<P extends Params>(call: { params: P }): Promise<P>;
  wrapGenerate<Result extends object>(call: { doGenerate: () => PromiseLike<Result> }): Promise<Result>;
  wrapStream<Result extends { stream: ReadableStream }>(call: { doStream: () => PromiseLike<Result> }): Promise<Result>;
}

/**
 * Gives the context of a conversation to any model of the AI SDK:
 * `wrapLanguageModel({ model, middleware: contextMiddleware(conversation) })`.
 *
 * The context stands right after the instructions, chosen for the last question, and takes `contextShare` of the window at most.
 * After each reply the conversation is compacted in the background if due. The messages are the app's: they are sent as they are,
 * not shortened, and not kept.
 */
export function contextMiddleware(
  conversation: Pick<Conversation, 'contextMessage' | 'compactWhenDue'>,
): ContextMiddleware {
  return {
    specificationVersion: 'v3',

    async transformParams({ params }) {
      const { prompt, abortSignal } = params;
      const context = await conversation.contextMessage(questionIn(params), { signal: abortSignal });
      return context === undefined ? params : { ...params, prompt: withContext(prompt, context) };
    },

    async wrapGenerate({ doGenerate }) {
      const result = await doGenerate();
      conversation.compactWhenDue();
      return result;
    },

    async wrapStream({ doStream }) {
      const result = await doStream();
      return { ...result, stream: watched(result.stream, () => conversation.compactWhenDue()) };
    },
  };
}

/** The last message of the user. With tools, it is some messages back. */
function questionIn({ prompt }: Params): string {
  const content = prompt.findLast(({ role }) => role === 'user')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])).join('\n');
}

/** After the instructions, or as a part of them where the conversation says so. */
function withContext(prompt: readonly PromptMessage[], { role, content }: ChatMessage): PromptMessage[] {
  const first = prompt.findIndex((message) => message.role !== 'system');
  const at = first === -1 ? prompt.length : first;
  const rest = prompt.slice(at);
  if (role !== 'system') return [...prompt.slice(0, at), { role, content: [{ type: 'text', text: content }] }, ...rest];
  const instructions = [...prompt.slice(0, at).map((message) => message.content), content];
  return [{ role, content: instructions.join('\n\n') }, ...rest];
}

/** The same stream, whose end is told once: complete, broken off, or left by its reader. */
function watched(stream: ReadableStream, onEnd: () => void): ReadableStream {
  const reader = stream.getReader();
  let hasEnded = false;
  const end = (): void => {
    if (!hasEnded) onEnd();
    hasEnded = true;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
          if (done) end();
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
