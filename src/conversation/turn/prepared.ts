import type { ChatCompletion } from '../../index.js';
import { badInput, findBadField } from '../messages.js';
import type { BuiltPrompt, ChatTurn, ConversationMessage, PromptReport } from '../model.js';
import type { MadeReply } from './end.js';

/** A reply that another client generated: its text, a message with what is known of it, or a completion. */
export type FinishedReply =
  | string
  | Pick<ConversationMessage, 'content' | 'stopped' | 'finish_reason' | 'model' | 'usage'>
  | ChatCompletion;

/** A turn whose question is stored, and whose reply another client generates. */
export class PreparedTurn {
  /** The prompt, with the instructions as a system message: for `gateway.chat.completions.create`. */
  readonly prompt: BuiltPrompt['chatMessages'];
  /** The instructions. Not among `messages`, because some clients take them separately. */
  readonly instructions: string | undefined;
  /** The context, the newest messages, the recalled ones and the input. Contains no system message. */
  readonly messages: BuiltPrompt['messages'];
  /** The context message, unless the context is empty. Already part of the prompt. */
  readonly context: BuiltPrompt['context'];
  /** The message with what was recalled, if anything was. Already part of the prompt, right before the input. */
  readonly recalled: BuiltPrompt['recalled'];
  /** Index of the first of the newest messages that are sent as they are. */
  readonly start: number;
  readonly report: PromptReport;
  #finished: { reply: string; turn: Promise<ChatTurn> | undefined } | undefined;
  readonly #store: (reply: MadeReply) => Promise<ChatTurn> | ChatTurn;

  /** @internal */
  constructor(
    { chatMessages, instructions, messages, context, recalled, start, report }: BuiltPrompt,
    /** The id with which the reply is stored, which a page may know before it has begun. */
    readonly replyId: string,
    store: (reply: MadeReply) => Promise<ChatTurn> | ChatTurn,
  ) {
    this.prompt = chatMessages;
    this.instructions = instructions;
    this.messages = messages;
    this.context = context;
    this.recalled = recalled;
    this.start = start;
    this.report = report;
    this.#store = store;
  }

  /**
   * Stores the reply, corrects the estimate by its usage, and starts a compaction if one is due. The same reply again is stored once.
   * After an error, the same may be tried again.
   *
   * @throws {ConversationStoreError} when the reply cannot be stored; `turn` has it
   * @throws {ConversationConflictError} when its question is another now; `turn` has it
   * @throws {RequestValidationError} when the turn has another reply already
   * @example
   * ```ts
   * const turn = await conversation.prepare('The harbour opens at six. When does the harbour open?');
   * await turn.finish(await gateway.chat.completions.create({ model: 'atlas-small', messages: turn.prompt }));
   * ```
   */
  async finish(reply: FinishedReply): Promise<ChatTurn> {
    const made = madeOf(reply);
    const key = JSON.stringify([made.text, made.stopped ?? false]);
    if (this.#finished !== undefined && this.#finished.reply !== key)
      throw badInput('reply', 'must be the one that the turn was finished with');
    const turn = this.#finished?.turn ?? Promise.resolve(this.#store(made));
    this.#finished = { reply: key, turn };
    turn.catch(() => {
      this.#finished = { reply: key, turn: undefined }; // it may be tried again, and may be stored already
    });
    return turn;
  }
}

/** @throws {RequestValidationError} */
function madeOf(reply: FinishedReply): MadeReply {
  if (typeof reply === 'string') return { text: reply };
  const { choices, content, stopped, finish_reason, model, usage } = Object(reply);
  const text = Array.isArray(choices) ? (choices[0]?.message?.content ?? '') : content;
  if (typeof text !== 'string') throw badInput('reply', 'must be a text, { content }, or a completion');
  const facts = { finish_reason, model, usage };
  const [field, problem] = findBadField({ role: 'assistant', content: text, stopped, ...(!choices && facts) }) ?? [];
  if (field !== undefined) throw badInput(['reply', field], problem);
  return Array.isArray(choices) ? { text, completion: reply as ChatCompletion } : { text, stopped, facts };
}
