import { onAbort } from '../../base/on-abort.js';
import { type ToolResult, workOf } from '../../base/tool-work.js';
import type { FunctionTool, Tool, ToolCall } from '../../index.js';
import { NOT_RUN } from '../messages.js';
import { type TurnTimeouts, untilAborted } from '../turn-timeouts.js';

/** A call of a tool, and what became of it. */
export interface Called {
  call: ToolCall;
  /** `undefined` if it waits for the app, because its tool has no `execute`. */
  result: string | undefined;
}

const STOPPED = 'This call was stopped.';

/**
 * Runs calls at the same time. What fails is a result that says so. After a stop, each has a result. If the request had no tools, the
 * service knows of others: their calls wait.
 */
export async function runCalls(
  calls: readonly ToolCall[],
  tools: readonly (FunctionTool | Tool)[],
  timeouts: TurnTimeouts,
  onError: (error: unknown) => void,
): Promise<Called[]> {
  const stop = new AbortController();
  const { signal = stop.signal } = timeouts;
  const unfollow = onAbort(signal, () => stop.abort(signal.reason));
  if (signal.aborted) stop.abort(signal.reason);
  const resultOf = async (call: ToolCall): Promise<ToolResult | undefined> => {
    if (tools.length === 0) return undefined;
    const { name } = call.function;
    const tool = tools.find((one) => one.function.name === name);
    if (tool === undefined)
      return {
        text: `Error: there is no tool "${name}". There are: ${tools.map((one) => one.function.name).join(', ')}.`,
      };
    const { run, check } = workOf(tool);
    if (stop.signal.aborted) return undefined;
    // A tool that ignores the signal continues, but its result is no longer used.
    const work = async () => (run === undefined ? check?.(call) : run(call, stop.signal));
    return timeouts.unlessOver(() => untilAborted(work(), stop.signal));
  };
  const running = calls.map((call) =>
    resultOf(call).catch((error: unknown) => {
      stop.abort(error); // also at the deadline
      return undefined;
    }),
  );
  const results = await Promise.all(running).finally(unfollow);
  for (const result of results) if (result !== undefined && 'error' in result) onError(result.error);
  return calls.map((call, at) => ({ call, result: results[at]?.text ?? (stop.signal.aborted ? STOPPED : undefined) }));
}

/** Calls that come too late. Those of tools that the app runs itself wait all the same. */
export function notRun(calls: readonly ToolCall[], tools: readonly (FunctionTool | Tool)[]): Called[] {
  const waits = new Set(tools.flatMap((tool) => (workOf(tool).run === undefined ? tool.function.name : [])));
  return calls.map((call) => ({ call, result: waits.has(call.function.name) ? undefined : NOT_RUN }));
}
