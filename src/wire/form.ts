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

/** A form of completions: the types of what is sent and read, and the schemas that check it. */
export interface CompletionForm<Types extends ExtendedTypes = CompletionTypes> {
  /** Whether it sends and reads what the API does not document. */
  readonly isExtended: boolean;
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

/** The form that the API documents. */
export const documented: CompletionForm = {
  isExtended: false,
  params: chatCompletionParamsSchema,
  completion: chatCompletionSchema,
  chunk: chatCompletionChunkSchema,
  complete: (received) => received as ChatCompletion, // checked, or reported and returned as it is
  assemble: (completion) => completion,
};
