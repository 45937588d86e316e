import { pauses } from '../../base/pauses.js';
import { ConfigurationError } from '../../index.js';
import type { Background } from '../background.js';
import { messageOf } from '../context/rows.js';
import type { CurrentContext, ServiceContext } from '../context/service.js';
import type { Session } from '../context/session.js';
import { badInput } from '../messages.js';
import type { BuiltPrompt, ConversationMessage } from '../model.js';
import { type BuildOptions, buildOptionsSchema, type CheckedOptions, checkCallOptions } from '../options.js';
import { PromptLayout } from '../prompt/fit.js';
import { Searcher } from '../search/search.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import { historyOf, type Place, placeOf } from './place.js';

interface PromptParams {
  input: readonly ConversationMessage[];
  /** The messages before the input. */
  messages: readonly ConversationMessage[];
  /** The messages before the input, and all after it. @default those of the store */
  all?: readonly ConversationMessage[];
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
    await this.session.load(timeouts);
    const passed = options.messages && this.session.marked(messagesFrom(options.messages));
    const all = passed ?? this.session.messages;
    const place = placeOf(input, all, { mayEdit: true });
    const prompt = await this.build({ ...paramsOf(place, all), all }, options, timeouts);
    if (passed !== undefined) this.#warnOfLeftOut(prompt);
    return prompt;
  }

  async context(timeouts: TurnTimeouts): Promise<CurrentContext> {
    return (await this.service?.current(timeouts.request())) ?? { stale: false };
  }

  async build(
    { input, messages, all = this.session.messages, most = Number.POSITIVE_INFINITY, tail }: PromptParams,
    { max_tokens = this.options.reserveOutput, instructions = this.options.instructions }: BuildOptions,
    timeouts: TurnTimeouts,
  ): Promise<BuiltPrompt> {
    const { contextWindow, budget } = this.options;
    if (!Number.isInteger(max_tokens) || max_tokens < 0 || max_tokens >= contextWindow)
      throw badInput('max_tokens', `must be a whole number of tokens below contextWindow, which is ${contextWindow}`);
    const { stale, snapshot, memory } = await this.context(timeouts);
    const { layout, lost } = this.session.state;
    const params = {
      ...{ parts: { ...snapshot, memory }, history: messages, input, instructions, tail },
      budget: Math.min(budget, contextWindow - max_tokens, most),
      limit: Math.min(contextWindow - max_tokens, most),
      countTokens: this.session.counter.count,
      previous: layout,
    };
    const pause = pauses();
    const plan = new PromptLayout(params);
    await pause();
    // Without a search, as long as all messages fit.
    const isAll = plan.start === 0 && lost.length === 0;
    const found = isAll ? undefined : await this.searcher.found(input, messages, { all, timeouts, lost });
    await pause();
    const { state, report, ...prompt } = plan.fill(found);
    await pause();
    const { estimated } = this.session.counter;
    const compactionExhausted = snapshot !== undefined && this.service?.isExhausted(snapshot) === true;
    if (tail !== false) this.session.set({ layout: state });
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

/** What the prompt of a turn is built from. */
export function paramsOf(
  place: Place<ConversationMessage>,
  messages: readonly ConversationMessage[],
): Pick<PromptParams, 'input' | 'messages'> {
  return { input: place.input, messages: historyOf(place, messages) };
}

/** @throws {RequestValidationError} that names the message and its field */
function messagesFrom(messages: BuildOptions['messages']): ConversationMessage[] {
  if (!Array.isArray(messages)) throw badInput('messages', 'must be an array of { role, content }');
  return messages.map((row, at) => messageOf(row, (field, message) => badInput(['messages', at, field], message)));
}
