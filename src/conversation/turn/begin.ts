import type { Content } from '../content.js';
import type { Session } from '../context/session.js';
import type { BuiltPrompt, ConversationMessage } from '../model.js';
import type { TurnOptions } from '../options.js';
import { ConversationConflictError } from '../store.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import { checkNewest, type Place, placeOf, placeOfAnother, placeOfEdit } from './place.js';
import { type Prompts, paramsOf } from './prompts.js';
import { BEGINNINGS, type BegunTurn, type TurnStorage } from './storage.js';

/** What a turn asks. The messages of an input have ids. */
export type Ask =
  | { how: 'send'; input: readonly ConversationMessage[] }
  | { how: 'regenerate' }
  | { how: 'edit'; messageId: string; text: Content };

/** Milliseconds to store the question of a turn that was stopped. */
const STORING = 1_000;

/** A turn whose question is stored, and its prompt. */
export interface Prepared {
  begun: BegunTurn;
  prompt: BuiltPrompt;
}

/** The beginning of each turn: loads the messages, builds the prompt, and then stores the question. */
export class Beginnings {
  constructor(
    private readonly session: Session,
    private readonly storage: TurnStorage,
    private readonly prompts: Prompts,
  ) {}

  /**
   * Begins again if the conversation is edited meanwhile.
   *
   * @throws {ConversationConflictError} when the page does not show the `newest`, or another process asks the same question
   */
  async prepare(ask: Ask, options: TurnOptions, timeouts: TurnTimeouts, replyId: string): Promise<Prepared> {
    const { newest } = options;
    let first: Place | undefined;
    for (let beginnings = BEGINNINGS; ; beginnings -= 1) {
      const begun = await this.begin(ask, newest, timeouts, replyId);
      first ??= begun.place;
      if (isTaken(first, begun.place))
        throw new ConversationConflictError('The question is being asked elsewhere. Load the messages again.');
      const prompt = await this.prompts.build(paramsOf(begun), options, timeouts);
      timeouts.throwIfAborted(); // a turn that was stopped before stores nothing, nor does one whose prompt does not fit
      try {
        const store = () => this.storage.storeInput(begun, newest, timeouts);
        const stored = await timeouts.storing(STORING, store).finally(() => timeouts.throwIfAborted());
        return { begun: stored, prompt };
      } catch (error) {
        if (!ConversationConflictError.is(error) || newest !== undefined || beginnings === 0) throw error;
      }
    }
  }

  /** Finds the place of a turn in what is stored now. */
  async begin(
    ask: Ask,
    newest: string | null | undefined,
    timeouts: TurnTimeouts,
    replyId: string,
  ): Promise<BegunTurn> {
    if (ask.how !== 'send') this.session.checkStored(ask.how);
    const input = ask.how === 'send' ? ask.input : [];
    const ids = input.map(({ id }) => id);
    // Behind an edited question, there may be a reply to any earlier one.
    let seen = await (ask.how === 'edit' ? this.session.load(timeouts) : this.session.loadNewest(timeouts, ids));
    let place: Place<ConversationMessage>;
    try {
      place = placeIn(ask, seen.messages);
    } catch (error) {
      if (seen.older === 0) throw error;
      seen = await this.session.load(timeouts); // the last question, or the call of a result, may be older
      place = placeIn(ask, seen.messages);
    }
    checkNewest(newest, input, seen.messages);
    return this.storage.begin(place, seen, replyId); // dated now, not when the reply ends
  }
}

/** Whether messages that were new when the turn first began are stored now. */
function isTaken(first: Place, { kind, input }: Place): boolean {
  if (first.kind === 'results') return input.length < first.input.length;
  return first.kind === 'new' && kind === 'again';
}

function placeIn(ask: Ask, messages: readonly ConversationMessage[]): Place<ConversationMessage> {
  if (ask.how === 'send') return placeOf(ask.input, messages);
  if (ask.how === 'edit') return placeOfEdit(ask.messageId, ask.text, messages);
  return placeOfAnother(messages);
}
