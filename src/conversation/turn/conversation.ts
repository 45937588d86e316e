import type { ChatMessage, RequestOptions } from '../../index.js';
import type { Background } from '../background.js';
import { checkCallOptions, searchOptionsSchema, signalOptionsSchema } from '../call-options.js';
import { ContextActions } from '../context/actions.js';
import type { Session } from '../context/session.js';
import { badInput, messagesOf } from '../messages.js';
import type { BuiltPrompt, ChatTurn, FoundMessage, RecordedReply, ReplyStream, SentPrompt } from '../model.js';
import {
  type BuildOptions,
  type CheckedOptions,
  type ConversationOptions,
  checkOptions,
  type SearchOptions,
  type TurnInput,
  type TurnOptions,
} from '../options.js';
import { withoutCopies } from '../search/copies.js';
import { excerptOf } from '../search/passages.js';
import { positionOf } from './place.js';
import { type Ask, Turns } from './turn.js';

/** So many messages are found, because some may say the same. */
const LEAST_FOUND = 200;
/** Maximum characters of an excerpt. */
const EXCERPT = 400;

/**
 * Creates a conversation whose prompts always fit the model's context window, and which finds what was said in messages
 * that no longer fit. Turns of one conversation run one after the other.
 *
 * @throws {ConfigurationError} when an option is invalid
 *
 * @example
 * ```ts
 * import { createConversation } from 'context-gateway/conversation';
 * const conversation = createConversation({ gateway, conversationId: 'pier', model: 'atlas-small' });
 * await conversation.send('The pier gets a red lamp.');
 * console.log((await conversation.send('Which lamp does the pier get?')).text);
 * ```
 */
export function createConversation(options: ConversationOptions): Conversation {
  return new Conversation(checkOptions(options));
}

/** A conversation whose prompts always fit the model's context window, and whose context is compacted when due. */
export class Conversation extends ContextActions {
  readonly #options: CheckedOptions;
  readonly #turns: Turns;
  readonly #session: Session;
  readonly #background: Background;

  /** @internal With a tag, Vue does not wrap it in a proxy, behind which private fields cannot be read. */
  get [Symbol.toStringTag](): string {
    return 'Conversation';
  }

  /** @internal */
  constructor(options: CheckedOptions) {
    const turns = new Turns(options);
    super(options, turns.session, turns.service);
    this.#options = options;
    this.#turns = turns;
    this.#session = turns.session;
    this.#background = turns.background;
  }

  /**
   * Sends the input and streams the reply: `for await (const text of conversation.stream('…'))`.
   *
   * The input is stored before it is sent, and the reply when it ends, also if it was stopped. Pass messages with ids,
   * `[{ role, content, id }]`, and a page can send a question once more that got no reply: it is not stored again. The new reply
   * replaces the old one, if no other message follows it, and otherwise becomes the newest message. While the question is being
   * asked in this process, also by another object over the same store, the second gets the first one's reply.
   *
   * @throws {ContextBudgetError} before anything is stored or sent, when the instructions, the pins and the input do not fit
   * @throws {ConversationStoreError} when the input cannot be stored (then nothing is sent), or the reply (then `turn` has it)
   * @throws {ConversationConflictError} when another process has stored messages since the turn began, or the id of a message
   * is known with another text; nothing is sent
   * @example
   * ```ts
   * for await (const text of conversation.stream('The harbour opens at six. When does the harbour open?')) {
   *   process.stdout.write(text);
   * }
   * ```
   */
  stream(input: TurnInput, options: TurnOptions = {}): ReplyStream {
    return this.#turns.reply(sent(input), options);
  }

  /**
   * Sends the input and waits for the whole reply. Stores as `stream` does, and throws the same errors.
   *
   * @example
   * ```ts
   * const { text, usage } = await conversation.send('The harbour opens at six. When does the harbour open?');
   * console.log(text, usage.prompt_tokens > 0);
   * ```
   */
  send(input: TurnInput, options: TurnOptions = {}): Promise<ChatTurn> {
    return this.#turns.reply(sent(input), options, false).final();
  }

  /**
   * Generates another reply to the last message of the user, or the first one. The old reply is replaced when the new one is
   * stored, in one step: if that fails, it is still there. It stays, too, if a late reply to another question follows it.
   *
   * @throws {ConfigurationError} when the store has no `append`
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six. When does the harbour open?');
   * console.log((await conversation.regenerate().final()).text);
   * ```
   */
  regenerate(options: TurnOptions = {}): ReplyStream {
    return this.#turns.reply({ how: 'regenerate' }, options);
  }

  /**
   * Replaces the text of a message of the user and all messages after it, and streams the reply. They are replaced when the
   * reply is stored, in one step: if it fails before its first word, they are still there. The message keeps its id, unless your
   * database makes another.
   *
   * @throws {ConfigurationError} when the store has no `append`
   * @example
   * ```ts
   * const { messages } = await conversation.send('The harbour opens at six. When does the harbour open?');
   * const reply = conversation.edit(messages[0]?.id ?? '', 'The harbour opens at nine. When does the harbour open?');
   * console.log((await reply.final()).text);
   * ```
   */
  edit(messageId: string, text: string, options: TurnOptions = {}): ReplyStream {
    return this.#turns.reply({ how: 'edit', messageId, text }, options);
  }

