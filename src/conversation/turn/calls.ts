import { onAbort } from '../../base/on-abort.js';
import type { FunctionTool, Tool, ToolCall } from '../../index.js';
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
): Promise<Called[]> {
  const stop = new AbortController();
  const { signal = stop.signal } = timeouts;
  const unfollow = onAbort(signal, () => stop.abort(signal.reason));
  if (signal.aborted) stop.abort(signal.reason);
  const resultOf = async (call: ToolCall): Promise<string | undefined> => {
    if (tools.length === 0) return undefined;
    const { name } = call.function;
    const tool = tools.find((one) => one.function.name === name);
    if (tool === undefined) return `Error: there is no tool ${name}.`;
    const { run } = tool as Tool;
    if (run === undefined || stop.signal.aborted) return undefined;
    // A tool that ignores the signal continues, but its result is no longer used.
    return (await timeouts.unlessOver(() => untilAborted(run(call, stop.signal), stop.signal))).text;
  };
  const running = calls.map((call) =>
    resultOf(call).catch((error: unknown) => {
      stop.abort(error); // also at the deadline
      return undefined;
    }),
  );
  const results = await Promise.all(running).finally(unfollow);
  return calls.map((call, at) => ({ call, result: results[at] ?? (stop.signal.aborted ? STOPPED : undefined) }));
}
