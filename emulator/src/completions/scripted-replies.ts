import type { ChatMessage } from '../upstream/model-source.js';

/** The completion request a scripted reply is asked about. */
export interface ScriptedRequest {
  model: string;
  messages: readonly ChatMessage[];
}

/** For which requests a reply is: text that the last user message holds, an expression it fits, or a test of your own. */
export type ReplyMatch = string | RegExp | ((request: ScriptedRequest) => boolean);

/** What is answered: a text, a text with its reason for ending, or a function that gives one. */
export type Reply = ReplyContent | ((request: ScriptedRequest) => ReplyContent | Promise<ReplyContent>);

/** The text of a scripted answer. */
export type ReplyContent = string | { content: string; finish_reason?: string | undefined };

/** A reply that is in force. */
export interface ActiveReply {
  id: string;
  match: ReplyMatch;
  reply: Reply;
}

/** Answers given in advance; the one added last is asked first. */
export class ScriptedReplies {
  #scripts: ActiveReply[] = [];
  #count = 0;

  /** Answer the completions that match; the returned function takes it back. */
  on(match: ReplyMatch, reply: Reply): () => void {
    const id = this.add(match, reply);
    return () => {
      this.remove(id);
    };
  }

  /** As `on`; gives the reply's id. */
  add(match: ReplyMatch, reply: Reply): string {
    this.#count += 1;
    const id = `reply_${this.#count}`;
    this.#scripts.unshift({ id, match, reply });
    return id;
  }

  /** Take a reply back. */
  remove(id: string): boolean {
    const before = this.#scripts.length;
    this.#scripts = this.#scripts.filter((script) => script.id !== id);
    return this.#scripts.length < before;
  }

  /** The replies in force, in the order in which they are asked. */
  list(): ActiveReply[] {
    return this.#scripts.map((script) => ({ ...script }));
  }

  /** Take all replies back; the returned function puts them in place again. */
  clear(): () => void {
    const before = this.#scripts;
    this.#scripts = [];
    return () => {
      this.#scripts = before;
    };
  }

  /** @internal */
  async find(request: ScriptedRequest): Promise<{ content: string; finish_reason: string } | undefined> {
    const script = this.#scripts.find(({ match }) => matches(match, request));
    if (script === undefined) return undefined;
    const reply = typeof script.reply === 'function' ? await script.reply(request) : script.reply;
    if (typeof reply === 'string') return { content: reply, finish_reason: 'stop' };
    return { content: reply.content, finish_reason: reply.finish_reason ?? 'stop' };
  }
}

function matches(match: ReplyMatch, request: ScriptedRequest): boolean {
  if (typeof match === 'function') return match(request);
  const question = request.messages.findLast((message) => message.role === 'user')?.content ?? '';
  return typeof match === 'string' ? question.includes(match) : question.search(match) !== -1;
}
