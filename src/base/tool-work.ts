/** What a tool does with calls. A copy of the tool, `{ ...tool }`, has it, and its JSON does not. */
export const WORK = Symbol.for('context-gateway.tool');

export interface ToolWork {
  /** Checks a call, and runs it. Never rejects. A tool without it waits for the app. */
  readonly run?: (call: Call, signal: AbortSignal) => Promise<ToolResult>;
  /** Of a tool that waits for the app: checks a call. Never rejects. `undefined`: its arguments match. */
  readonly check?: (call: Call) => Promise<ToolResult | undefined>;
}

/** What became of a call. */
export interface ToolResult {
  /** What the model reads. */
  text: string;
  /** Why it failed. */
  error?: unknown;
}

/** A call of a tool, as far as it is needed. */
export interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What a tool does with calls: nothing, if it is only a definition. */
export function workOf(tool: object): ToolWork {
  return (tool as { [WORK]?: ToolWork })[WORK] ?? {};
}
