import { ResponseValidationError, type ToolCallDelta } from '../index.js';

/** The parts of a stream about calls of tools, the same in every version of the AI SDK. */
type ToolPart =
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string };

interface ToolInput {
  id: string;
  name: string;
  input: string;
  started: boolean;
}

/** Converts the pieces of tool calls to the AI SDK's parts. A call starts when its id and name are known. */
export class ToolInputs {
  readonly #calls = new Map<number, ToolInput>();

  *add(deltas: readonly ToolCallDelta[]): Generator<ToolPart, undefined> {
    for (const { index = this.#calls.size, id, function: part } of deltas) {
      const call = this.#calls.get(index) ?? { id: '', name: '', input: '', started: false };
      this.#calls.set(index, call);
      if (call.started) {
        call.input += part?.arguments ?? '';
        if (part?.arguments) yield { type: 'tool-input-delta', id: call.id, delta: part.arguments };
        continue;
      }
      call.id ||= id ?? '';
      call.name += part?.name ?? '';
      call.input += part?.arguments ?? '';
      call.started = call.id !== '' && call.name !== '';
      if (!call.started) continue;
      yield { type: 'tool-input-start', id: call.id, toolName: call.name };
      if (call.input !== '') yield { type: 'tool-input-delta', id: call.id, delta: call.input };
    }
  }

  /** @throws {ResponseValidationError} when a call never got its id or name */
  *end(): Generator<ToolPart, undefined> {
    for (const { id, name, input, started } of this.#calls.values()) {
      if (!started)
        throw new ResponseValidationError('A tool call of the stream has no id or no name.', { body: undefined });
      yield { type: 'tool-input-end', id };
      yield { type: 'tool-call', toolCallId: id, toolName: name, input: input === '' ? '{}' : input };
    }
  }
}
