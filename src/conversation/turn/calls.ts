import type { FunctionTool, Tool, ToolCall } from '../../index.js';
import type { ConversationMessage } from '../model.js';
import { type TurnTimeouts, untilAborted } from '../turn-timeouts.js';

/** What became of the calls of a step. */
export interface Called {
  /** The results, in the order of the calls. */
  results: ConversationMessage[];
  /** Calls of tools without `execute`, which wait for the app. */
  waiting: ToolCall[];
}

const STOPPED = 'This call was stopped.';

/** Runs calls at the same time. What fails is a result that says so. */
export async function runCalls(
  calls: readonly ToolCall[],
  tools: readonly (FunctionTool | Tool)[],
  timeouts: TurnTimeouts,
): Promise<Called> {
  const stop = new AbortController();
  const { signal = stop.signal } = timeouts;
  const results: ConversationMessage[] = [];
  const waiting: ToolCall[] = [];
  const running = calls.map(async (call) => {
    const { name } = call.function;
    const tool = tools.find((one) => one.function.name === name);
    if (tool === undefined) return `Error: there is no tool ${name}.`;
    if (!('run' in tool) || tool.run === undefined) return undefined;
    // A tool that ignores the signal continues, but its result is no longer used.
    return timeouts.unlessOver(untilAborted(tool.run(call, signal), signal)).catch(() => STOPPED);
  });
  for (const [at, content] of (await Promise.all(running)).entries()) {
    const call = calls[at];
    if (call === undefined) continue;
    if (content === undefined) waiting.push(call);
    else results.push({ role: 'tool', content, tool_call_id: call.id });
  }
  return { results, waiting };
}
