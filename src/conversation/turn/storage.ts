import type { Runtime } from '../../base/runtime.js';
import { APIAbortError } from '../../index.js';
import { bodyOf } from '../content.js';
import { type Seen, type Session, stored } from '../context/session.js';
import { wholeReplies } from '../in-turns.js';
import { cleaned } from '../messages.js';
import type { ChatTurn, ConversationMessage, PromptReport, StoredMessage } from '../model.js';
import { storedSources } from '../prompt/recall.js';
import { type AppendPlace, ConversationConflictError, ConversationStoreError } from '../store.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import type { Called } from './calls.js';
import {
  answeredBy,
  hasWholeReply,
  isContinued,
  notStored,
  type Place,
  questionOf,
  replacedBy,
  repliesBefore,
} from './place.js';

/** A turn that has begun: its place, and the messages that it saw. Others may be loaded until it ends. */
export interface BegunTurn {
  place: Place;
  seen: Seen;
  replyId: string;
  /** What all messages of the reply have in common: the id of its first end. */
  reply: string;
  /** Messages of the input that this turn has stored. */
  question: readonly StoredMessage[];
  /** The steps of the reply: calls of tools, and their results. */
  steps: readonly StoredMessage[];
  /** Those of them that are stored. */
  kept: readonly StoredMessage[];
}

/** A reply that is to be stored. */
export interface GivenReply {
  text: string;
  /** Its calls of tools, of which some wait for the app. */
  calls?: readonly Called[] | undefined;
  stopped?: boolean | undefined;
  report?: PromptReport | undefined;
}

/** What the service says of a reply. */
export type ReplyFacts = Pick<ConversationMessage, 'finish_reason' | 'model' | 'usage'>;

/** What became of a reply. */
export interface KeptReply {
  /** The messages of the turn that are stored. */
  messages: readonly StoredMessage[];
  /** The ids of messages that are no longer stored. */
  removed: string[];
}

/** What became of messages of a reply, and what is stored then. */
type Added = KeptReply & Pick<BegunTurn, 'kept' | 'seen'>;

/** How often a turn begins again, because the conversation was edited. */
export const BEGINNINGS = 3;
/** Milliseconds to store a reply, after the turn was stopped. */
export const STORING = 5_000;
/** Milliseconds before a message is stored again, after a failure. */
const WAITS = [200, 1_000];

/** Stores the messages of a turn: a new input first, and then the reply. */
export class TurnStorage {
  constructor(
    private readonly session: Session,
    private readonly runtime: Runtime,
  ) {}

  /** A turn with what is stored now, when ids and times are given to its input. */
  begin(place: Place<ConversationMessage>, seen: Seen, replyId: string): BegunTurn {
    const reply = (place.kind === 'results' && place.reply) || replyId;
    const input = stored(this.runtime, place.input);
    return { place: { ...place, input }, seen, replyId, reply, question: [], steps: [], kept: [] };
  }

