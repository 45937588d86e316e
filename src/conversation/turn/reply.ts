import { APIAbortError } from '../../index.js';
import type { ChatTurn, CompactionReceipt, PromptReport, ReplyStream } from '../model.js';
import type { TurnTimeouts } from '../turn-timeouts.js';

/** The end of a turn: what was stored, if any text arrived, and why it ended early. */
export interface TurnEnd {
  turn?: ChatTurn | undefined;
  error?: unknown;
  /** Resolves when the turn's background work has ended, to the receipt of its compaction. */
  receipt?: Promise<CompactionReceipt | undefined> | undefined;
}

/** A turn that runs as its pieces are taken, and its timeouts. */
export interface StartedTurn {
  pieces: AsyncGenerator<string, TurnEnd>;
  timeouts: TurnTimeouts;
}

/** A reply that any number of loops may read, each from its start. Reading it starts the turn, and drives it. */
export class Reply implements ReplyStream {
  readonly id = crypto.randomUUID();
  /** From the first reader on. */
  #turn: StartedTurn | undefined;
  /** Loops that were not left. */
  #loops = 0;
  /** Whether a caller will get the error if the reply fails. */
  #isRead = false;
  /** The piece that all loops wait for. */
  #taking: Promise<void> | undefined;
  #end: TurnEnd | undefined;
  /** Not joined for each reader: to cut a text that grows takes quadratic time. */
  readonly #texts: string[] = [];
  #joined = { text: '', texts: 0 };
  report: PromptReport | undefined;

  /** @internal With a tag, Vue does not wrap it in a proxy, behind which private fields cannot be read. */
  get [Symbol.toStringTag](): string {
    return 'Reply';
  }

  constructor(
    private readonly start: (reply: Reply) => StartedTurn,
    private readonly background = false,
    /** Called with the error if the reply fails after its reader has left. */
    private readonly onUnread: (error: unknown) => void = () => {},
  ) {}

  get text(): string {
    const { text, texts } = this.#joined;
    if (texts < this.#texts.length)
      this.#joined = { text: text + this.#texts.slice(texts).join(''), texts: this.#texts.length };
    return this.#joined.text;
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    this.#loops += 1;
    this.#isRead = true;
    let seen = 0;
    let hasLeft = false;
    return {
      next: async () => {
        this.#begin();
        while (!hasLeft && seen === this.#texts.length && this.#end === undefined) await this.#take();
        const value = this.#texts.slice(seen).join('');
        seen = this.#texts.length;
        if (hasLeft) return { done: true, value: undefined };
        if (value !== '') return { done: false, value };
        if (this.#end?.error !== undefined) throw this.#end.error;
        return { done: true, value: undefined };
      },
      return: async () => {
        if (!hasLeft) {
          hasLeft = true;
          await this.#leave();
        }
        return { done: true, value: undefined };
      },
    };
  }

  async final(): Promise<ChatTurn> {
    this.#isRead = true;
    const { turn, error } = await this.readOn();
    if (turn !== undefined) return turn;
    throw error;
  }

  async receipt(): Promise<CompactionReceipt | undefined> {
    return (await this.readOn()).receipt;
  }

  /** Takes all pieces, so that the turn ends even if its reader is slow or has left. */
  async readOn(): Promise<TurnEnd> {
    this.#begin();
    while (this.#end === undefined) await this.#take();
    return this.#end;
  }

  #begin(): StartedTurn {
    if (this.#turn !== undefined) return this.#turn;
    this.#turn = this.start(this);
    if (this.background || this.#turn.timeouts.signal?.aborted === true) void this.readOn();
    return this.#turn;
  }

  /** The last loop that is left stops the reply, and waits until its text so far is stored. */
  async #leave(): Promise<void> {
    this.#loops -= 1;
    if (this.#loops > 0) return;
    this.#isRead = false;
    if (this.background) return;
    this.#begin().timeouts.stop();
    await this.readOn();
  }

  #take(): Promise<void> {
    this.#taking ??= this.#next().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #next(): Promise<void> {
    const { pieces, timeouts } = this.#begin();
    const failed = (error: unknown) => ({ done: true as const, value: { error } });
    const { done, value } = await pieces.next().catch(failed);
    if (done) {
      this.#end ??= value;
      timeouts.close();
      const { error } = value;
      if (error !== undefined && !this.#isRead && !APIAbortError.is(error)) this.onUnread(error);
    } else if (value !== '') this.#texts.push(value);
  }
}
