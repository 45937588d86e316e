import { streamOf } from '../base/stream-of.js';
import { CharacterJoiner } from '../base/unicode.js';
import {
  APIAbortError,
  type ChatCompletionChunk,
  type ChatCompletionStream,
  type CompletionUsage,
  StreamTruncatedError,
} from '../index.js';
import { DIALECTS } from './dialect.js';
import { providerMetadataOf, reasoningIn, responseMetadataOf } from './response.js';
import type { Specification, StreamPart, Warning } from './specification.js';
import { ToolInputs } from './tool-inputs.js';

/** Options of `toPartStream`. */
export interface StreamPartOptions<Version extends Specification> {
  readonly specification: Version;
  readonly warnings: Warning<Version>[];
  readonly includeRawChunks: boolean | undefined;
}

/** The ids of the response's only text, and of its only reasoning. */
const TEXT = { id: '0' };
const REASONING = { id: 'reasoning' };

/** Converts a streamed completion to the AI SDK's parts. Reads only on demand. Cancelling it ends the request. */
export function toPartStream<Version extends Specification>(
  completion: ChatCompletionStream,
  options: StreamPartOptions<Version>,
): ReadableStream<StreamPart<Version>> {
  return streamOf(partsOf(completion, options), () => completion.close());
}

async function* partsOf<Version extends Specification>(
  completion: ChatCompletionStream,
  { specification, warnings, includeRawChunks }: StreamPartOptions<Version>,
): AsyncGenerator<StreamPart<Version>, undefined> {
  let [hasMetadata, hasText, hasFailed, isReasoning] = [false, false, false, false];
  const pieces = new CharacterJoiner();
  const tools = new ToolInputs();
  let usage: CompletionUsage | null | undefined;
  let reason: string | undefined;
  yield { type: 'stream-start', warnings };
  try {
    for await (const chunk of completion) {
      if (includeRawChunks) yield { type: 'raw', rawValue: chunk };
      if (!hasMetadata) yield { type: 'response-metadata', ...responseMetadataOf(chunk) };
      hasMetadata = true;
      const { content, reasoning, toolCalls, finishReason } = firstChoice(chunk);
      if (reasoning !== '') {
        if (!isReasoning) yield { type: 'reasoning-start', ...REASONING };
        yield { type: 'reasoning-delta', ...REASONING, delta: reasoning };
        isReasoning = true;
      }
      if (isReasoning && (content !== '' || toolCalls.length > 0)) {
        yield { type: 'reasoning-end', ...REASONING };
        isReasoning = false;
      }
      const text = pieces.add(content);
      if (text && !hasText) yield { type: 'text-start', ...TEXT };
      if (text) yield { type: 'text-delta', ...TEXT, delta: text };
      hasText ||= text !== '';
      yield* tools.add(toolCalls);
      reason = finishReason || reason;
      usage = chunk.usage ?? usage;
    }
    if (reason === undefined) throw new StreamTruncatedError('The stream ended without a finish_reason.');
    yield* tools.end();
  } catch (error) {
    if (APIAbortError.is(error)) throw error; // the AI SDK distinguishes its user's own abort from an error
    hasFailed = true;
    yield { type: 'error', error };
  }
  if (isReasoning) yield { type: 'reasoning-end', ...REASONING };
  const rest = pieces.end();
  if (rest && !hasText) yield { type: 'text-start', ...TEXT };
  if (rest) yield { type: 'text-delta', ...TEXT, delta: rest };
  if (rest || hasText) yield { type: 'text-end', ...TEXT };
  const dialect = DIALECTS[specification];
  yield {
    type: 'finish',
    finishReason: dialect.finishReason(reason, hasFailed),
    usage: dialect.usage(usage),
    ...providerMetadataOf(completion.response),
  };
}

function firstChoice({ choices }: ChatCompletionChunk) {
  const choice = choices.find(({ index }) => index === 0);
  return {
    content: choice?.delta.content ?? '',
    reasoning: reasoningIn(choice?.delta),
    toolCalls: choice?.delta.tool_calls ?? [],
    finishReason: choice?.finish_reason,
  };
}
