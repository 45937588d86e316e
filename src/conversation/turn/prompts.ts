import { pauses } from '../../base/pauses.js';
import { type ChatMessage, ConfigurationError } from '../../index.js';
import type { Background } from '../background.js';
import type { ContextReader, CurrentContext } from '../context/reader.js';
import { messageOf } from '../context/rows.js';
import type { ServiceContext } from '../context/service.js';
import type { Seen, Session } from '../context/session.js';
import { inTurns } from '../in-turns.js';
import { badInput, isSent, sentMessages } from '../messages.js';
import type { BuiltPrompt, ConversationMessage } from '../model.js';
import type { BuildOptions, CheckedOptions } from '../options.js';
import { PromptLayout } from '../prompt/fit.js';
import { messageTokens } from '../prompt/tokens.js';
import { MAX_HITS, queryOf, Searcher } from '../search/search.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import { historyOf, type Place } from './place.js';
import type { BegunTurn } from './storage.js';

interface PromptParams {
  input: readonly ConversationMessage[];
  /** The messages before the input. */
  messages: readonly ConversationMessage[];
  /** The messages before the input, and all after it, in which to search. Without `older`, their positions are not known. */
  all: Pick<Seen, 'messages'> & Partial<Seen>;
  /** Maximum tokens, if they are fewer than those of the options. */
  most?: number;
}

/** Builds the prompts of a conversation: its context, its newest messages, and what is found for the input. */
export class Prompts {
  readonly searcher: Searcher;
  #hasWarned = false;

  constructor(
    private readonly options: CheckedOptions,
    private readonly session: Session,
    private readonly reader: ContextReader,
    private readonly service: ServiceContext | undefined,
    private readonly background: Background,
  ) {
    this.searcher = new Searcher(options, background.onError);
  }

  /** A prompt for messages that the app passes, and does not store here. */
  async forHistory(
    input: readonly ConversationMessage[],
    history: readonly ConversationMessage[],
    options: BuildOptions,
    timeouts: TurnTimeouts,
  ): Promise<BuiltPrompt> {
    await this.session.loadNewest(timeouts);
    const messages = messagesFrom(history);
    const all = { messages };
    const prompt = await this.build({ input, messages: inTurns(messages), all }, options, timeouts);
    this.#warnOfLeftOut(prompt);
    return prompt;
  }

  context(timeouts: TurnTimeouts): Promise<CurrentContext> {
    return this.reader.current(timeouts);
  }

  async build(
    { input, messages, all, most = Number.POSITIVE_INFINITY }: PromptParams,
    {
      max_tokens = this.options.replyTokens,
      instructions = this.options.instructions,
      tools = this.options.tools ?? [],
    }: BuildOptions,
    timeouts: TurnTimeouts,
  ): Promise<BuiltPrompt> {
    const { contextWindow, budget } = this.options;
    if (!Number.isInteger(max_tokens) || max_tokens < 0 || max_tokens >= contextWindow)
      throw badInput('max_tokens', `must be a whole number of tokens below contextWindow, which is ${contextWindow}`);
    const { older = 0 } = all;
    const room = Math.min(budget, contextWindow - max_tokens, most);
    // Begun with the read of the context, unless all messages may fit, so that a turn does not wait for one after the other.
    const isSearched = this.options.search !== undefined && (older > 0 || this.#exceed(room, messages));
    const own = isSearched ? this.searcher.own(queryOf(input), MAX_HITS, timeouts) : undefined;
    const [{ stale, snapshot, memory }] = await Promise.all([this.context(timeouts), own]);
    const { lost } = this.session.state;
    const params = {
      parts: { ...snapshot, memory },
      history: messages,
      older: all.older,
      input,
      instructions,
      tools,
      budget: room,
      limit: Math.min(contextWindow - max_tokens, most),
      count: this.session.counter.count,
    };
    const pause = pauses();
    const plan = new PromptLayout(params);
    await pause();
    // Without a search, as long as all messages fit.
    const isAll = plan.hasAll && lost.length === 0;
    const archive = this.session.archive({ ...all, older }, timeouts);
    const search = { archive, until: older + messages.length, timeouts, lost, own };
    const found = isAll ? undefined : await this.searcher.found(input, messages, search);
    await pause();
    const { report, ...prompt } = plan.fill(found);
    await pause();
    const { estimated } = this.session.counter;
    const compactionExhausted = snapshot !== undefined && this.service?.compactor.isExhausted(snapshot) === true;
    const hasTools = tools.length > 0;
    return { ...prompt, hasTools, report: { ...report, estimated, stale, compactionExhausted } };
  }

  /** A prompt with one more step of its reply. If it becomes too long, `again` builds one around all steps. */
  async continued(
    prompt: BuiltPrompt,
    step: readonly ConversationMessage[],
    max_tokens: number = this.options.replyTokens,
    again: () => Promise<BuiltPrompt>,
  ): Promise<BuiltPrompt> {
    const { report, chatMessages } = prompt;
    const sent = sentMessages(step);
    const more = Math.ceil(messageTokens(sent, this.session.counter.count));
    const { input, total, ...others } = report.tokens;
    if (total + more > this.options.contextWindow - max_tokens) return again();
    const tokens = { ...others, input: input + more, total: total + more };
    // The cast is true: other roles were rejected.
    const messages = [...chatMessages, ...(sent as ChatMessage[])];
    return { ...prompt, chatMessages: messages, report: { ...report, tokens } };
  }

  /** Counts no more messages than it must, because there may be very many. */
  #exceed(tokens: number, messages: readonly ConversationMessage[]): boolean {
    let left = tokens;
    return messages.some((message) => {
      if (isSent(message)) left -= messageTokens([message], this.session.counter.count);
      return left < 0;
    });
  }

  /** Before the first compaction, messages that are neither sent nor recalled are in no summary either. */
  #warnOfLeftOut({ report: { dropped, recalled, summaryVersion } }: BuiltPrompt): void {
    const { messages = 0 } = dropped.find(({ section, reason }) => section === 'history' && reason === 'budget') ?? {};
    const left = messages - recalled.filter(({ role }) => role !== 'summary').length;
    if (this.#hasWarned || left <= 0 || summaryVersion > 0 || this.service === undefined) return;
    this.#hasWarned = true;
    const message = `${left} older messages were left out, and the service has no summary of them. If it has them, call compact(). If not, leave out the option context.`;
    this.background.onError(new ConfigurationError(message));
  }
}

/** What the prompt of a turn is built from. */
export function paramsOf({
  place,
  seen,
  steps,
}: Pick<BegunTurn, 'seen' | 'steps'> & { place: Place<ConversationMessage> }): PromptParams {
  const input = [...(place.kind === 'results' ? place.turn : []), ...place.input, ...steps];
  return { input, messages: historyOf(place, seen), all: seen };
}

/** @throws {RequestValidationError} that names the message and its field */
function messagesFrom(history: readonly ConversationMessage[]): ConversationMessage[] {
  return history.map((row, at) => messageOf(row, (field, message) => badInput(['history', at, field], message)));
}
