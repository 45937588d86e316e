import type { ChatCompletion, StreamedChatCompletion, ToolCall } from '../../index.js';
import type { Background } from '../background.js';
import type { ServiceContext } from '../context/service.js';
import type { Session } from '../context/session.js';
import type { BuiltPrompt, ChatTurn, ConversationMessage } from '../model.js';
import { estimate } from '../prompt/estimate.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import type { TurnEnd } from './reply.js';
import { type BegunTurn, type ReplyFacts, STORING, type TurnStorage } from './storage.js';

/** A reply, from whatever client. */
export interface MadeReply {
  text: string;
  /** Its calls of tools, of which some wait for the app, and the results of the others. */
  toolCalls?: readonly ToolCall[] | undefined;
  results?: readonly ConversationMessage[] | undefined;
  stopped?: boolean | undefined;
  completion?: ChatCompletion | StreamedChatCompletion | undefined;
  facts?: ReplyFacts | undefined;
}

/** The end of each turn: corrects the estimate, stores the reply and the state, and starts a compaction if one is due. */
export class Endings {
  constructor(
    private readonly session: Session,
    private readonly storage: TurnStorage,
    private readonly service: ServiceContext | undefined,
    private readonly background: Background,
  ) {}

  async end(
    begun: BegunTurn,
    prompt: BuiltPrompt,
    reply: MadeReply,
    timeouts: TurnTimeouts,
  ): Promise<TurnEnd & { turn: ChatTurn }> {
    const { turn, facts } = this.#measured(prompt, reply);
    const { toolCalls, results } = reply;
    const { messages, removed } = await timeouts.storing(STORING, async () => {
      const kept = await this.storage.storeReply(begun, { ...turn, toolCalls, results }, facts, timeouts);
      // What a reply replaced is removed from the service's summaries, too.
      if (kept.removed.length > 0) this.service?.exclude(kept.removed);
      await this.session.save(timeouts);
      return kept;
    });
    const compaction = this.service?.compactor.compactIfDue();
    // After an edit it begins when the replaced messages are excluded. A page does not wait for these requests.
    return { turn: { ...turn, messages }, receipt: removed.length > 0 ? undefined : compaction };
  }

  /** The same, of a turn whose messages the app stores. */
  measure(prompt: BuiltPrompt, reply: MadeReply): ChatTurn {
    const { turn } = this.#measured(prompt, reply);
    const timeouts = this.session.timeouts({ signal: this.background.signal });
    const saved = this.session.save(timeouts).then(() => this.service?.compactor.compactIfDue());
    void this.background.behind(saved);
    return { ...turn, messages: [] };
  }

  /** A turn with its tokens, and what the service says of its reply. */
  #measured(
    { report, chatMessages }: BuiltPrompt,
    { text, toolCalls, results, stopped = false, completion, facts }: MadeReply,
  ) {
    const { model, choices, usage: reported = facts?.usage } = completion ?? {};
    const { finish_reason = facts?.finish_reason } = choices?.[0] ?? {};
    const { total: prompt_tokens } = report.tokens;
    const completion_tokens = this.#tokensOf(text);
    const estimated = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    if (reported !== undefined) this.session.counter.calibrate({ messages: chatMessages, ...reported });
    const of = model ?? facts?.model;
    const said = { ...(finish_reason && { finish_reason }), ...(of && { model: of }) };
    const turn = {
      text,
      ...(toolCalls && { toolCalls: waitingOf(toolCalls, results) }),
      stopped,
      usage: reported ?? estimated,
      usageEstimated: reported === undefined,
      ...said,
      completion,
      report,
    };
    return { turn, facts: { ...said, ...(reported && { usage: reported }) } };
  }

  /** An app's `countTokens` may return no number for a reply. The turn is stored all the same. */
  #tokensOf(text: string): number {
    try {
      return Math.ceil(this.session.counter.count(text));
    } catch (error) {
      this.background.onError(error);
      return Math.ceil(estimate(text));
    }
  }
}

/** The calls that have no result. */
function waitingOf(calls: readonly ToolCall[], results: readonly ConversationMessage[] = []): ToolCall[] {
  const ids = new Set(results.map(({ tool_call_id }) => tool_call_id));
  return calls.filter(({ id }) => !ids.has(id));
}
