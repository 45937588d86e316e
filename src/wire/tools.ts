import * as z from 'zod/mini';
import { count, exact, openEnum, wireObject } from '../validation/fields.js';

/** A call of a tool, in a reply and in the messages of the next request. */
export interface ToolCall {
  id: string;
  type: 'function' | (string & {});
  function: {
    name: string;
    /** JSON, as the model wrote it: it may be invalid. */
    arguments: string;
  };
}

/** What a chunk adds to a tool call. */
export type ToolCallDelta = {
  /** The position of the tool call. A chunk that you read has it, even if the service omits it. */
  index?: number | undefined;
  id?: string | null | undefined;
  type?: 'function' | (string & {}) | null | undefined;
  function?: { name?: string | null | undefined; arguments?: string | null | undefined } | null | undefined;
};

/** A function that the model may call. */
export interface FunctionTool {
  type: 'function';
  function: {
    name: string;
    description?: string | undefined;
    /** A JSON Schema of the arguments. `tool()` makes it of the schema of a library, such as zod. */
    parameters?: object | undefined;
    /** Whether the arguments must match `parameters` exactly. */
    strict?: boolean | undefined;
  };
}

/** Whether the model calls a tool, or which one. */
export type ToolChoice = 'none' | 'auto' | 'required' | { type: 'function'; function: { name: string } };

export const toolCallSchema = exact<ToolCall>()(
  wireObject({
    id: z.string(),
    type: openEnum<'function'>(),
    function: wireObject({ name: z.string(), arguments: z.string() }),
  }),
);

const word = z.optional(z.nullable(z.string()));
export const toolCallDeltaSchema = exact<ToolCallDelta>()(
  wireObject({
    index: z.optional(count),
    id: word,
    type: z.optional(z.nullable(openEnum<'function'>())),
    function: z.optional(z.nullable(wireObject({ name: word, arguments: word }))),
  }),
);
