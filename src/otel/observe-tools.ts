import * as api from '@opentelemetry/api';
import { WORK, workOf } from '../base/tool-work.js';
import type { FunctionTool, Tool } from '../index.js';
import { optionsCheck } from '../validation/options.js';
import { known, SCOPE } from './names.js';
import { providerOption } from './observe-calls.js';

const check = /* @__PURE__ */ optionsCheck(providerOption);

/**
 * Returns tools whose calls are recorded as spans, `execute_tool` with their names: for the `tools` of a conversation. What a tool calls
 * is a child of its span. Arguments and results are never recorded.
 *
 * @throws {ConfigurationError} when an option is invalid
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
  options: { tracerProvider?: api.TracerProvider | undefined } = {},
): Tool[] {
  check(options);
  const { tracerProvider = api.trace.getTracerProvider() } = options;
  return tools.map((tool: Tool) => {
    const { run } = workOf(tool);
    if (run === undefined) return tool;
    const observed: typeof run = (call, signal) => {
      const { name, description } = tool.function;
      const attributes = known({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': call.id,
        'gen_ai.tool.description': description,
      });
      const tracer = tracerProvider.getTracer(SCOPE);
      return tracer.startActiveSpan(`execute_tool ${name}`, { attributes }, async (span) => {
        const result = await run(call, signal);
        if ('error' in result) {
          // The conventions' name for an error without one.
          span.setAttribute('error.type', result.error instanceof Error ? result.error.name : '_OTHER');
          span.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        span.end();
        return result;
      });
    };
    return { ...tool, [WORK]: { run: observed } };
  });
}
