import type { ToolCall } from '../../index.js';
import type { Background } from '../background.js';
import { checkCallOptions, messagesOptionsSchema, prepareOptionsSchema, searchOptionsSchema } from '../call-options.js';
import { ContextActions } from '../context/actions.js';
import { type Session, stored } from '../context/session.js';
import { inTurns } from '../in-turns.js';
import { badInput, messagesOf } from '../messages.js';
import type { ChatTurn, ConversationMessage, FoundMessage, ReplyStream, StoredMessage } from '../model.js';
import {
  type CheckedOptions,
  type ConversationOptions,
  checkOptions,
  type MessagesOptions,
  type PrepareOptions,
  type SearchOptions,
  type TurnInput,
  type TurnOptions,
} from '../options.js';
import { withoutCopies } from '../search/copies.js';
import { excerptOf } from '../search/passages.js';
import { positionOf, waitingCalls } from './place.js';
import type { PreparedTurn } from './prepared.js';
import { type Asked, Turns } from './turn.js';

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
   * The input is stored before it is sent, and the reply when it ends, also if it was stopped. With ids, `[{ role, content, id }]`, a
   * page can send a question once more: it is not stored again, and the new reply replaces the old one. While the same question is
   * being asked in this process, the second gets the first one's reply.
   *
   * @throws {ContextBudgetError} before anything is stored or sent, when the instructions, the pins and the input do not fit
   * @throws {ConversationStoreError} when the input cannot be stored (then nothing is sent), or the reply (then `turn` has it)
   * @throws {ConversationConflictError} when an id is known with another text, another process asks the same question, or `newest` is
   * not the newest message (then nothing is sent), or when the question was edited meanwhile (then `turn` has the reply)
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
   * A reply that failed after calls of tools goes on after their results.
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
   * reply is stored, in one step: if it fails before its first word, they are still there. The message keeps its id.
   *
   * @throws {ConversationConflictError} when messages were stored that it has not seen: it replaces nothing, and `turn` has the reply
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
   * Copies the messages up to and including this one into a new conversation, without the service's context. They keep their ids.
   * With a question, it ends with that, and with a reply, with that reply.
   *
   * @example
   * ```ts
   * const { messages } = await conversation.send('The harbour opens at six.');
   * const fork = await conversation.fork(messages[0]?.id ?? '');
   * console.log((await fork.send('When does the harbour open?')).text);
   * ```
   */
  async fork(messageId: string): Promise<Conversation> {
    this.#session.checkStored('fork');
    const timeouts = this.#session.timeouts();
    const { messages } = await this.#session.load(timeouts);
    const turns = inTurns(messages);
    const originals = new Map(messages.map((message) => [message.id, message]));
    const kept = turns.slice(0, positionOf(messageId, turns) + 1).flatMap(({ id }) => originals.get(id) ?? []);
    const copied = stored(this.#options.runtime, kept);
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
    if (typeof query !== 'string') throw badInput('query', 'must be a text');
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
   * Begins a turn whose reply another client generates: builds the prompt, and then stores the question. Send `turn.prompt`, and
   * pass what comes back to `turn.finish`, which stores it. With `edit` the question is stored with its reply. With `history`,
   * the messages before the input in place of those of the store, nothing is stored.
   *
   * @throws {ContextBudgetError} before anything is stored, when the instructions, the pins and the input do not fit
   * @throws {ConversationStoreError} when the question cannot be stored
   * @throws {ConversationConflictError} when it is being asked elsewhere, or its id is known with another text
   * @example
   * ```ts
   * const turn = await conversation.prepare('The harbour opens at six. When does the harbour open?');
   * const reply = await gateway.chat.completions.create({ model: 'atlas-small', messages: turn.prompt });
   * console.log((await turn.finish(reply)).text);
   * ```
   */
  async prepare(input: TurnInput, options: PrepareOptions = {}): Promise<PreparedTurn> {
    checkCallOptions(options, prepareOptionsSchema);
    return this.#turns.prepare(messagesOf(input), options);
  }

  /**
   * Stores messages as they are: a greeting, the reply of an operator, an import, or the `turn` of a `ConversationStoreError`. Those
   * that are stored already are not added again. Resolves to them with their ids.
   *
   * @throws {ConversationConflictError} when an id is known with another text, or `replyTo` names a question that is not stored
   * @throws {ConversationStoreError} when they cannot be stored
   * @throws {ConfigurationError} when the store has no `append`
   * @example
   * ```ts
   * await conversation.add([{ role: 'assistant', content: 'Welcome to the harbour office.' }]);
   * ```
   */
  async add(messages: readonly ConversationMessage[]): Promise<readonly StoredMessage[]> {
    return this.#background.run(this.#turns.add(messagesOf(messages)));
  }

  /**
   * The messages of the conversation, in the order of their turns: a reply stands after its question. Those with the role `tool` are
   * results, and `textOf` of one that only calls tools is empty: leave both out to show what people said.
   *
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six.');
   * for (const { role, content } of await conversation.messages({ limit: 20 })) console.log(role, content);
   * ```
   */
  async messages(options: MessagesOptions = {}): Promise<readonly ConversationMessage[]> {
    checkCallOptions(options ?? {}, messagesOptionsSchema);
    const { before, limit = 50, ...request } = options ?? {};
    return this.#turns.messages(before, limit, this.#session.timeouts(request));
  }

  /**
   * The calls of tools that wait for your app, as the `toolCalls` of their turn: also in another process, and after a restart. Empty if
   * none waits. The next input is their results. They no longer wait when another question has a reply.
   *
   * @example
   * ```ts
   * const results = (await conversation.toolCalls()).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Yes.' }));
   * if (results.length > 0) await conversation.send(results);
   * ```
   */
  async toolCalls(): Promise<readonly ToolCall[]> {
    return waitingCalls((await this.#session.loadNewest(this.#session.timeouts())).messages);
  }

  /**
   * Resolves when no turn runs, and no background work. Replies that are being read are read to their ends. For tests, and before a serverless function returns.
   *
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six.');
   * await conversation.idle(); // before a serverless function returns
   * ```
   */
  async idle(): Promise<void> {
    await this.#turns.idle();
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
function sent(input: TurnInput): Asked {
  return { how: 'send', input: Array.isArray(input) ? input.map((message) => ({ ...message })) : input };
}
