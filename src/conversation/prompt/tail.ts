import { startOf } from '../../base/unicode.js';
import { textOf } from '../content.js';
import { asSent, hashText, isSent, type Piece, piecesOf, type SentMessage } from '../messages.js';
import type { ConversationMessage, Dropped } from '../model.js';
import { messageTokens } from './tokens.js';

/** The newest messages as they are sent. */
export interface Newest {
  messages: SentMessage[];
  tokens: number;
  /** The replies of the last turn that are not among them: the index of the first, and of the next one that is. */
  gap: readonly [from: number, to: number];
}

/** The newest messages. Counted from the end, so that messages too old to send are never counted. */
export class Tail {
  /** Cumulative tokens of the newest 0, 1, 2, … messages. */
  readonly #sums = [0];

  constructor(
    private readonly history: readonly ConversationMessage[],
    private readonly count: (text: string) => number,
    /** Messages of the conversation that are older than the history. `undefined` if that is not known. */
    private readonly older: number | undefined,
  ) {}

  /** Index of the last question that is sent. Its turn goes on to the end. */
  get lastTurn(): number {
    const at = this.history.findLastIndex((_, index) => this.#isQuestion(index));
    return at === -1 ? this.history.length : at;
  }

  /**
   * The messages from `start` on. The last turn is shortened to `room` tokens. With a `share`, all of it is sent up to so many
   * tokens, and above only its question, its newest reply, and others as far as they fit into the share.
   */
  within(room: number, start: number, share = Number.POSITIVE_INFINITY): Newest {
    const pieces = piecesOf(this.history.slice(start));
    const tokens = this.tokens(start);
    if (start < this.lastTurn || tokens <= Math.min(room, share))
      return { messages: pieces.flatMap((piece) => piece.messages), tokens, gap: [start, start] };
    const count = (messages: readonly SentMessage[]): number => messageTokens(messages, this.count);
    const kept = shortenedTurn(pieces, { room, share, count });
    const messages = kept.flatMap((piece) => piece.messages);
    const end = start + (kept[1]?.at ?? this.history.length - start);
    return { messages, tokens: count(messages), gap: [start + 1, end] };
  }

  /** Old messages are not counted in tokens, because there may be very many. `gap`: those of the last turn. */
  dropped(start: number, [from, to]: Newest['gap']): Dropped[] {
    const isExcluded = ({ excluded }: ConversationMessage): boolean => excluded === true;
    const excluded = this.history.filter(isExcluded).length;
    const old = (this.older ?? 0) + start - this.history.slice(0, start).filter(isExcluded).length;
    const dropped: Dropped[] = [
      { section: 'history', messages: old + this.history.slice(from, to).filter(isSent).length, reason: 'budget' },
      { section: 'history', messages: excluded, reason: 'excluded' },
    ];
    return dropped.filter(({ messages }) => messages !== 0);
  }

  /** Stops counting above `most`. */
  tokens(start: number, most = Number.POSITIVE_INFINITY): number {
    const length = Math.max(0, this.history.length - start);
    for (let newest = this.#sums.length; newest <= length; newest += 1) {
      const sum = this.#sums[newest - 1] ?? 0;
      if (sum > most) return sum;
      const message = this.history.at(-newest);
      const cost = message === undefined || !isSent(message) ? 0 : messageTokens([asSent(message)], this.count);
      this.#sums.push(sum + cost);
    }
    return this.#sums[length] ?? 0;
  }

  /**
   * Where the newest messages begin: of all turns that begin at `least` to `most` tokens before the end, the one of the highest
   * rank. If there is none, the oldest that begins later. It needs no memory of the prompt before, and mostly begins where that
   * did, so that a model's prompt cache can be used.
   */
  startBetween(least: number, most: number): number {
    let [start, highest] = [this.history.length, -1];
    for (let at = start - 1; at >= 0 && this.tokens(at, most) <= most; at -= 1) {
      if (!this.#isQuestion(at)) continue;
      const rank = this.tokens(at) < least ? -1 : this.#rankOf(at);
      if (rank >= highest) [start, highest] = [at, rank];
    }
    return start;
  }

  /**
   * The highest power of two by which the number of a turn can be divided, as if each had two messages: in eight turns, one has a
   * higher rank than all others, until it is too old. Where positions are not known, a hash of the turn's text.
   */
  #rankOf(at: number): number {
    if (this.older === undefined) return Number.parseInt(hashText(hashText(textOf(this.history[at] ?? {}))), 36);
    const turn = Math.floor((this.older + at) / 2);
    return turn === 0 ? Number.POSITIVE_INFINITY : turn & -turn;
  }

  #isQuestion(at: number): boolean {
    const message = this.history[at];
    return message !== undefined && message.role === 'user' && isSent(message);
  }
}

