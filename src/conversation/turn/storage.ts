import type { Runtime } from '../../base/runtime.js';
import { type Newest, type Session, type Spot, stored } from '../context/session.js';
import { questionIn, wellFormed } from '../messages.js';
import type { ChatTurn, ConversationMessage, PromptReport, RecordedReply, StoredMessage } from '../model.js';
import { storedSources } from '../prompt/recall.js';
import { ConversationConflictError, ConversationStoreError } from '../store.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import { afterConflict } from './conflict.js';
import { checkIds, isNew, type Place, spotOf } from './place.js';

/** A turn that has begun: its place, and the messages that it saw. Others may be loaded until it ends. */
export interface BegunTurn {
  place: Place;
  seen: Newest;
  /** The ids that the turn has made for its input. */
  made: ReadonlySet<string>;
  replyId: string | undefined;
  /** Messages of the input that this turn has stored. */
  question: readonly StoredMessage[];
}

/** How often a turn takes another place, because other processes store theirs. */
const PLACES = 20;

/** Stores the messages of a turn in its place: a new input first, and then the reply. */
export class TurnStorage {
  constructor(
    private readonly session: Session,
    private readonly runtime: Runtime,
  ) {}

  /** A turn with what is stored now, when ids and times are given to its input. */
  begin(place: Place<ConversationMessage>, seen: Newest, replyId: string | undefined): BegunTurn {
    if (this.session.isStored) checkIds(spotOf(place, seen.messages));
    const input = stored(this.runtime, place.input);
    const made = new Set(input.filter((_, at) => place.input[at]?.id === undefined).map(({ id }) => id));
    return { place: { ...place, input }, seen, made, replyId, question: [] };
  }

  /** Stores new messages of the user before they are sent. What replaces others is stored with its reply. */
  async storeInput(begun: BegunTurn, timeouts: TurnTimeouts): Promise<BegunTurn> {
    const { place, seen } = begun;
    if (!isNew(place)) return begun;
    const { messages: question } = await this.#append(begun, place.input, timeouts);
    const messages = [...seen.messages, ...question];
    return { ...begun, question, place: { kind: 'again', input: question }, seen: { ...seen, messages } };
  }

  /** Stores a reply, in place of the messages that it replaces. An edited message is stored with it. */
  async storeReply(
    begun: BegunTurn,
    reply: RecordedReply & { report?: PromptReport },
    timeouts: TurnTimeouts,
  ): Promise<{ messages: StoredMessage[]; removed: string[] }> {
    const { place, replyId, question } = begun;
    const { text, stopped, report } = reply;
    const edited = place.kind === 'edit' ? place.input : [];
    // The id of an edited question is known only when both are stored. Its reply follows it.
    const replyTo = place.kind === 'edit' ? undefined : questionIn(place.input)?.id;
    const more = { replyTo, ...(stopped && { stopped: true }), ...(report && storedSources(report)) };
    const answer: ConversationMessage = { id: replyId, role: 'assistant', content: wellFormed(text), ...more };
    const added = stored(this.runtime, [...edited, answer]);
    try {
      const { messages, removed } = await this.#append(begun, added, timeouts);
      return { messages: [...question, ...messages], removed: removed.flatMap(({ id }) => id ?? []) };
    } catch (error) {
      // With the question, also if it is stored: `record` stores the reply after it.
      const messages = place.kind === 'edit' ? added : [...place.input, ...added];
      if (ConversationStoreError.is(error) && isTurn(reply)) error.setTurn({ ...reply, messages });
      throw error;
    }
  }

  /** Stores messages in their place. When another process has changed the conversation, `afterConflict` decides. */
  async #append(
    { place, seen: { messages: seen, older }, made }: BegunTurn,
    added: readonly StoredMessage[],
    timeouts: TurnTimeouts,
  ): Promise<Pick<Spot, 'removed'> & { messages: StoredMessage[] }> {
    let [spot, before] = [spotOf(place, seen), older];
    let ids: readonly (string | undefined)[] = [];
    for (let places = PLACES; ; places -= 1) {
      const missing = added.filter((_, at) => ids[at] === undefined);
      try {
        const given = (await this.session.append(missing, spot, before, timeouts)).values();
        const all = added.map((message, at) => ({ ...message, id: ids[at] ?? String(given.next().value) }));
        return { messages: all, removed: spot.removed };
      } catch (error) {
        const isConflict = ConversationConflictError.is(error);
        if (!isConflict && Object(error).cause === undefined) throw error; // too late: it may still be on its way
        const loaded = await this.session.loadNewest(timeouts, idsOf(place, added)).catch(() => {
          throw error; // which gets the reply
        });
        const now = loaded.messages;
        const after = afterConflict(place, added, { seen, now, made, isConflict });
        if (after.next === 'done') {
          const texts = new Map(now.map(({ id, content }) => [id, content]));
          const removed = spot.removed.filter(({ id, content }) => texts.get(id) !== content);
          this.session.forget(after.ids, removed);
          return { messages: added.map((message, at) => ({ ...message, id: after.ids[at] ?? message.id })), removed };
        }
        if (!isConflict || after.next === 'conflict' || places === 0) throw error;
        ids = after.ids;
        [spot, before] = [spotOf(place, now), loaded.older];
      }
    }
  }
}

/** The messages that a turn must know, to decide what follows a conflict. */
function idsOf(place: Place, added: readonly StoredMessage[]): string[] {
  const ids = [...place.input, ...added].map(({ id }) => id);
  return place.kind === 'edit' ? [...ids, place.from] : ids;
}

/** Whether a reply has the other fields of a turn. One that was recorded has not. */
function isTurn(reply: object): reply is Omit<ChatTurn, 'messages'> {
  return 'report' in reply;
}
