import { streamOf } from '../base/stream-of.js';
import { CharacterJoiner } from '../base/unicode.js';
import { APIAbortError, type ChatCompletionStream, type CompletionUsage, StreamTruncatedError } from '../index.js';
import type { Dialect } from './dialect.js';
import { providerMetadataOf, reasoningIn, responseMetadataOf } from './response.js';
import type { Specification, StreamPart, Warning } from './specification.js';
import { ToolInputs } from './tool-inputs.js';

/** The ids of the response's only text, and of its only reasoning. */
const TEXT = { id: '0' };
const REASONING = { id: 'reasoning' };

/** Converts a streamed completion to the AI SDK's parts. Reads only on demand. Cancelling it ends the request. */
export function toPartStream<Version extends Specification>(
  completion: ChatCompletionStream,
  dialect: Dialect<Version>,
  warnings: Warning<Version>[],
  includeRawChunks = false,
): ReadableStream<StreamPart<Version>> {
  return streamOf(partsOf(completion, dialect, warnings, includeRawChunks), () => completion.close());
}

async function* partsOf<Version extends Specification>(
  completion: ChatCompletionStream,
  dialect: Dialect<Version>,
  warnings: Warning<Version>[],
  includeRawChunks: boolean,
): AsyncGenerator<StreamPart<Version>, undefined> {
  let [hasMetadata, hasText, hasFailed, isReasoning] = [false, false, false, false];
  const pieces = new CharacterJoiner();
  const tools = new ToolInputs();
  let usage: CompletionUsage | null | undefined;
  let reason: string | undefined;
  const textParts = function* (delta: string): Generator<StreamPart<Version>> {
    if (delta === '') return;
    if (!hasText) yield { type: 'text-start', ...TEXT };
    hasText = true;
    yield { type: 'text-delta', ...TEXT, delta };
  };
  yield { type: 'stream-start', warnings };
  try {
    for await (const chunk of completion) {
      if (includeRawChunks) yield { type: 'raw', rawValue: chunk };
      if (!hasMetadata) yield { type: 'response-metadata', ...responseMetadataOf(chunk) };
      hasMetadata = true;
      const { delta, finish_reason } = chunk.choices.find(({ index }) => index === 0) ?? {};
      const [content, toolCalls, reasoning] = [delta?.content ?? '', delta?.tool_calls ?? [], reasoningIn(delta)];
      if (reasoning !== '') {
        if (!isReasoning) yield { type: 'reasoning-start', ...REASONING };
        yield { type: 'reasoning-delta', ...REASONING, delta: reasoning };
        isReasoning = true;
      }
      if (isReasoning && (content !== '' || toolCalls.length > 0)) {
        yield { type: 'reasoning-end', ...REASONING };
        isReasoning = false;
      }
      yield* textParts(pieces.add(content));
      yield* tools.add(toolCalls);
      reason = finish_reason || reason;
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
  yield* textParts(pieces.end());
  if (hasText) yield { type: 'text-end', ...TEXT };
  yield {
    type: 'finish',
    finishReason: dialect.finishReason(reason, hasFailed),
    usage: dialect.usage(usage),
    ...providerMetadataOf(completion.response),
  };
}
