import { tool } from 'context-gateway';
import { type ConversationOptions, memoryStore } from 'context-gateway/conversation';
import * as z from 'zod';
import type { Runtime } from '../../src/base/runtime.js';
import { talkWith } from './world.js';

/** A call of a tool as a model makes it. */
export const called = (id: string, args: unknown = { harbour: 'Bergen' }, name = 'tide') => ({
  id,
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});
/** A tool that always says noon. */
export const tide = tool({
  name: 'tide',
  description: 'When high tide is in a harbour',
  parameters: z.object({ harbour: z.string() }),
  execute: ({ harbour }) => ({ harbour, high: '12:00' }),
});
/** Its result. */
export const result = '{"harbour":"Bergen","high":"12:00"}';

/** What a model answers, and what happens before. */
interface Scripted {
  content?: string;
  tool_calls?: object[];
  status?: number;
  before?: () => unknown;
}

/** A conversation whose model answers with these messages, one after the other. */
export function scripted(replies: Scripted[], more: Partial<ConversationOptions> = {}, runtime?: Runtime) {
  const { store = memoryStore() } = more;
  const made = talkWith(store, { tools: [tide], ...more }, runtime);
  const bodies: { messages: Record<string, unknown>[]; tools?: unknown }[] = [];
  const left = [...replies];
  made.onRequest(async (request) => {
    if (!request.url.endsWith('/completions')) return undefined;
    const body = await request.clone().json();
    bodies.push(body);
    const next: Scripted = left.shift() ?? { content: 'Nothing left.' };
    const { content = null, tool_calls, status = 200 } = next;
    await next.before?.();
    if (status !== 200) return Response.json({ error: { message: 'No.' } }, { status });
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    const of = { id: 'c', created: 1, model: 'atlas-small' };
    const finish_reason = tool_calls ? 'tool_calls' : 'stop';
    const message = { role: 'assistant', content, ...(tool_calls && { tool_calls }) };
    if (!body.stream)
      return Response.json({
        ...of,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      });
    const calls = tool_calls?.map((call, index) => ({ index, ...call }));
    const delta = { role: 'assistant', content: content ?? '', ...(calls && { tool_calls: calls }) };
    const chunk = { ...of, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], usage };
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, { headers });
  });
  const rows = async () => (await store.load('talk'))?.messages ?? [];
  return { ...made, store, bodies, rows };
}