  /**
   * Stores new messages of the user before they are sent. What replaces others is stored with its reply.
   *
   * @throws {ConversationConflictError} when the conversation was edited, or another process asks the same question
   */
  async storeInput(begun: BegunTurn, newest: string | null | undefined, timeouts: TurnTimeouts): Promise<BegunTurn> {
    const { place, seen } = begun;
    if (!this.session.isStored || place.kind === 'edit') return begun;
    if (place.kind === 'again') {
      await this.#takeIn(begun, timeouts);
      return begun;
    }
    const { input } = place;
    if (input.length === 0) return begun;
    // The results of one call may come from two processes at once.
    const shown = newest === undefined && place.kind === 'results' ? newestIn(seen) : newest;
    const { removed, again, at } = replacedBy(begun);
    const added = [...input, ...stored(this.runtime, again)];
    if ((await this.#append(added, { edits: seen.edits, newest: shown, ...at }, timeouts)) < added.length)
      throw new ConversationConflictError('The question is being asked elsewhere. Load the messages again.');
    this.#replaced(seen, removed, added);
    const now = place.kind === 'results' ? place : { kind: 'again' as const, input };
    return { ...begun, question: input, place: now, seen: this.session.newest };
  }

  /** Stores a reply, in place of what it replaces. @throws {ConversationStoreError} that has the turn */
  async storeReply(begun: BegunTurn, reply: GivenReply, facts: ReplyFacts, timeouts: TurnTimeouts): Promise<KeptReply> {
    const { place, steps, kept, question, seen } = begun;
    const end = this.#endOf(begun, reply, facts);
    const isNothing = reply.stopped === true && end.every(isEmpty);
    const messages = isNothing ? steps : [...steps, ...end];
    if (!this.session.isStored) return { messages: [...place.input, ...messages], removed: [] };
    if (messages.length === kept.length) return { messages: [...question, ...messages], removed: [] };
    try {
      const isEdit = place.kind === 'edit';
      // Another process may have stored a whole one since.
      const now = await (isEdit || wholeReplies(messages).size > 0
        ? seen
        : this.session.loadNewest(timeouts, idsOf(answeredBy(place))).catch(() => seen));
      return await this.#add(begun, isEdit ? [...place.input, ...messages] : messages, now, timeouts);
    } catch (error) {
      // With the question, also if it was stored before: it may be gone.
      if (ConversationStoreError.is(error) && isTurn(reply))
        error.setTurn({ ...reply, messages: [...answeredBy(place), ...messages] });
      throw error;
    }
  }

  /** A turn with one more step: a message that calls tools, and the results of its calls. */
  withStep(begun: BegunTurn, step: readonly ConversationMessage[]): BegunTurn {
    return { ...begun, steps: [...begun.steps, ...this.#ofReply(begun, step)] };
  }

  /** Stores the steps of a reply at once, unless the reply will replace others: then they are stored with its end. */
  async storeSteps(begun: BegunTurn, timeouts: TurnTimeouts): Promise<BegunTurn> {
    const { removed, again } = replacedBy(begun);
    if (!this.session.isStored || begun.place.kind === 'edit' || removed.length > again.length) return begun;
    const { kept, seen } = await this.#add(begun, begun.steps, begun.seen, timeouts);
    return { ...begun, kept, seen };
  }

  /** Adds messages outside a turn, such as a greeting. @throws {ConversationConflictError} */
  async add(messages: readonly StoredMessage[], timeouts: TurnTimeouts): Promise<readonly StoredMessage[]> {
    const ids = messages.flatMap(({ id, replyTo = id }) => [id, replyTo]);
    for (let beginnings = BEGINNINGS; ; beginnings -= 1) {
      const seen = await this.session.loadNewest(timeouts, ids);
      const missing = notStored(messages, seen.messages);
      checkReplies(messages, seen.messages);
      if (missing.length === 0) return messages;
      try {
        const append = () => this.#append(missing, { edits: seen.edits }, timeouts);
        // Another process has added some of them: are they the same?
        if ((await timeouts.storing(STORING, append)) < missing.length) throw new ConversationConflictError();
        this.session.newest = { ...seen, messages: [...seen.messages, ...missing] };
        return messages;
      } catch (error) {
        if (!ConversationConflictError.is(error) || beginnings === 0) throw error;
      }
    }
  }

  /** The last message of a reply, and the results of its calls that do not wait. */
  #endOf(begun: BegunTurn, { text, calls, stopped, report }: GivenReply, facts: ReplyFacts): StoredMessage[] {
    const more = { ...facts, ...(stopped && { stopped: true }), ...(report && storedSources(report)) };
    const message = { id: begun.replyId, role: 'assistant', content: text, ...more };
    return this.#ofReply(begun, calls === undefined ? [message] : stepOf(message, calls));
  }

  /** Messages as they are stored. Those of a reply without tools need nothing in common. */
  #ofReply({ place, reply, steps }: BegunTurn, given: readonly ConversationMessage[]): StoredMessage[] {
    const isOfTools = place.kind === 'results' || steps.length > 0 || given.some(({ tool_calls }) => tool_calls);
    // What follows calls that an app has added belongs to them by its place, as they do.
    const isAdded = place.kind === 'results' && place.reply === undefined;
    const all = isAdded ? {} : { replyTo: questionOf(place), ...(isOfTools && { reply }) };
    return stored(this.runtime, cleaned(given.map((message) => ({ ...message, ...all }))));
  }

  /**
   * Adds the messages of a reply that are not stored yet, in place of the replies before, if these are still the newest messages. A part of
   * one takes no whole one's place. An edit, whose question is among them, replaces what it has seen, and nothing else. `given`: what was
   * read last.
   */
  async #add(begun: BegunTurn, all: readonly StoredMessage[], given: Seen, timeouts: TurnTimeouts): Promise<Added> {
    const { place, question } = begun;
    const isEdit = place.kind === 'edit';
    let { seen } = begun;
    let missing = all.slice(begun.kept.length);
    const isWhole = wholeReplies(missing).size > 0;
    let now = given;
    let { removed, again, at } = replacedBy(begun);
    for (let beginnings = BEGINNINGS; ; beginnings -= 1) {
      const kept = all.slice(0, all.length - missing.length);
      // Nothing was added since the step before.
      const isNew = now !== seen || kept.length === 0;
      if (!isWhole && !isEdit && isNew && hasWholeReply(place, now.messages, begun.reply))
        return { messages: place.input, removed: [], kept, seen };
      try {
        // Another process may go on with the results.
        const newest = place.kind === 'results' || kept.length > 0 ? newestIn(seen) : undefined;
        const others = stored(this.runtime, again);
        const added = isEdit ? [...others, ...missing] : [...missing, ...others];
        await this.#append(added, { edits: seen.edits, newest, ...at }, timeouts);
        const gone = this.#replaced(seen, removed, added);
        if (isEdit) await this.#takeIn(begun, timeouts).catch(this.session.onError);
        // One that is no longer the reply, and that stays where it is, is found by no search either.
        for (const old of isWhole ? repliesBefore(place, seen, removed, begun.reply) : [])
          await this.session.setExcluded(old, 1, timeouts).catch(this.session.onError);
        return { messages: [...question, ...all], removed: gone, kept: all, seen: this.session.newest };
      } catch (error) {
        if (!ConversationConflictError.is(error) || isEdit || beginnings === 0) throw error;
        const answered = answeredBy(place);
        now = await this.#reload(answered, error, timeouts);
        if (!hasAll(answered, now) || isContinued(begun.reply, now.messages, [...answered, ...all])) throw error;
        // Steps that were stored may be gone.
        const there = new Set(now.messages.map(keyOf));
        [seen, removed, again, at] = [now, [], [], undefined];
        missing = all.filter((message) => !there.has(keyOf(message)));
      }
    }
  }

  /** Resolves to how many messages were added. After a failure, what is stored decides. */
  async #append(messages: readonly StoredMessage[], place: AppendPlace, timeouts: TurnTimeouts): Promise<number> {
    for (let failures = 0; ; failures += 1) {
      try {
        const added = await this.session.append(messages, place, timeouts);
        if (added === messages.length || (failures === 0 && isQuestion(messages))) return added;
        if (hasAll(messages, await this.session.loadNewest(timeouts, idsOf(messages)))) return messages.length;
        throw new ConversationConflictError('The id of a message is known with another text. Load the messages again.');
      } catch (error) {
        const isConflict = ConversationConflictError.is(error);
        // Other turns may have stored the same question. A reply and an edit have an id that only this one knows.
        if (!ConversationStoreError.is(error) || (isConflict && failures === 0 && isQuestion(messages))) throw error;
        if (hasAll(messages, await this.#reload(messages, error, timeouts))) return messages.length;
        const wait = isConflict || isLate(error) ? undefined : WAITS[failures];
        if (wait === undefined) throw error;
        await timeouts.sleep(wait);
      }
    }
  }

  #reload(messages: readonly StoredMessage[], error: unknown, timeouts: TurnTimeouts): Promise<Seen> {
    return this.session.loadNewest(timeouts, idsOf(messages)).catch(() => {
      throw error; // which says what was to be stored
    });
  }

  /** What is known after messages were replaced. Returns the ids of those that are gone. */
  #replaced(seen: Seen, removed: readonly ConversationMessage[], added: readonly StoredMessage[]): string[] {
    const kept = seen.messages.slice(0, seen.messages.length - removed.length);
    const edits = seen.edits + Number(removed.length > 0);
    this.session.newest = { ...seen, edits, messages: [...kept, ...added] };
    const same = new Set(added.map(keyOf));
    this.session.forget(removed.filter((message) => !same.has(keyOf(message))));
    const ids = new Set(idsOf(added));
    return removed.flatMap(({ id = '' }) => (ids.has(id) ? [] : id));
  }

