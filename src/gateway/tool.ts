import { isObject } from '../base/objects.js';
import { ConfigurationError } from '../errors/base.js';
import type { StandardSchema } from '../validation/validate.js';
import type { FunctionTool, ToolCall } from '../wire/tools.js';

/** What a tool gets beside its arguments. */
export interface ToolContext {
  /** Aborts when the turn is stopped, or over its deadline. */
  signal: AbortSignal;
  toolCallId: string;
}

/** A function that a model may call, for `tool`. */
export interface ToolDefinition<Args> {
  /** Letters, digits, `_` and `-`. */
  name: string;
  /** What it does, and when to call it. */
  description?: string | undefined;
  /** The arguments: a [Standard Schema](https://standardschema.dev) that has a JSON Schema, such as one of zod, or a JSON Schema. */
  parameters?: StandardSchema<Args> | object | undefined;
  /** The same as `parameters`, which the AI SDK and MCP call so. */
  inputSchema?: StandardSchema<Args> | object | undefined;
  /** Checks and types the arguments, beside a JSON Schema as `parameters`. */
  schema?: StandardSchema<Args> | undefined;
  /** Whether the model must write arguments that match exactly. Not every service knows it. */
  strict?: boolean | undefined;
  /**
   * Runs a call. The model reads a returned text unchanged, anything else as JSON, and the message of an error that it throws. Without
   * `execute`, calls wait for your app.
   */
  execute?: ((args: Args, context: ToolContext) => unknown) | undefined;
}

/** A function that a model may call. Its JSON is a `FunctionTool`. */
export interface Tool extends FunctionTool {
  /** @internal Runs a call. Never rejects. */
  readonly run?: ((call: ToolCall, signal: AbortSignal) => Promise<ToolResult>) | undefined;
}

/** What became of a call. */
interface ToolResult {
  /** What the model reads. */
  text: string;
  /** Why it failed. */
  error?: unknown;
}

type WithJsonSchema = { '~standard': { jsonSchema?: { input(options: { target: string }): object } } };

/**
 * Defines a function that a model may call, for the `tools` of a conversation, which runs it, and of `chat.completions.create`.
 *
 * @throws {ConfigurationError} when the name is not one, or `parameters` has no JSON Schema
 *
 * @example
 * ```ts
 * import { tool } from 'context-gateway';
 * import { z } from 'zod';
 * const tide = tool({
 *   name: 'tide',
 *   description: 'When high tide is in a harbour',
 *   parameters: z.object({ harbour: z.string() }),
 *   execute: ({ harbour }) => `High tide in ${harbour} is at noon.`,
 * });
 * ```
 */
export function tool<Args = Record<string, unknown>>(
  definition: ToolDefinition<Args> & ({ parameters: StandardSchema<Args> } | { inputSchema: StandardSchema<Args> }),
): Tool;
export function tool<Args = Record<string, unknown>>(definition: ToolDefinition<Args>): Tool;
export function tool<Args>(definition: ToolDefinition<Args>): Tool {
  const given = Object(definition) as ToolDefinition<Args>;
  const { name, description, inputSchema, parameters = inputSchema, strict, execute } = given;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
    throw new ConfigurationError('tool takes a name of 1 to 64 letters, digits, _ and -.');
  if (execute !== undefined && typeof execute !== 'function')
    throw new ConfigurationError(`The execute of the tool ${name} must be a function.`);
  const schema = given.schema ?? (isStandard(parameters) ? parameters : undefined);
  const json = jsonSchemaOf(name, parameters);
  const described = {
    name,
    ...(description !== undefined && { description }),
    ...(json !== undefined && { parameters: json }),
    ...(strict !== undefined && { strict }),
  };
  const run =
    execute &&
    ((call: ToolCall, signal: AbortSignal) => resultOf(call, signal, execute, schema as StandardSchema<Args>));
  // Not among what is sent, or printed.
  return Object.defineProperty({ type: 'function' as const, function: described }, 'run', { value: run });
}

function isStandard(value: unknown): value is StandardSchema<never> & WithJsonSchema {
  return Object(Object(value)['~standard']).validate !== undefined;
}

function jsonSchemaOf(name: string, parameters: unknown): object | undefined {
  if (parameters === undefined) return undefined;
  if (!isStandard(parameters)) {
    if (isObject(parameters)) return parameters;
    throw new ConfigurationError(`The parameters of the tool ${name} must be a schema.`);
  }
  const { $schema: _, ...json } = Object(parameters['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }));
  if (Object.keys(json).length > 0) return json;
  throw new ConfigurationError(
    `The schema of the tool ${name} has no JSON Schema. Pass both: { parameters: z.toJSONSchema(schema), schema }.`,
  );
}

/** Runs a call. What fails is a result that says so: the model can try again. */
async function resultOf<Args>(
  { id, function: { arguments: text } }: ToolCall,
  signal: AbortSignal,
  execute: (args: Args, context: ToolContext) => unknown,
  schema: StandardSchema<Args> | undefined,
): Promise<ToolResult> {
  try {
    const args: unknown = JSON.parse(text.trim() || '{}');
    const checked = await schema?.['~standard'].validate(args);
    if (checked?.issues) throw new TypeError(`the arguments do not match: ${checked.issues.map(issueOf).join('; ')}`);
    const result = await execute((checked === undefined ? args : await checked.value) as Args, {
      signal,
      toolCallId: id,
    });
    return { text: textOf(result) ?? 'Done.' };
  } catch (error) {
    const { message = error } = Object(error) as { message?: unknown };
    return { text: `Error: ${textOf(message) ?? String(message)}`, error };
  }
}

/** As a model reads it. What a tool returns after its work is no error, whatever it is. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one));
  } catch {
    return 'This cannot be written as JSON.';
  }
}

function issueOf({ path = [], message }: { path?: readonly unknown[] | undefined; message: string }): string {
  const steps = path.map((step) => Object(step).key ?? step);
  return steps.length === 0 ? message : `${steps.join('.')}: ${message}`;
}
