import * as z from 'zod/mini';
import { described, exact, id } from '../base/fields.js';
import type { ChatMessage } from '../upstream/model-source.js';
import { type ScriptedToolCall, scriptedToolCall } from '../upstream/tool-calls.js';

/** A completion request, as scripted replies see it. */
export interface ScriptedRequest {
  model: string;
  messages: readonly ChatMessage[];
  /** The body as it was sent, with undocumented fields such as `tools` and `response_format`. */
  sent?: Readonly<Record<string, unknown>> | undefined;
}

/** Which requests a reply is for: a text or a regular expression to find in the last user message, or a function. */
export type ReplyMatch = string | RegExp | ((request: ScriptedRequest) => boolean);

/** A scripted reply: its content, those of the steps of a turn, or a function that returns the content. */
export type Reply =
  | ReplyContent
  | ReplyContent[]
  | ((request: ScriptedRequest) => ReplyContent | Promise<ReplyContent>);

/** The parts of a reply. */
interface ReplyParts {
  content?: string | undefined;
  /** Sent as JSON in place of `content`. */
  json?: unknown;
  /** Outside a list, not sent to a request with the results of tools, which then gets the next reply that matches. */
  tool_calls?: ScriptedToolCall[] | undefined;
  /** @default 'stop', or 'tool_calls' */
  finish_reason?: string | undefined;
}

const replyParts = exact<ReplyParts>()(
  z.object({
    content: z.optional(z.string()),
    json: z.optional(described('Sent as JSON in place of `content`.', z.unknown())),
    tool_calls: z.optional(z.array(scriptedToolCall)),
    finish_reason: z.optional(id),
  }),
);
export const replyContent = z.union([z.string(), replyParts]);
/** A reply: a text, or its parts. */
export type ReplyContent = string | ReplyParts;

/** What a scripted reply comes down to. */
export interface ResolvedReply {
  content: string;
  toolCalls: readonly ScriptedToolCall[];
  finishReason: string;
}

/** An active reply. */
export interface ActiveReply {
  id: string;
  match: ReplyMatch;
  reply: Reply;
}

/** Scripted replies of the chat completions. The one added last is tried first. */
export class ScriptedReplies {
  #scripts: ActiveReply[] = [];
  #count = 0;

  /**
   * Adds a reply for matching completion requests. Returns a function that removes it. Of a list, the first reply answers a message of the
   * user, the second the results of the first one's tool calls, and so on: all but the last have `tool_calls`.
   */
  on(match: ReplyMatch, reply: Reply): () => void {
    const id = this.add(match, reply);
    return () => {
      this.remove(id);
    };
  }

  /** Like `on`, but returns the id of the reply. */
  add(match: ReplyMatch, reply: Reply): string {
    const steps = isList(reply) ? reply : [reply];
    const names = steps.flatMap((step) => (typeof step === 'object' ? Object.keys(step) : []));
    const unknown = names.find((name) => !REPLY_FIELDS.includes(name));
    if (unknown) throw new RangeError(`a reply has ${REPLY_FIELDS.join(', ')}; ${unknown} is not a documented field`);
    if (isList(reply) && !isLoop(reply)) throw new RangeError(`in a list, ${LOOP_RULE}`);
    this.#count += 1;
    const id = `reply_${this.#count}`;
    this.#scripts.unshift({ id, match, reply });
    return id;
  }

  /** Removes a reply. Returns false if there is no such reply. */
  remove(id: string): boolean {
    const before = this.#scripts.length;
    this.#scripts = this.#scripts.filter((script) => script.id !== id);
    return this.#scripts.length < before;
  }

  /** The active replies, in the order in which they are tried. */
  list(): ActiveReply[] {
    return this.#scripts.map((script) => ({ ...script }));
  }

  /** Removes all replies. The returned function restores them. */
  clear(): () => void {
    const before = this.#scripts;
    this.#scripts = [];
    return () => {
      this.#scripts = before;
    };
  }

  /** @internal */
  async find(request: ScriptedRequest): Promise<ResolvedReply | undefined> {
    const step = stepOf(request.messages);
    for (const { match, reply } of this.#scripts) {
      const due = isList(reply) ? reply[step] : step > 0 && callsTools(reply) ? undefined : reply;
      if (due === undefined || !matches(match, request)) continue;
      return resolvedReply(typeof due === 'function' ? await due(request) : due);
    }
    return undefined;
  }
}

/** How many times the model has called tools since the newest message of the user. */
function stepOf(messages: readonly ChatMessage[]): number {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  return turn.filter((message) => message.tool_calls !== undefined).length;
}

function resolvedReply(reply: ReplyContent): ResolvedReply {
  const parts = typeof reply === 'string' ? { content: reply } : reply;
  const toolCalls = parts.tool_calls ?? [];
  const content = parts.content ?? (parts.json === undefined ? '' : JSON.stringify(parts.json));
  return { content, toolCalls, finishReason: parts.finish_reason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop') };
}

const REPLY_FIELDS = Object.keys(replyParts.shape);

/** Whether a list is the steps of a turn. */
export function isLoop(replies: readonly ReplyContent[]): boolean {
  return replies.length > 0 && replies.slice(0, -1).every(callsTools);
}

/** What makes a list of replies the steps of a turn. */
export const LOOP_RULE = 'all replies but the last have tool_calls, since a text ends the turn';

function isList(reply: Reply): reply is ReplyContent[] {
  return Array.isArray(reply);
}

function callsTools(reply: Exclude<Reply, ReplyContent[]>): boolean {
  return typeof reply === 'object' && reply.tool_calls !== undefined;
}

function matches(match: ReplyMatch, request: ScriptedRequest): boolean {
  if (typeof match === 'function') return match(request);
  const question = request.messages.findLast((message) => message.role === 'user')?.content ?? '';
  return typeof match === 'string' ? question.includes(match) : question.search(match) !== -1;
}
