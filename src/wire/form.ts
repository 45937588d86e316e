import type { AnySchema, Schema } from '../validation/schema-issues.js';
import {
  type ChatCompletion,
  type ChatCompletionChunk,
  type ChatCompletionDelta,
  type ChatCompletionParams,
  type ChatMessage,
  chatCompletionChunkSchema,
  chatCompletionParamsSchema,
  chatCompletionSchema,
  type StreamedChatCompletion,
} from './completions.js';
import type { ExtendedChatCompletionDelta, ExtendedChatCompletionParams, ExtendedReply } from './extended-types.js';

/** The types of completions: as the API documents them, or with other arguments, replies and pieces of replies. */
export interface CompletionTypes<Params = ChatCompletionParams, Reply = ChatMessage, Delta = ChatCompletionDelta> {
  params: Params;
  completion: ChatCompletion<Reply>;
  chunk: ChatCompletionChunk<Delta>;
  streamed: StreamedChatCompletion<Reply>;
}

/** The types of completions with what the API does not document: those of a client with `completions: extended`. */
export type ExtendedTypes = CompletionTypes<ExtendedChatCompletionParams, ExtendedReply, ExtendedChatCompletionDelta>;

/** One server-sent event. */
export interface ServerSentEvent {
  /** The `event` field, if present. */
  readonly event?: string | undefined;
  readonly data: string;
}

/**
 * Decodes a stream event into a chunk, for services whose events have another form. Return `'done'` to end the
 * completion, `undefined` to skip the event. Not called for `[DONE]` and `event: error`. If it throws, the stream ends
 * with a `ResponseValidationError` whose `cause` is the error.
 */
export type DecodeChunk<Chunk = ChatCompletionChunk> = (event: ServerSentEvent) => Chunk | 'done' | undefined;

/**
 * A form of completions: the types of what is sent and read, and the schemas that check it. There are two, `documented`
 * and `extended`; a copy with `decodeChunk` reads streams in a form of your own.
 */
export interface CompletionForm<Types extends ExtendedTypes = CompletionTypes> {
  /** Whether it sends and reads what the API does not document. */
  readonly isExtended: boolean;
  /** How events are decoded. @default as chunks of the form `chat.completion.chunk` */
  readonly decodeChunk?: DecodeChunk<Types['chunk']> | undefined;
  /** Only for TypeScript, which reads the types of a copy from it. No form has this field. */
  readonly types?: Types | undefined;
  /** @internal */
  readonly params: Schema<object>;
  /** @internal */
  readonly completion: AnySchema;
  /** @internal */
  readonly chunk: Schema<Types['chunk']>;
  /**
   * A completion that its schema has checked.
   * @internal
   */
  complete(received: unknown): Types['completion'];
  /**
   * A completion assembled from a stream. `check` checks a part of it.
   * @internal
   */
  assemble(completion: StreamedChatCompletion, check: (schema: AnySchema, value: unknown) => void): Types['streamed'];
}

/**
 * The form of completions that the API documents: the default of a client. It is a value so that you can copy it with a
 * `decodeChunk`, for a service whose stream events have another form.
 *
 * @example
 * ```ts
 * import { documented, GatewayClient } from 'context-gateway';
 * const gateway = new GatewayClient({
 *   completions: {
 *     ...documented,
 *     decodeChunk: ({ data }) => {
 *       const { text, end } = JSON.parse(data);
 *       return { choices: [{ index: 0, delta: { content: text }, finish_reason: end ? 'stop' : null }] };
 *     },
 *   },
 * });
 * ```
 */
export const documented: CompletionForm = {
  isExtended: false,
  params: chatCompletionParamsSchema,
  completion: chatCompletionSchema,
  chunk: chatCompletionChunkSchema,
  complete: (received) => received as ChatCompletion, // checked, or reported and returned as it is
  assemble: (completion) => completion,
};
