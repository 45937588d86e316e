import * as z from 'zod/mini';
import { count, described, id, label, namedObject } from '../base/fields.js';
import { type Completion, usageOf } from '../completions/completions.js';
import { completionEvents, liveEvents } from '../completions/stream.js';
import type { AreaRoutes } from '../http/area-routes.js';
import { EventBody } from '../http/event-body.js';
import type { Exchange } from '../http/exchange.js';
import { askedIn } from '../http/log/said.js';
import { subjectOf } from '../http/log/subject.js';
import { json, type PlainResponse } from '../http/plain-response.js';
import { MESSAGE_ROLES } from '../store/conversation-records.js';
import type { Stores } from '../store/stores.js';
import type { PromptTokens } from '../text/prompt-tokens.js';
import type { ChatMessage, CompletionRequest } from '../upstream/model-source.js';
import { chatMessage, completionBody, completionRequest } from './completion-request.js';
import type { GatewayApiState } from './state.js';

export const completionUsage = namedObject('CompletionUsage', {
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
});
const completionResponse = namedObject('ChatCompletion', {
  id,
  object: z.literal('chat.completion'),
  created: z.int(),
  model: label,
  choices: z.array(z.object({ index: count, message: chatMessage, finish_reason: label })),
  usage: completionUsage,
});
const completionChunk = namedObject('ChatCompletionChunk', {
  id,
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: label,
  choices: described(
    'Empty in the last chunk, which has the usage.',
    z.array(
      z.object({
        index: count,
        delta: z.object({ role: z.optional(z.enum(MESSAGE_ROLES)), content: z.optional(z.string()) }),
        finish_reason: z.nullable(label),
      }),
    ),
  ),
  usage: z.optional(completionUsage),
});

/** `/v1/chat/completions` */
export function completionRoutes(area: AreaRoutes, state: GatewayApiState): void {
  const { settings, stores, completions } = state;
  area.add('POST /v1/chat/completions', {
    id: 'createChatCompletion',
    summary: 'Create a completion, optionally streamed',
    body: completionBody,
    responses: { 200: { 'application/json': completionResponse, 'text/event-stream': completionChunk } },
    handle: async (c) => {
      const { exchange } = c;
      const request = completionRequest(await exchange.json(), settings.strict);
      const created = Math.floor(settings.clock.now() / 1000);
      if (request.stream) return streamed(state, request, exchange, created);
      const completion = await completions.complete(
        request,
        () => exchange.request.signal,
        counting(request.messages, exchange, stores),
      );
      const id = stores.ids.next('chatcmpl');
      const { content, usage } = bill(completion, stores, exchange);
      const { toolCalls, finishReason } = completion;
      const text = { role: 'assistant', content };
      const message =
        toolCalls.length === 0 ? text : { ...text, content: content === '' ? null : content, tool_calls: toolCalls };
      const choice = { index: 0, message, finish_reason: finishReason };
      return json({ id, object: 'chat.completion', created, model: request.model, choices: [choice], usage });
    },
  });
}

async function streamed(
  { completions, settings, stores }: GatewayApiState,
  request: CompletionRequest,
  exchange: Exchange,
  created: number,
): Promise<PlainResponse> {
  const { entry, request: sent } = exchange;
  const stop = new AbortController();
  let both: AbortSignal | undefined;
  // Created only where something waits, because it is slow.
  const signal = (): AbortSignal => {
    both ??= AbortSignal.any([sent.signal, stop.signal]);
    return both;
  };
  const completion = await completions.begin(request, signal, counting(request.messages, exchange, stores));
  entry.answeredBy = completion.answeredBy;
  const id = stores.ids.next('chatcmpl');
  const { clock, pace } = settings;
  const bill = (tokens: number): void => {
    entry.tokens = { prompt: completion.promptTokens, completion: tokens };
    addUsage(completion.model, stores, exchange);
  };
  const context = { id, created, clock, pace, signal, bill };
  const events = 'response' in completion ? liveEvents(completion, context) : completionEvents(completion, context);
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  return { status: 200, headers, body: new EventBody(events, stop) };
}

/** Notes what the log keeps of a prompt, once its tokens are counted. */
export function counting(
  messages: readonly ChatMessage[],
  { entry }: Exchange,
  { conversations }: Stores,
): (prompt: PromptTokens) => void {
  return (prompt) => {
    entry.prompt = prompt;
    entry.subject ??= subjectOf(entry);
    entry.subject.conversation ??= conversations.quotedIn(messages);
    // The log has only the beginning of a long body.
    if (entry.isBodyCut) entry.subject.asked ??= askedIn(entry, { messages });
  };
}

/** Bills a whole completion. Returns its text and usage. */
export function bill(
  completion: Completion,
  stores: Stores,
  exchange: Exchange,
): { content: string; usage: z.infer<typeof completionUsage> } {
  const { entry } = exchange;
  const counted = usageOf(completion.promptTokens, completion.tokenCount);
  entry.answeredBy = completion.answeredBy;
  entry.tokens = { prompt: counted.prompt_tokens, completion: counted.completion_tokens };
  addUsage(completion.model, stores, exchange);
  return { content: completion.tokens.pieces.join(''), usage: counted };
}

function addUsage(model: string, { usage }: Stores, { entry, key }: Exchange): void {
  const { prompt = 0, completion = 0 } = entry.tokens ?? {};
  usage.add({ model, prompt, completion, key, conversation: entry.subject?.conversation });
}
