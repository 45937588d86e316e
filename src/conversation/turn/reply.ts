import { APIAbortError } from '../../index.js';
import type { ChatTurn, CompactionReceipt, PromptReport, ReplyPart, ReplyStream } from '../model.js';
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
  pieces: AsyncGenerator<string | ReplyPart, TurnEnd>;
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
  readonly #parts: ReplyPart[] = [];
  #joined = { text: '', parts: 0 };
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
    const { text, parts } = this.#joined;
    if (parts < this.#parts.length) {
      const more = this.#parts.slice(parts).map((part) => (part.type === 'text' ? part.text : ''));
      this.#joined = { text: text + more.join(''), parts: this.#parts.length };
    }
    return this.#joined.text;
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    const parts = this.#reader();
    return {
      next: async () => {
        for (;;) {
          const { done, value } = await parts.next();
          if (done) return { done: true, value: undefined };
          if (value.type === 'text') return { done: false, value: value.text };
        }
      },
      return: async () => {
        await parts.return();
        return { done: true, value: undefined };
      },
    };
  }

  parts(): AsyncIterable<ReplyPart> {
    return { [Symbol.asyncIterator]: () => this.#reader() };
  }

  /** Reads from the start. Pieces of text that arrived together are one part. */
  #reader() {
    this.#loops += 1;
    this.#isRead = true;
    let seen = 0;
    let hasLeft = false;
    const end = { done: true as const, value: undefined };
    return {
      next: async (): Promise<IteratorResult<ReplyPart, undefined>> => {
        this.#begin();
        while (!hasLeft && seen === this.#parts.length && this.#end === undefined) await this.#take();
        const part = this.#parts[seen];
        if (hasLeft) return end;
        if (part === undefined && this.#end?.error !== undefined) throw this.#end.error;
        if (part === undefined) return end;
        seen += 1;
        if (part.type !== 'text') return { done: false, value: part };
        const texts = [part.text];
        for (let next = this.#parts[seen]; next?.type === 'text'; next = this.#parts[seen]) {
          texts.push(next.text);
          seen += 1;
        }
        return { done: false, value: { type: 'text', text: texts.join('') } };
      },
      return: async (): Promise<IteratorResult<ReplyPart, undefined>> => {
        if (!hasLeft) {
          hasLeft = true;
          await this.#leave();
        }
        return end;
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
    } else if (typeof value !== 'string') this.#parts.push(value);
    else if (value !== '') this.#parts.push({ type: 'text', text: value });
  }
}
