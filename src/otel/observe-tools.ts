import * as api from '@opentelemetry/api';
import { WORK, workOf } from '../base/tool-work.js';
import type { FunctionTool, Tool } from '../index.js';
import { ATTRIBUTE } from './names.js';
import { type ObserveOptions, SCOPE } from './observe-calls.js';

/**
 * Returns tools whose calls are recorded as spans, `execute_tool` with their names: for the `tools` of a conversation. What a tool calls
 * is a child of its span. Arguments and results are never recorded.
 *
 * @example
 * ```ts
 * import { createConversation } from 'context-gateway/conversation';
 * import { observeTools } from 'context-gateway/otel';
 * const tools = observeTools([tide]);
 * const conversation = createConversation({ gateway, model: 'atlas-small', conversationId: 'tides', tools });
 * ```
 */
export function observeTools(
  tools: readonly (Tool | FunctionTool)[],
  { tracerProvider = api.trace.getTracerProvider() }: Pick<ObserveOptions, 'tracerProvider'> = {},
): Tool[] {
  return tools.map((tool: Tool) => {
    const { run } = workOf(tool);
    if (run === undefined) return tool;
    const observed: typeof run = (call, signal) => {
      const { name, description } = tool.function;
      const attributes: api.Attributes = {
        [ATTRIBUTE.operation]: 'execute_tool',
        [ATTRIBUTE.toolName]: name,
        [ATTRIBUTE.toolType]: 'function',
        [ATTRIBUTE.toolCallId]: call.id,
        ...(description !== undefined && { [ATTRIBUTE.toolDescription]: description }),
      };
      const tracer = tracerProvider.getTracer(SCOPE);
      return tracer.startActiveSpan(`execute_tool ${name}`, { attributes }, async (span) => {
        const result = await run(call, signal);
        if ('error' in result) {
          span.setAttribute(ATTRIBUTE.errorType, errorTypeOf(result.error));
          span.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        span.end();
        return result;
      });
    };
    return { ...tool, [WORK]: { run: observed } };
  });
}

/** The conventions' name for an error without one. */
const OTHER = '_OTHER';

function errorTypeOf(error: unknown): string {
  return error instanceof Error ? error.name : OTHER;
}