interface TurnRoom {
  room: number;
  share: number;
  count: (messages: readonly SentMessage[]) => number;
}

/**
 * A turn in `room` tokens: its question and its newest reply, cut in the middle if need be, and its other replies, the newest
 * first, as long as all take no more than `share`.
 */
function shortenedTurn([question, ...replies]: readonly Piece[], { room, share, count }: TurnRoom): Piece[] {
  if (question === undefined) return [];
  const kept: Piece[] = [];
  const ofQuestion = Math.min(count(question.messages), room / 2);
  let used = ofQuestion;
  for (const reply of replies.reverse()) {
    const isNewest = kept.length === 0;
    const left = (isNewest ? room : Math.min(room, share)) - used;
    const messages = isNewest || count(reply.messages) <= left ? shortened(reply.messages, left, count) : undefined;
    if (messages === undefined) break;
    kept.unshift({ ...reply, messages });
    used += count(messages);
  }
  const messages = shortened(question.messages, room - used + ofQuestion, count);
  return messages === undefined ? [] : [{ ...question, messages }, ...kept];
}

/** Share of the room that older steps are shortened to, so that the next steps fit, and the prompt begins as the one before. */
const FREED = 0.75;

/**
 * The messages of a turn that goes on. If its steps take too much, the results of the older ones are left out, then their arguments, and
 * then the results of the last one are cut in the middle.
 */
export function fittedSteps(
  messages: readonly SentMessage[],
  room: number,
  count: (text: string) => number,
): readonly SentMessage[] {
  const tokensOf = (some: readonly SentMessage[]): number => messageTokens(some, count);
  const sent = [...messages];
  const last = sent.findLastIndex(({ role }) => role === 'assistant');
  let tokens = tokensOf(sent);
  if (tokens <= room) return sent;
  const leaveOut = (from: number, to: number, shorter: (message: SentMessage) => SentMessage | undefined): void => {
    for (let at = from; at < to && tokens > FREED * room; at += 1) {
      const message = sent[at];
      const left = message && shorter(message);
      if (message === undefined || left === undefined) continue;
      const saved = tokensOf([message]) - tokensOf([left]);
      if (saved <= 0) continue;
      sent[at] = left;
      tokens -= saved;
    }
  };
  leaveOut(0, last, withoutResult);
  leaveOut(0, last, withoutArguments);
  const step = sent.slice(last);
  if (tokens <= room || step[0]?.tool_calls === undefined) return sent;
  const cut = shortened(step, room - tokens + tokensOf(step), tokensOf);
  if (cut !== undefined) return [...sent.slice(0, last), ...cut];
  leaveOut(last, sent.length, withoutResult);
  return sent;
}

function withoutResult(message: SentMessage): SentMessage | undefined {
  return message.role === 'tool' ? { ...message, content: LEFT_OUT } : undefined;
}

function withoutArguments(message: SentMessage): SentMessage | undefined {
  const calls = message.tool_calls?.map((call) => ({ ...call, function: { ...call.function, arguments: '{}' } }));
  return calls && { ...message, tool_calls: calls };
}

const LEFT_OUT = '[This result was left out, because the prompt became too long.]';

/** A piece in so many tokens: its text is cut, or the results of its calls. */
function shortened(piece: readonly SentMessage[], most: number, count: TurnRoom['count']): SentMessage[] | undefined {
  if (count(piece) <= most) return [...piece];
  const [first, ...results] = piece;
  if (first === undefined || (results.length === 0 && first.tool_calls !== undefined)) return undefined;
  const texts = results.length === 0 ? [first] : results;
  const calls = results.length === 0 ? [] : [first];
  const left = (most - count(calls)) / texts.length;
  const cut = texts.flatMap((message) => cutInTheMiddle(message, left, count) ?? []);
  return cut.length < texts.length ? undefined : [...calls, ...cut];
}

/** The beginning and the end of a message in so many tokens, with a line between them that says what is missing. */
function cutInTheMiddle(message: SentMessage, most: number, count: TurnRoom['count']): SentMessage | undefined {
  const text = textOf(message);
  let [cut, size, tokens] = [message, text.length, count([message])];
  while (tokens > most) {
    size = Math.floor(size * Math.min(0.9, most / tokens));
    if (size < SHORTEST) return undefined;
    const start = startOf(text, size / 2);
    const end = text.slice(text.length - size / 2).replace(SECOND_HALF, '');
    const missing = text.length - start.length - end.length;
    cut = { ...message, content: `${start}\n[${missing} characters are left out here]\n${end}` };
    tokens = count([cut]);
  }
  return cut;
}

/** With fewer characters, a shortened text says nothing. */
const SHORTEST = 40;
/** Of a character that UTF-16 writes in two. */
const SECOND_HALF = /^[\udc00-\udfff]/;
