import type { RateLimit } from '../api-promise.js';
import type { CompletionUsage } from '../errors/base.js';
import { APIAbortError, ClientClosedError } from '../errors/connection.js';
import type { ByteSource } from '../platform/engine.js';
import type { CallFacts, ClientEvent, CompletionFacts, DoneEvent, EventBody, Listener } from './events.js';
import { quietly } from './quietly.js';

/** UTF-8 bytes of a token, roughly, in most languages and in code. */
const BYTES_PER_TOKEN = 4;

/** Characters of a model's name or a finish reason that are told. */
const LONGEST_WORD = 100;

/** How a call ended, as far as only its end can tell. */
export type Ending = Pick<DoneEvent, 'outcome' | 'error'> & Partial<Pick<DoneEvent, 'timeToFirstChunk' | 'largestGap'>>;

/** Tells the listeners what happens in one call, and counts for its `done` event. Made only where there is a listener. */
export class CallReporter {
  readonly #listeners: readonly Listener[];
  readonly #facts: CallFacts;
  readonly #model: string | undefined;
  readonly #startedAt: number;
  attempts = 0;
  /** Milliseconds in the queue of a rate limit. */
  queued = 0;
  /** Bytes of bodies, of all attempts together. */
  bytesSent = 0;
  bytesReceived = 0;
  /** Of the answer to the last attempt. */
  status: number | undefined;
  requestId: string | undefined;
  /** Masks the credential in the service's words. */
  clean: (text: string) => string = String;
  rateLimit: RateLimit | undefined;
  /** What the answer says of itself, where it is a completion. */
  completion: CompletionFacts | undefined;
  #lastBody = 0;
  #done = false;

  constructor(listeners: readonly Listener[], facts: CallFacts, model: string | undefined, startedAt: number) {
    this.#listeners = listeners;
    this.#facts = facts;
    this.#model = model;
    this.#startedAt = startedAt;
  }

  emit(event: EventBody): void {
    // The cast is true by construction: every event is its own part and the facts of its call.
    const whole = Object.freeze({ ...this.#facts, ...event }) as ClientEvent;
    for (const listener of this.#listeners) quietly(() => listener(whole));
  }

  /** A body is sent: a text, or an upload of which so many bytes have left. */
  sent(body: string | number | undefined): void {
    this.#lastBody = typeof body === 'string' ? new TextEncoder().encode(body).length : (body ?? 0);
    this.bytesSent += this.#lastBody;
  }

  /** The body of an answer, counted as it is read. */
  counted(body: ByteSource): ByteSource {
    const count = (chunk: Uint8Array | undefined): Uint8Array | undefined => {
      this.bytesReceived += chunk?.byteLength ?? 0;
      return chunk;
    };
    return {
      read: () => {
        const chunk = body.read();
        return chunk === undefined || ArrayBuffer.isView(chunk) ? count(chunk) : chunk.then(count);
      },
      cancel: (error) => body.cancel(error),
    };
  }

  /** The call is over. Told once. */
  done(ending: Ending, now: number): void {
    if (this.#done) return;
    this.#done = true;
    const { attempts, queued, bytesSent, bytesReceived, status, requestId, rateLimit, completion } = this;
    const written = completion?.written ?? 0;
    const usage = isCount(completion?.usage) ? completion.usage : undefined;
    const estimated = usage === undefined && written > 0;
    this.emit({
      type: 'done',
      timeToFirstChunk: undefined,
      largestGap: undefined,
      ...ending,
      ...{ status, attempts, queued, bytesSent, bytesReceived, requestId, rateLimit },
      duration: now - this.#startedAt,
      model: this.#model,
      responseModel: this.#word(completion?.model),
      finishReasons: (completion?.finishReasons ?? []).flatMap((reason) => this.#word(reason) ?? []),
      usage: estimated ? estimate(this.#lastBody, written) : usage,
      usageEstimated: estimated,
    });
  }

  /** A name from the service, which has been checked or not, fit for a label. */
  #word(text: unknown): string | undefined {
    return typeof text === 'string' ? this.clean(text).slice(0, LONGEST_WORD) : undefined;
  }
}

function isCount(usage: CompletionUsage | undefined): usage is CompletionUsage {
  return [usage?.prompt_tokens, usage?.completion_tokens, usage?.total_tokens].every(Number.isFinite);
}

/** How a call ended that did not succeed. */
export function endingOf(error: unknown): Ending {
  const { name } = error as Error; // nothing else is thrown by a call
  const aborted = error instanceof APIAbortError || error instanceof ClientClosedError;
  return { outcome: aborted ? 'aborted' : 'error', error: name };
}

function estimate(promptBytes: number, written: number): DoneEvent['usage'] {
  const prompt_tokens = Math.ceil(promptBytes / BYTES_PER_TOKEN);
  const completion_tokens = Math.ceil(written / BYTES_PER_TOKEN);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