  /**
   * Copies the messages up to and including this one into a new conversation, without the service's context.
   *
   * @example
   * ```ts
   * const { messages } = await conversation.send('The harbour opens at six.');
   * const fork = await conversation.fork(messages[0]?.id ?? '');
   * console.log((await fork.send('When does the harbour open?')).text);
   * ```
   */
  async fork(messageId: string): Promise<Conversation> {
    const timeouts = this.#session.timeouts();
    const { messages } = await this.#session.load(timeouts);
    const copied = messages.slice(0, positionOf(messageId, messages) + 1);
    const conversationId = crypto.randomUUID();
    const store = await this.#session.copy(conversationId, copied, timeouts);
    return new Conversation({ ...this.#options, conversationId, context: undefined, store });
  }

  /**
   * Finds messages by their words, names and dates: for citations, and as a tool for the model. A sentence that was said again is
   * found once, with `repeated`. Those that differ only in numbers follow the others.
   *
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six.');
   * for (const { role, text } of await conversation.search('harbour', { limit: 1 })) console.log(role, text);
   * ```
   */
  async search(query: string, options: SearchOptions = {}): Promise<FoundMessage[]> {
    checkCallOptions(options, searchOptionsSchema);
    const { limit = 10, signal } = options;
    const timeouts = this.#session.timeouts({ signal });
    const archive = this.#session.archive(await this.#session.loadNewest(timeouts), timeouts);
    const found = await this.#turns.prompts.searcher.search(query, Math.max(LEAST_FOUND, limit), archive, timeouts);
    return withoutCopies(found)
      .slice(0, limit)
      .map((one) => ({ ...one, text: excerptOf(one.text, query, EXCERPT) }));
  }

  /**
   * Builds the prompt for an input, to send with any client. Pass the reply to `record`. Give the input an id if you store it
   * before: it is then in the prompt once. The last question may have another text than the stored one.
   *
   * @example
   * ```ts
   * const { chatMessages } = await conversation.buildMessages('The harbour opens at six. When does the harbour open?');
   * const { choices } = await gateway.chat.completions.create({ model: 'atlas-small', messages: chatMessages });
   * console.log(choices[0]?.message.content);
   * ```
   */
  async buildMessages(input: TurnInput, options: BuildOptions = {}): Promise<BuiltPrompt> {
    return this.#turns.prompts.forInput(messagesOf(input), options);
  }

  /**
   * Builds one message with the context and the messages that are found for a question, for prompts that you build
   * yourself. It has at most half of the token budget. Resolves to `undefined` if there is nothing to send.
   *
   * @example
   * ```ts
   * await context.pin('conv_sample', 'msg_sample_7');
   * const message = await conversation.contextMessage('Why Parquet?');
   * console.log(message?.content.includes('finance team'));
   * ```
   */
  async contextMessage(
    question: string,
    options: Pick<RequestOptions, 'signal'> = {},
  ): Promise<ChatMessage | undefined> {
    checkCallOptions(options, signalOptionsSchema);
    const input = messagesOf(question);
    const timeouts = this.#session.timeouts(options);
    const all = await this.#session.loadNewest(timeouts);
    const params = {
      input,
      messages: all.messages,
      all,
      most: Math.floor(this.#options.budget / 2),
      tail: false,
    } as const;
    const prompt = await this.#turns.prompts.build(params, options, timeouts);
    const texts = [prompt.context, prompt.recalled].flatMap((message) => message?.content ?? []);
    return texts.length === 0 ? undefined : { role: 'user', content: texts.join('\n\n') };
  }

  /**
   * Stores a turn that was made with another client, and compacts in the background if due. Without `reply`, stores the input
   * alone, so that a question is there before you send it. If the input is already stored (by its ids), it is not stored again:
   * the reply replaces the stored one, if no other message follows it. Recording a turn twice stores it once. With its reply, the
   * last question may have another text: it is edited.
   *
   * @throws {ConversationConflictError} when the id of another message is known with another text
   * @throws {ConversationStoreError} when the turn cannot be stored
   * @example
   * ```ts
   * await conversation.record('The harbour opens at six.', { text: 'Noted.' });
   * console.log((await conversation.send('When does the harbour open?')).text);
   * ```
   */
  record(input: TurnInput, reply?: RecordedReply): Promise<void> {
    const messages = messagesOf(input);
    if (reply !== undefined && typeof reply?.text !== 'string') throw badInput('reply', 'must be { text }');
    if (typeof (reply?.id ?? '') !== 'string') throw badInput('reply.id', 'must be a string');
    return this.#background.run(this.#turns.record(messages, reply)); // whose errors a caller may ignore
  }

  /**
   * Compacts in the background if due. Call it after turns that you do not pass to `record`. Pass `sent`, a prompt and its
   * reported tokens, to correct the token estimate.
   *
   * @example
   * ```ts
   * const { chatMessages: messages } = await conversation.buildMessages('When does the harbour open?');
   * const { usage } = await gateway.chat.completions.create({ model: 'atlas-small', messages });
   * conversation.compactWhenDue(usage && { messages, prompt_tokens: usage.prompt_tokens });
   * await conversation.idle();
   * ```
   */
  compactWhenDue(sent?: SentPrompt): void {
    const timeouts = this.#session.timeouts({ signal: this.#background.signal });
    this.#background.behind(this.#session.loadNewest(timeouts).then(() => this.#turns.compactWhenDue(timeouts, sent)));
  }

  /**
   * Resolves when no background work is running. For tests, and before a serverless function returns.
   *
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six.');
   * await conversation.idle(); // before a serverless function returns
   * ```
   */
  async idle(): Promise<void> {
    await this.#background.idle();
  }

  /**
   * Stops background work. The two clients stay open.
   *
   * @example
   * ```ts
   * conversation.close(); // or `await using conversation = createConversation({ … })`
   * ```
   */
  close(): void {
    this.#background.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.idle();
  }
}

/** Copies the input now, so that later changes by the caller change nothing. An error is thrown by the reply. */
function sent(input: TurnInput): Ask {
  return { how: 'send', input: Array.isArray(input) ? input.map((message) => ({ ...message })) : input };
}
