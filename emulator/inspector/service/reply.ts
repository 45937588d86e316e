/** A tool call of a reply or a script. */
interface ToolCall {
  function?: { name?: string | undefined; arguments?: unknown } | undefined;
}

/** A reply as text: its content, then its tool calls as `get_weather({"city":"Oslo"})`. */
export function replyText({ content, tool_calls: calls }: { content?: unknown; tool_calls?: unknown }): string {
  const called = ((calls ?? []) as readonly ToolCall[]).map(
    ({ function: { name = '', arguments: given } = {} }) => `${name}(${jsonOf(given)})`,
  );
  return [typeof content === 'string' ? content : '', ...called].filter((part) => part !== '').join('\n');
}

function jsonOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

/** The text and the tool calls of a stream's first choice. */
export interface StreamedReply {
  content: unknown;
  tool_calls: { id?: string | undefined; function: { name: string; arguments: string } }[];
}

/** What a reader of the stream has by now, as a message. */
export function streamedMessage(events: readonly { text: string }[]): StreamedReply {
  let content = '';
  const calls: StreamedReply['tool_calls'] = [];
  for (const delta of events.flatMap(({ text }) => deltaOf(text) ?? [])) {
    content += delta.content ?? '';
    for (const { index = 0, function: { name = '', arguments: given = '' } = {} } of delta.tool_calls ?? []) {
      calls[index] ??= { function: { name: '', arguments: '' } };
      calls[index].function.name += name;
      calls[index].function.arguments += given;
    }
  }
  // A call may begin before an earlier one.
  return { content, tool_calls: Object.values(calls) };
}

/** The same as text. */
export function streamedReply(events: readonly { text: string }[]): string {
  return replyText(streamedMessage(events));
}

interface Delta {
  content?: string | null;
  tool_calls?: { index?: number; function?: { name?: string; arguments?: string } }[];
}

/** The delta of a chunk; undefined if the event is no chunk, or a damaged one. */
function deltaOf(event: string): Delta | undefined {
  const [, data] = /^data: ?(\{.*)$/m.exec(event) ?? [];
  try {
    return data === undefined ? undefined : JSON.parse(data).choices?.[0]?.delta;
  } catch {
    return undefined;
  }
}
