import { newToolCallId } from '../base/tool-call-id.js';
import { type ChatCompletionChunk, ResponseValidationError } from '../index.js';
import type { ToolPart } from './specification.js';

/** Converts the pieces of tool calls to the AI SDK's parts. A call starts with its input: its name may come in pieces. */
export class ToolInputs {
  readonly #calls = new Map<number, { id: string; name: string; input: string; started: boolean }>();

  *add(deltas: NonNullable<ChatCompletionChunk['choices'][number]['delta']['tool_calls']>): Generator<ToolPart> {
    for (const { index = 0, id, function: part } of deltas) {
      const call = this.#calls.get(index) ?? { id: '', name: '', input: '', started: false };
      this.#calls.set(index, call);
      call.id ||= id ?? '';
      call.name += part?.name ?? '';
      call.input += part?.arguments ?? '';
      if (call.id === '' || call.name === '' || !part?.arguments) continue;
      if (!call.started) yield { type: 'tool-input-start', id: call.id, toolName: call.name };
      yield { type: 'tool-input-delta', id: call.id, delta: call.started ? part.arguments : call.input };
      call.started = true;
    }
  }

  /** @throws {ResponseValidationError} when a call never got its name */
  *end(): Generator<ToolPart> {
    for (const call of this.#calls.values()) {
      const { name, input, started } = call;
      if (name === '') throw new ResponseValidationError('A tool call of the stream has no name.', { body: undefined });
      const id = call.id || newToolCallId();
      if (!started) yield { type: 'tool-input-start', id, toolName: name };
      if (call.id === '' && input !== '') yield { type: 'tool-input-delta', id, delta: input };
      yield { type: 'tool-input-end', id };
      yield { type: 'tool-call', toolCallId: id, toolName: name, input: input === '' ? '{}' : input };
    }
  }
}
