import { pauses } from '../../base/pauses.js';
import { ConfigurationError } from '../../index.js';
import type { Background } from '../background.js';
import { buildOptionsSchema, checkCallOptions } from '../call-options.js';
import type { CurrentContext } from '../context/reader.js';
import { messageOf } from '../context/rows.js';
import type { ServiceContext } from '../context/service.js';
import type { Newest, Session } from '../context/session.js';
import { badInput } from '../messages.js';
import type { BuiltPrompt, ConversationMessage } from '../model.js';
import type { BuildOptions, CheckedOptions } from '../options.js';
import { PromptLayout } from '../prompt/fit.js';
import { Searcher } from '../search/search.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import { historyOf, type Place, placeOf } from './place.js';

interface PromptParams {
  input: readonly ConversationMessage[];
  /** The messages before the input. */
  messages: readonly ConversationMessage[];
  /** The messages before the input, and all after it, in which to search. Without `older`, their positions are not known. */
  all: Pick<Newest, 'messages'> & Partial<Newest>;
  /** Maximum tokens, if they are fewer than those of the options. */
  most?: number;
  /** With `false`, the newest messages are only searched. */
  tail?: false;
}

/** Builds the prompts of a conversation: its context, its newest messages, and what is found for the input. */
export class Prompts {
  readonly searcher: Searcher;
  #hasWarned = false;

  constructor(
    private readonly options: CheckedOptions,
    private readonly session: Session,
    private readonly service: ServiceContext | undefined,
    private readonly background: Background,
  ) {
    this.searcher = new Searcher(options, background.onError);
  }

  /** A prompt for another client, with the stored messages or those that the app passes. */
  async forInput(input: readonly ConversationMessage[], options: BuildOptions): Promise<BuiltPrompt> {
    checkCallOptions(options, buildOptionsSchema);
    const timeouts = this.session.timeouts(options);
    const seen = await this.session.loadNewest(timeouts, options.messages ? [] : input.map(({ id }) => id));
    const passed = options.messages && this.session.marked(messagesFrom(options.messages));
    const all = passed === undefined ? seen : { messages: passed };
    const place = placeOf(input, all.messages, { mayEdit: true });
    const prompt = await this.build(paramsOf(place, all), options, timeouts);
    if (passed !== undefined) this.#warnOfLeftOut(prompt);
    return prompt;
  }

  async context(timeouts: TurnTimeouts): Promise<CurrentContext> {
    return (await this.service?.reader.current(timeouts.request())) ?? { stale: false };
  }

  async build(
    { input, messages, all, most = Number.POSITIVE_INFINITY, tail }: PromptParams,
    { max_tokens = this.options.replyTokens, instructions = this.options.instructions }: BuildOptions,
    timeouts: TurnTimeouts,
  ): Promise<BuiltPrompt> {
    const { contextWindow, budget } = this.options;
    if (!Number.isInteger(max_tokens) || max_tokens < 0 || max_tokens >= contextWindow)
      throw badInput('max_tokens', `must be a whole number of tokens below contextWindow, which is ${contextWindow}`);
    const { stale, snapshot, memory } = await this.context(timeouts);
    const { lost } = this.session.state;
    const params = {
      parts: { ...snapshot, memory },
      history: messages,
      older: all.older,
      input,
      instructions,
      tail,
      budget: Math.min(budget, contextWindow - max_tokens, most),
      limit: Math.min(contextWindow - max_tokens, most),
      count: this.session.counter.count,
    };
    const pause = pauses();
    const plan = new PromptLayout(params);
    await pause();
    // Without a search, as long as all messages fit.
    const isAll = plan.hasAll && lost.length === 0;
    const { older = 0 } = all;
    const archive = this.session.archive({ ...all, older }, timeouts);
    const search = { archive, until: older + messages.length, timeouts, lost };
    const found = isAll ? undefined : await this.searcher.found(input, messages, search);
    await pause();
    const { report, ...prompt } = plan.fill(found);
    await pause();
    const { estimated } = this.session.counter;
    const compactionExhausted = snapshot !== undefined && this.service?.compactor.isExhausted(snapshot) === true;
    return { ...prompt, report: { ...report, estimated, stale, compactionExhausted } };
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

/** What the prompt of a turn is built from. A message of the input stays excluded if it is. */
export function paramsOf(
  place: Place<ConversationMessage>,
  all: PromptParams['all'],
): Pick<PromptParams, 'input' | 'messages' | 'all'> {
  const excluded = new Set(all.messages.flatMap((message) => (message.excluded === true ? (message.id ?? []) : [])));
  const input = place.input.map((message) =>
    excluded.has(message.id ?? '') ? { ...message, excluded: true } : message,
  );
  return { input, messages: historyOf(place, all.messages), all };
}

/** @throws {RequestValidationError} that names the message and its field */
function messagesFrom(messages: BuildOptions['messages']): ConversationMessage[] {
  if (!Array.isArray(messages)) throw badInput('messages', 'must be an array of { role, content }');
  return messages.map((row, at) => messageOf(row, (field, message) => badInput(['messages', at, field], message)));
}
