import type { ChatCompletion, ToolCall } from '../../index.js';
import { type Content, textOf } from '../content.js';
import { badInput, findBadField, OpenCalls } from '../messages.js';
import type { BuiltPrompt, ChatTurn, ConversationMessage, PromptReport } from '../model.js';
import type { MadeReply } from './end.js';

/** A reply that another client generated: its text, a message with what is known of it, or a completion. */
export type FinishedReply =
  | string
  | (Omit<StepMessage, 'role'> & Pick<ConversationMessage, 'stopped' | 'finish_reason' | 'model' | 'usage'>)
  | ChatCompletion;

/** A message that calls tools, as a completion has it, or the result of a call. */
export type StepMessage = {
  role: string;
  content?: Content | null | undefined;
  tool_calls?: readonly ToolCall[] | null | undefined;
  tool_call_id?: string | undefined;
};

/** What becomes of a turn that another client continues. */
interface Continuation {
  store(reply: MadeReply): Promise<ChatTurn> | ChatTurn;
  /** Stores a step, and returns the prompt with all steps. */
  keep(step: readonly ConversationMessage[]): Promise<BuiltPrompt>;
}

/** A turn whose question is stored, and whose reply another client generates. */
export class PreparedTurn {
  /** The prompt, with the instructions as a system message, and the steps so far: for `gateway.chat.completions.create`. */
  prompt: BuiltPrompt['chatMessages'];
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
  report: PromptReport;
  #finished: { reply: string; turn: Promise<ChatTurn> | undefined } | undefined;
  #steps: Promise<void> = Promise.resolve();
  readonly #continuation: Continuation;

  /** @internal */
  constructor(
    { chatMessages, instructions, messages, context, recalled, start, report }: BuiltPrompt,
    /** The id with which the reply is stored, which a page may know before it has begun. */
    readonly replyId: string,
    continuation: Continuation,
  ) {
    this.prompt = chatMessages;
    this.instructions = instructions;
    this.messages = messages;
    this.context = context;
    this.recalled = recalled;
    this.start = start;
    this.report = report;
    this.#continuation = continuation;
  }

  /**
   * Keeps a step of the reply, a message with `tool_calls` and their results, and adds it to `prompt`. It is stored at once; if the
   * reply replaces another, when it has ended. A call without a result gets one that says that it was not run. If the prompt becomes
   * too long, the oldest results are left out of it.
   *
   * @throws {RequestValidationError} when the first message calls no tool, or another is no result
   * @throws {ConversationStoreError} when it cannot be stored
   * @throws {ConversationConflictError} when its question is another now
   * @example
   * ```ts
   * const turn = await conversation.prepare('When is high tide in Bergen?');
   * const call = { id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{"harbour":"Bergen"}' } };
   * await turn.step([
   *   { role: 'assistant', content: null, tool_calls: [call] },
   *   { role: 'tool', tool_call_id: call.id, content: 'High tide in Bergen is at noon.' },
   * ]);
   * await turn.finish('At noon.');
   * ```
   */
  async step(messages: readonly StepMessage[]): Promise<void> {
    const step = stepOf(messages);
    if (this.#finished !== undefined) throw badInput('messages', 'must be given before the turn is finished');
    this.#steps = this.#steps
      .catch(() => {}) // its caller was told
      .then(async () => {
        const { chatMessages, report } = await this.#continuation.keep(step);
        this.prompt = chatMessages;
        this.report = report;
      });
    return this.#steps;
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
    const key = JSON.stringify([made.text, made.calls, made.stopped ?? false]);
    if (this.#finished !== undefined && this.#finished.reply !== key)
      throw badInput('reply', 'must be the one that the turn was finished with');
    const steps = this.#steps.catch(() => {}); // each has told its caller
    const turn = this.#finished?.turn ?? steps.then(() => this.#continuation.store(made));
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
  const { choices, ...given } = Object(reply);
  const isCompletion = Array.isArray(choices);
  const { content, tool_calls, stopped, finish_reason, model, usage } = isCompletion
    ? Object(choices[0]?.message)
    : given;
  if (!isCompletion && !tool_calls && typeof content !== 'string' && !Array.isArray(content))
    throw badInput('reply', 'must be a text, { content }, or a completion');
  const facts = { finish_reason, model, usage };
  const message = { role: 'assistant', content: content ?? '', tool_calls, stopped, ...(!isCompletion && facts) };
  const checked = checkedMessage(message, ['reply']);
  const made = { text: textOf(checked), calls: checked.tool_calls?.map((call) => ({ call, result: undefined })) };
  return isCompletion ? { ...made, completion: reply as ChatCompletion } : { ...made, stopped, facts };
}

/** @throws {RequestValidationError} */
function stepOf(messages: readonly StepMessage[]): ConversationMessage[] {
  if (!Array.isArray(messages)) throw badInput('messages', 'must be an array of a call and its results');
  const step = messages.map((message, at) => checkedMessage(message, ['messages', at]));
  const [first, ...results] = step;
  if (!first?.tool_calls?.length) throw badInput(['messages', 0], 'must be a message of the assistant with tool_calls');
  const at = results.findIndex(({ role }) => role !== 'tool');
  if (at >= 0)
    throw badInput(['messages', at + 1, 'role'], "must be 'tool': each step has one message that calls tools");
  const open = new OpenCalls(first);
  const other = results.findIndex((result) => !open.take(result));
  if (other >= 0) throw badInput(['messages', other + 1, 'tool_call_id'], 'must be the id of a call of this step');
  return step;
}

/** A message as it is stored: the text of one that only calls tools is ''. @throws {RequestValidationError} */
function checkedMessage(given: StepMessage, path: (string | number)[]): ConversationMessage {
  const { role, content, tool_calls, tool_call_id, ...more } = Object(given);
  const calls = Array.isArray(tool_calls) && tool_calls.length === 0 ? undefined : (tool_calls ?? undefined);
  const message = {
    ...more,
    role,
    content: content ?? (calls === undefined ? content : ''),
    ...(calls !== undefined && { tool_calls: calls }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
  const [field, problem] = findBadField(message) ?? [];
  if (field !== undefined) throw badInput([...path, field], problem);
  return message;
}
