import type { ChatCompletionChunk } from 'context-gateway';
import { expect, test } from 'vitest';
import { ToolInputs } from '../../src/ai-sdk/tool-inputs.js';

/** An id that we make up. */
const MADE = expect.stringMatching(/^call_\w{4,}$/);
const call = (id: string, name: string, input: string) => [
  { type: 'tool-input-end', id },
  { type: 'tool-call', toolCallId: id, toolName: name, input },
];
const start = (id: string, toolName: string) => ({ type: 'tool-input-start', id, toolName });
const delta = (id: string, text: string) => ({ type: 'tool-input-delta', id, delta: text });

test.each<{
  because: string;
  deltas: NonNullable<ChatCompletionChunk['choices'][number]['delta']['tool_calls']>;
  parts: object[];
}>([
  {
    because: 'some input comes before the name',
    deltas: [
      { index: 0, id: 'c1', function: { arguments: '{"a"' } },
      { index: 0, function: { name: 'tide', arguments: ':1' } },
      { index: 0, function: { arguments: '}' } },
    ],
    parts: [start('c1', 'tide'), delta('c1', '{"a":1'), delta('c1', '}'), ...call('c1', 'tide', '{"a":1}')],
  },
  {
    because: 'two calls come in turn, and each piece belongs to its index',
    deltas: [
      { index: 0, id: 'c1', function: { name: 'a', arguments: '{' } },
      { index: 1, id: 'c2', function: { name: 'b', arguments: '[' } },
      { index: 0, function: { arguments: '}' } },
    ],
    parts: [
      ...[start('c1', 'a'), delta('c1', '{'), start('c2', 'b'), delta('c2', '['), delta('c1', '}')],
      ...[...call('c1', 'a', '{}'), ...call('c2', 'b', '[')],
    ],
  },
  {
    because: 'the id, the name in pieces and the input come one by one, and a call without input has an empty object',
    deltas: [
      { index: 0, id: 'c1', function: { name: 'a', arguments: '' } },
      { index: 1, id: 'c2', function: null },
      { index: 1, function: { name: 'wind_' } },
      { index: 1, function: { name: 'speed' } },
      { index: 1, id: null, function: { arguments: '[]' } },
    ],
    parts: [
      ...[start('c2', 'wind_speed'), delta('c2', '[]'), start('c1', 'a')],
      ...[...call('c1', 'a', '{}'), ...call('c2', 'wind_speed', '[]')],
    ],
  },
  {
    because: 'they have no id, or an empty one',
    deltas: [
      { index: 0, function: { name: 'a', arguments: '{"x":' } },
      { index: 0, function: { arguments: '1}' } },
      { index: 1, id: '', function: { name: 'b', arguments: '' } },
    ],
    parts: [
      ...[start(MADE, 'a'), delta(MADE, '{"x":1}'), ...call(MADE, 'a', '{"x":1}')],
      ...[start(MADE, 'b'), ...call(MADE, 'b', '{}')],
    ],
  },
])('tool calls become parts when $because', ({ deltas, parts }) => {
  const inputs = new ToolInputs();

  expect([...deltas.flatMap((one) => [...inputs.add([one])]), ...inputs.end()]).toEqual(parts);
});