  /** A question that is asked is no longer excluded. */
  async #takeIn({ place, seen }: BegunTurn, timeouts: TurnTimeouts): Promise<void> {
    const asked = idsOf(place.input);
    for (const message of seen.messages)
      if (message.excluded === true && asked.includes(message.id ?? ''))
        await this.session.setExcluded(message, 0, timeouts);
  }
}

/** @throws {ConversationConflictError} when a reply names a question that is not stored */
function checkReplies(messages: readonly StoredMessage[], stored: readonly ConversationMessage[]): void {
  const known = new Set(stored.flatMap(({ id, role }) => (role === 'user' ? id : [])));
  const alone = messages.find(({ id, role, replyTo }) => {
    if (role === 'user') known.add(id);
    return role !== 'user' && replyTo !== undefined && !known.has(replyTo);
  });
  if (alone === undefined) return;
  throw new ConversationConflictError(
    `The question that the reply ${alone.id} names is not stored: it was edited or deleted. Load the messages again.`,
  );
}

/** A message that calls tools, and the results of those calls that do not wait. */
export function stepOf(message: ConversationMessage, calls: readonly Called[]): ConversationMessage[] {
  const results = calls.flatMap(({ call: { id }, result }) =>
    result === undefined ? [] : { role: 'tool', content: result, tool_call_id: id },
  );
  return [{ ...message, tool_calls: calls.map(({ call }) => call) }, ...results];
}

/** The id of the newest message. */
function newestIn({ messages }: Seen): string | null {
  return messages.at(-1)?.id ?? null;
}

/** Whether a reply says nothing, and calls nothing. */
function isEmpty({ content, tool_calls = [] }: ConversationMessage): boolean {
  return content.length + tool_calls.length === 0;
}

function keyOf(message: ConversationMessage): string {
  return `${message.id} ${bodyOf(message)}`;
}

function idsOf(messages: readonly StoredMessage[]): string[] {
  return messages.map(({ id }) => id);
}

/** Whether messages are stored, with their texts. */
function hasAll(messages: readonly StoredMessage[], { messages: rows }: Seen): boolean {
  const stored = new Set(rows.map(keyOf));
  return messages.every((message) => stored.has(keyOf(message)));
}

function isQuestion(messages: readonly StoredMessage[]): boolean {
  return messages.every(({ role }) => role === 'user');
}

/** Whether an `append` may still be on its way. */
function isLate({ cause }: Error): boolean {
  return cause === undefined || APIAbortError.is(cause);
}

/** Whether a reply has the other fields of a turn. */
function isTurn(reply: object): reply is Omit<ChatTurn, 'messages'> {
  return 'usage' in reply;
}
