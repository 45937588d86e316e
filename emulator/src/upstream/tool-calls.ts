import * as z from 'zod/mini';
import { described, exact, id, label, text } from '../base/fields.js';

/** A tool call of a model. The API does not document them; they have OpenAI's form. */
export interface ToolCall {
  id: string;
  type: string;
  function: {
    name: string;
    /** JSON. */
    arguments: string;
  };
}

/** A tool call in a scripted reply. */
export interface ScriptedToolCall {
  /** @default a new id */
  id?: string | undefined;
  function: {
    name: string;
    /** JSON, or a value to send as JSON. @default {} */
    arguments?: unknown;
  };
}

export const scriptedToolCall = exact<ScriptedToolCall>()(
  z.object({
    id: z.optional(id),
    function: z.object({
      name: text,
      arguments: z.optional(described('JSON, or a value to send as JSON.', z.unknown())),
    }),
  }),
);

/** What an event of a stream adds to tool calls. */
export interface ToolCallPieces {
  tool_calls: ToolCallPiece[];
}

type ToolCallPiece = z.infer<typeof toolCallPieceSchema>;

const word = z.optional(z.nullable(z.string()));
const name = z.optional(z.nullable(label));
export const toolCallPieceSchema = z.object({
  index: z.int().check(z.gte(0)),
  id: name,
  type: name,
  function: z.optional(z.nullable(z.object({ name: word, arguments: word }))),
});

/** A piece of a reply: text, or parts of tool calls. */
export type ReplyPiece = string | ToolCallPieces;

/** The text and the tool calls of a reply. */
export function joinPieces(pieces: Iterable<ReplyPiece>): { content: string; toolCalls: ToolCall[] } {
  let content = '';
  const calls = new Map<number, ToolCall>();
  for (const piece of pieces) {
    if (typeof piece === 'string') content += piece;
    else for (const one of piece.tool_calls) addPiece(calls, one);
  }
  return { content, toolCalls: [...calls].sort(([a], [b]) => a - b).map(([, call]) => call) };
}

function addPiece(calls: Map<number, ToolCall>, { index, id, type, function: part }: ToolCallPiece): void {
  const call = calls.get(index) ?? { id: '', type: 'function', function: { name: '', arguments: '' } };
  calls.set(index, call);
  if (id) call.id = id;
  if (type) call.type = type;
  call.function.name += part?.name ?? '';
  call.function.arguments += part?.arguments ?? '';
}

/** Whole tool calls as one piece of a stream. */
export function asPiece(calls: readonly ToolCall[]): ToolCallPieces {
  return { tool_calls: calls.map((call, index) => ({ index, ...call })) };
}

/** The text that counts as the tokens of tool calls. */
export function countedText(calls: readonly ToolCall[]): string {
  return calls.map(({ function: { name, arguments: text } }) => `${name}(${text})`).join('\n');
}
