import type { Conversation, MadeReply } from '../conversation/index.js';
import type { ChatMessage } from '../index.js';
import { ReplySoFar } from './reply-so-far.js';
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
  wrapGenerate<Result extends object>(call: { doGenerate: () => PromiseLike<Result>; params: Params }): Promise<Result>;
  wrapStream<Result extends { stream: ReadableStream }>(call: {
    doStream: () => PromiseLike<Result>;
    params: Params;
  }): Promise<Result>;
}

/**
 * Gives the context of a conversation to any model of the AI SDK, and keeps its replies:
 * `wrapLanguageModel({ model, middleware: contextMiddleware(conversation) })`.
 *
 * The context stands right after the instructions, chosen for the last question. When a reply is complete or was stopped, the
 * conversation takes it in, and is compacted in the background if due. The messages that the app gives are sent as they are: they
 * are not shortened here.
 */
export function contextMiddleware(conversation: Pick<Conversation, 'contextMessage' | 'record'>): ContextMiddleware {
  const keep = (params: Params, reply: MadeReply): void => {
    // In the background: a reply that is here must neither wait for it, nor fail with it.
    conversation.record(questionIn(params), reply).catch(() => {});
  };

  return {
    specificationVersion: 'v3',

    async transformParams({ params }) {
      const { prompt, abortSignal } = params;
      const context = await conversation.contextMessage(questionIn(params), { signal: abortSignal });
      return context === undefined ? params : { ...params, prompt: withContext(prompt, context) };
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const reply = new ReplySoFar();
      reply.addWhole(result);
      if (reply.isWorthKeeping) keep(params, reply.made());
      return result;
    },

    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const keepReply = (reply: ReplySoFar): void => {
        if (reply.isWorthKeeping) keep(params, reply.made());
      };
      return { ...result, stream: watched(result.stream, keepReply) };
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
function watched(stream: ReadableStream, onEnd: (reply: ReplySoFar) => void): ReadableStream {
  const reader = stream.getReader();
  const reply = new ReplySoFar();
  let hasEnded = false;
  const end = (): void => {
    if (!hasEnded) onEnd(reply);
    hasEnded = true;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) reply.add(value);
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
