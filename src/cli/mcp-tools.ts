import { ContextGatewayError } from '../index.js';
import { nearest } from '../validation/nearest.js';
import { type Clients, OPERATIONS, type Operation } from './operations.js';

/** Assistants show a model the tools of all servers in one list, where `search` could be anybody's. */
const PREFIX = 'context_gateway_';
const TOOLS = new Map(OPERATIONS.flatMap((one) => (one.tool === undefined ? [] : [[`${PREFIX}${one.tool}`, one]])));
/** Items of a list for a model, whose window is not filled with them. */
const MOST = 50;

/** The operations as tools for a model. Everything that is wrong with a call is a result that the model can read. */
export function mcpTools(clients: Clients) {
  return {
    list: () => [...TOOLS].map(([name, operation]) => describe(name, operation)),
    call: async (name: string, sent: Readonly<Record<string, unknown>> = {}, signal?: AbortSignal) => {
      const operation = TOOLS.get(name);
      if (operation === undefined)
        return failure(`There is no tool ${name}. The tools are ${[...TOOLS.keys()].join(', ')}.`);
      // For an optional parameter, a model may pass null or an empty text.
      const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== ''));
      const problem = findProblem(operation, sent, given);
      if (problem !== undefined) return failure(problem);
      try {
        const { limit = MOST, ...texts } = given;
        const result = await operation.run(clients, texts as Record<string, string>, { signal }); // checked by `findProblem`
        return success(
          Array.isArray(result) ? { items: result.slice(0, Number(limit)), total: result.length } : result,
        );
      } catch (error) {
        // The message says how to fix it, and contains no credential.
        if (ContextGatewayError.is(error)) return failure(error.message);
        throw error;
      }
    },
  };
}

export type McpTools = ReturnType<typeof mcpTools>;

function describe(name: string, { description, effect, parameters, lists }: Operation) {
  const properties = Object.entries(parameters).map(([name, { description, values }]) => [
    name,
    { type: 'string', description, ...(values && { enum: [...values] }) },
  ]);
  const limit = { type: 'integer', minimum: 1, description: `The most items to return, ${MOST} by default` };
  return {
    name,
    description,
    inputSchema: {
      type: 'object' as const,
      properties: { ...Object.fromEntries(properties), ...(lists && { limit }) },
      required: Object.keys(parameters).filter((name) => parameters[name]?.required),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: effect === 'reads', destructiveHint: effect === 'deletes' },
  };
}

/** A model may send anything. `given` is what it sent and is not empty. */
function findProblem({ parameters, lists }: Operation, sent: object, given: Record<string, unknown>) {
  const known = [...Object.keys(parameters), ...(lists ? ['limit'] : [])];
  const all = `The parameters are ${known.join(', ')}.`;
  const unknown = Object.keys(sent).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, known);
    return `The parameter ${unknown} is unknown${meant.length > 0 ? ` (did you mean ${meant.join(', ')}?)` : ''}. ${all}`;
  }
  const missing = known.find((name) => parameters[name]?.required && !Object.hasOwn(given, name));
  if (missing !== undefined) return `${missing} is missing. ${all}`;
  const { limit = MOST, ...texts } = given;
  if (!Number.isSafeInteger(Number(limit)) || Number(limit) < 1) return 'limit must be a whole number, at least 1.';
  const other = Object.keys(texts).find((name) => typeof texts[name] !== 'string');
  return other && `${other} must be a string.`;
}

/** As data, and as text for clients that know no structured content. */
function success(result: unknown) {
  const structuredContent = result as Record<string, unknown>; // lists are in an object, and all other results are one
  return { content: [{ type: 'text' as const, text: JSON.stringify(result) }], structuredContent };
}

function failure(message: string) {
  return { content: [{ type: 'text' as const, text: message }], isError: true };
}
