import { onAbort } from '../../base/on-abort.js';
import type { ChatTurn, CompactionReceipt, PromptReport, ReplyStream } from '../model.js';
import type { TurnOptions } from '../options.js';

/** The end of a turn: what was stored, if any text arrived, and why it ended early. */
export interface TurnEnd {
  turn?: ChatTurn | undefined;
  error?: unknown;
  /** Resolves when the turn's background work has ended, to the receipt of its compaction. */
  receipt?: Promise<CompactionReceipt | undefined> | undefined;
}

/** A reply that any number of loops may read, each from its start. Reading it starts the turn, and drives it. */
export class Reply implements ReplyStream {
  readonly id = crypto.randomUUID();
  readonly #pieces: AsyncGenerator<string, TurnEnd>;
  readonly #caller: AbortSignal | undefined;
  readonly #background: boolean;
  readonly #stop = new AbortController();
  #unfollow: (() => void) | undefined;
  #isRead = false;
  /** Loops that were not left. */
  #loops = 0;
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
    makeTurn: (signal: AbortSignal, reply: Reply) => AsyncGenerator<string, TurnEnd>,
    { signal, background = false }: Pick<TurnOptions, 'signal' | 'background'>,
  ) {
    this.#pieces = makeTurn(this.#stop.signal, this);
    this.#caller = signal;
    this.#background = background;
  }

  get text(): string {
    const { text, texts } = this.#joined;
    if (texts < this.#texts.length)
      this.#joined = { text: text + this.#texts.slice(texts).join(''), texts: this.#texts.length };
    return this.#joined.text;
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    this.#begin();
    this.#loops += 1;
    let seen = 0;
    let hasLeft = false;
    return {
      next: async () => {
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

  #begin(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    if (this.#caller !== undefined) this.#unfollow = onAbort(this.#caller, this.#abort);
    if (this.#caller?.aborted === true) this.#abort();
    if (this.#background) void this.readOn();
  }

  /** The last loop that is left stops the reply, and waits until its text so far is stored. */
  async #leave(): Promise<void> {
    this.#loops -= 1;
    if (this.#loops > 0 || this.#background) return;
    this.#stop.abort();
    await this.readOn();
  }

  readonly #abort = (): void => {
    this.#stop.abort(this.#caller?.reason);
    void this.readOn();
  };

  #take(): Promise<void> {
    this.#taking ??= this.#next().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #next(): Promise<void> {
    const failed = (error: unknown) => ({ done: true as const, value: { error } });
    const { done, value } = await this.#pieces.next().catch(failed);
    if (done) {
      this.#end ??= value;
      this.#unfollow?.();
    } else if (value !== '') this.#texts.push(value);
  }
}
