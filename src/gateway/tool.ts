import { isObject } from '../base/objects.js';
import { type Call, type ToolResult, type ToolWork, WORK } from '../base/tool-work.js';
import { ConfigurationError } from '../errors/base.js';
import { isStandardSchema, type StandardSchema } from '../validation/validate.js';
import type { FunctionTool } from '../wire/tools.js';

/** What a tool gets beside its arguments. */
export interface ToolContext {
  /** Aborts when the turn is stopped, or over its deadline. */
  signal: AbortSignal;
  toolCallId: string;
}

/** An object in the form of JSON Schema. */
type JsonSchema =
  | { readonly [keyword: string]: unknown; readonly '~standard'?: undefined }
  | (object & { readonly '~standard'?: undefined });

/** A function that a model may call, for `tool`. */
export type ToolDefinition<Args> = {
  /** Letters, digits, `_` and `-`. */
  name: string;
  /** What it does, and when to call it. */
  description?: string | undefined;
  /** The arguments: a [Standard Schema](https://standardschema.dev) that has a JSON Schema, such as one of zod, or a JSON Schema. */
  parameters?: StandardSchema<Args> | JsonSchema | undefined;
  /** The same as `parameters`, which the AI SDK and MCP call so. */
  inputSchema?: StandardSchema<Args> | JsonSchema | undefined;
  /** Checks and types the arguments, beside a JSON Schema as `parameters`. */
  schema?: StandardSchema<Args> | undefined;
  /** Whether the model must write arguments that match exactly. Not every service knows it. */
  strict?: boolean | undefined;
  /**
   * Runs a call. The model reads a returned text unchanged, anything else as JSON, and the message of an error that it throws, which
   * `onError` of the conversation gets, too. It must not wait for a turn or an `add` of its own
   * conversation, which wait for this turn. Without `execute`, calls wait for your app.
   */
  execute?: ((args: Args, context: ToolContext) => unknown) | undefined;
};

/** A function that a model may call. Its JSON is a `FunctionTool`. */
export interface Tool extends FunctionTool {
  /** @internal */
  readonly [WORK]?: ToolWork;
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
export function tool<Args = Record<string, unknown>>(definition: ToolDefinition<Args>): Tool {
  const given = Object(definition) as ToolDefinition<Args>;
  const { name, description, inputSchema, parameters = inputSchema, strict, execute } = given;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
    throw new ConfigurationError('tool takes a name of 1 to 64 letters, digits, _ and -.');
  const unknown = Object.keys(given).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    throw new ConfigurationError(`The tool ${name} must not have ${unknown}: ${FIELDS.join(', ')}.`);
  if (execute !== undefined && typeof execute !== 'function')
    throw new ConfigurationError(`The execute of the tool ${name} must be a function.`);
  const schema = given.schema ?? (isStandardSchema(parameters) ? (parameters as StandardSchema<Args>) : undefined);
  const json = jsonSchemaOf(name, parameters);
  const described = {
    name,
    ...(description !== undefined && { description }),
    ...(json !== undefined && { parameters: json }),
    ...(strict !== undefined && { strict }),
  };
  const made = { type: 'function', function: described } as const;
  if (execute === undefined)
    return { ...made, [WORK]: { check: (call) => withArguments(call, schema, () => undefined) } };
  const run: ToolWork['run'] = (call, signal) =>
    withArguments(call, schema, async (args: Args) => ({
      text: textOf(await execute(args, { signal, toolCallId: call.id })) ?? 'Done.',
    }));
  return { ...made, [WORK]: { run } };
}

const FIELDS = ['name', 'description', 'parameters', 'inputSchema', 'schema', 'strict', 'execute'];

/** @throws {ConfigurationError} */
function jsonSchemaOf(name: string, parameters: unknown): object | undefined {
  if (parameters === undefined) return undefined;
  const { $schema: _, ...json } = isStandardSchema(parameters)
    ? asJson(name, parameters as StandardSchema<unknown> & WithJsonSchema)
    : Object(parameters);
  // A service takes the parameters of a function as one object.
  if (isObject(parameters) && (json.type === 'object' || json.type === undefined)) return json;
  throw new ConfigurationError(`The parameters of the tool ${name} must be the schema of an object.`);
}

function asJson(name: string, schema: WithJsonSchema): Record<string, unknown> {
  const both = 'Pass both: { parameters: z.toJSONSchema(schema), schema }.';
  const { jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined)
    throw new ConfigurationError(`The schema of the tool ${name} has no JSON Schema. ${both}`);
  try {
    return Object(jsonSchema.input({ target: 'draft-2020-12' }));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it has no form in JSON Schema';
    throw new ConfigurationError(`The schema of the tool ${name} is no JSON Schema: ${why}. ${both}`, { cause });
  }
}

/** Does something with the arguments of a call. What fails is a result that says so: the model can try again. */
async function withArguments<Args, Result>(
  { function: { arguments: text } }: Call,
  schema: StandardSchema<Args> | undefined,
  work: (args: Args) => Result | Promise<Result>,
): Promise<Result | ToolResult> {
  try {
    const args = argumentsIn(text);
    const checked = await schema?.['~standard'].validate(args);
    if (checked?.issues) throw new TypeError(`the arguments do not match: ${checked.issues.map(issueOf).join('; ')}`);
    return await work((checked === undefined ? args : checked.value) as Args); // the cast is true: without a schema, any
  } catch (error) {
    const { message = error } = Object(error) as { message?: unknown };
    return { text: `Error: ${textOf(message) ?? String(message)}`, error };
  }
}

/** A model may write none. */
function argumentsIn(text: string): unknown {
  try {
    return JSON.parse(text.trim() || '{}');
  } catch (cause) {
    throw new SyntaxError('the arguments are no JSON', { cause });
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
