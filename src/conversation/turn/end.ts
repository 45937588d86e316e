import { isObject } from '../../base/objects.js';
import type { ChatCompletion, ToolCall } from '../../index.js';
import type { Background } from '../background.js';
import { textOf } from '../content.js';
import type { ServiceContext } from '../context/service.js';
import type { Session } from '../context/session.js';
import type { BuiltPrompt, ChatStep, ChatTurn, ConversationMessage } from '../model.js';
import { estimate } from '../prompt/estimate.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import type { Called } from './calls.js';
import type { TurnEnd } from './reply.js';
import { type BegunTurn, type ReplyFacts, STORING, type TurnStorage } from './storage.js';

/** A reply, from whatever client. */
export interface MadeReply {
  text: string;
  /** Its calls of tools, of which some wait for the app. */
  calls?: readonly Called[] | undefined;
  stopped?: boolean | undefined;
  completion?: ChatCompletion | undefined;
  facts?: ReplyFacts | undefined;
  /** Of the requests of its steps. */
  used?: readonly Used[] | undefined;
}

/** What a request used. */
export type Used = Pick<ChatTurn, 'usage' | 'usageEstimated'>;

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
    const { turn, facts } = this.#measured(prompt, reply, stepsOf(begun.steps));
    const { messages, removed } = await timeouts.storing(STORING, async () => {
      const kept = await this.storage.storeReply(begun, { ...turn, calls: reply.calls }, facts, timeouts);
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
  measure(prompt: BuiltPrompt, reply: MadeReply, steps: readonly ConversationMessage[]): ChatTurn {
    const { turn } = this.#measured(prompt, reply, stepsOf(steps));
    const timeouts = this.session.timeouts({ signal: this.background.signal });
    const saved = this.session.save(timeouts).then(() => this.service?.compactor.compactIfDue());
    void this.background.behind(saved);
    return { ...turn, messages: [] };
  }

  /** What the service says of a reply, and what its request used: an estimate, if it does not say that. */
  factsOf(
    { report }: BuiltPrompt,
    { text, completion, facts }: Pick<MadeReply, 'text' | 'completion' | 'facts'>,
  ): { facts: ReplyFacts; used: Used } {
    const { model = facts?.model, choices, usage = facts?.usage } = completion ?? {};
    const { finish_reason = facts?.finish_reason } = choices?.[0] ?? {};
    const { total: prompt_tokens } = report.tokens;
    const completion_tokens = this.#tokensOf(text);
    const estimated = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    return {
      facts: { ...(finish_reason && { finish_reason }), ...(model && { model }), ...(usage && { usage }) },
      used: { usage: usage ?? estimated, usageEstimated: usage === undefined },
    };
  }

  /** A turn with its tokens, and what the service says of its reply. */
  #measured(prompt: BuiltPrompt, reply: MadeReply, steps: readonly ChatStep[]) {
    const { text, calls = [], stopped = false, completion, used = [] } = reply;
    const last = this.factsOf(prompt, reply);
    const { usage, ...said } = last.facts;
    if (usage !== undefined && prompt.hasTools !== true)
      this.session.counter.calibrate({ messages: prompt.chatMessages, ...usage });
    const waiting = calls.flatMap(({ call, result }) => (result === undefined ? call : []));
    const all = [...used, last.used];
    const run = calls.flatMap(({ call, result }) => (result === undefined ? [] : { call, result }));
    const turn = {
      text,
      steps: run.length > 0 ? [...steps, { text: '', calls: run }] : steps,
      ...(waiting.length > 0 && { toolCalls: waiting }),
      stopped,
      usage: all.map((one) => one.usage).reduce(sum),
      usageEstimated: all.some((one) => one.usageEstimated),
      ...said,
      completion,
      report: prompt.report,
    };
    return { turn, facts: last.facts };
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

/** Messages of steps as an app reads them. */
function stepsOf(messages: readonly ConversationMessage[]): ChatStep[] {
  const steps: { text: string; calls: { call: ToolCall; result: string }[] }[] = [];
  let left: readonly ToolCall[] = [];
  for (const message of messages) {
    const text = textOf(message);
    if (message.role === 'tool') {
      const call = left.find(({ id }) => id === message.tool_call_id);
      left = left.filter((one) => one !== call); // two may have one id
      if (call !== undefined) steps.at(-1)?.calls.push({ call, result: text });
    } else {
      steps.push({ text, calls: [] });
      left = message.tool_calls ?? [];
    }
  }
  return steps;
}

/** The usage of two requests, with all its figures, also those of its details. */
function sum<Figures extends object>(one: Figures, other: Figures): Figures {
  const figures = Object.entries({ ...one, ...other }).map(([name, value]) => {
    const before: unknown = one[name as keyof Figures];
    if (typeof value === 'number' && typeof before === 'number') return [name, before + value];
    return [name, isObject(value) && isObject(before) ? sum(before, value) : (other[name as keyof Figures] ?? before)];
  });
  return Object.fromEntries(figures) as Figures; // the cast is true: of the same fields
}
