import type { Conversation } from '../conversation/index.js';
import type { ChatMessage } from '../index.js';
import type { PromptMessage } from './specification.js';

/** The used part of a call, the same in every version of the AI SDK. */
interface Params {
  prompt: PromptMessage[];
  abortSignal?: AbortSignal | undefined;
}

/** Middleware for `wrapLanguageModel` of `ai` 5, 6 and 7. */
export interface ContextMiddleware {
  readonly specificationVersion: 'v3';
  transformParams<P extends Params>(call: { params: P }): Promise<P>;
  wrapGenerate<Result extends object>(call: { doGenerate: () => PromiseLike<Result> }): Promise<Result>;
  wrapStream<Result extends { stream: ReadableStream }>(call: { doStream: () => PromiseLike<Result> }): Promise<Result>;
}

/**
 * Adds the context of a conversation to the prompts of any AI SDK model:
 * `wrapLanguageModel({ model, middleware: contextMiddleware(conversation) })`.
 *
 * The context is selected for the last question, placed right after the instructions, and takes at most `contextShare`
 * of the window. After each reply, the conversation is compacted in the background if due. Your app manages the
 * messages: they are sent unchanged, not shortened, and not stored.
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

/** The user's last message. With tools, other messages may follow it. */
function questionIn({ prompt }: Params): string {
  const content = prompt.findLast(({ role }) => role === 'user')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])).join('\n');
}

/** Inserts the context after the instructions, or appends it to them with the placement `system`. */
function withContext(prompt: readonly PromptMessage[], { role, content }: ChatMessage): PromptMessage[] {
  const first = prompt.findIndex((message) => message.role !== 'system');
  const at = first === -1 ? prompt.length : first;
  const rest = prompt.slice(at);
  if (role !== 'system') return [...prompt.slice(0, at), { role, content: [{ type: 'text', text: content }] }, ...rest];
  const instructions = [...prompt.slice(0, at).map((message) => message.content), content];
  return [{ role, content: instructions.join('\n\n') }, ...rest];
}

/** Wraps a stream. Calls `onEnd` once, when the stream completes, fails, or is cancelled by its reader. */
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
