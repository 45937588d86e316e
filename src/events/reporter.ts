import type { CompletionUsage } from '../base/completion.js';
import { ignoreErrors } from '../base/ignore-errors.js';
import type { RateLimit } from '../base/response-info.js';
import type { Runtime } from '../base/runtime.js';
import { startOf } from '../base/unicode.js';
import { APIAbortError, ClientClosedError } from '../errors/connection.js';
import type { Redactor } from '../errors/redactor.js';
import type { ByteSource } from '../platform/engine.js';
import { addHeaders } from '../validation/headers.js';
import type { Asked, ClientEvent, CompletionFacts, DoneEvent, EventBody, EventFacts, Listener } from './events.js';

/** UTF-8 bytes per token, roughly, for most languages and code. */
const BYTES_PER_TOKEN = 4;

/** The most characters of a model's name or a finish reason in an event. */
const MAX_LABEL = 100;
/** The most finish reasons in an event. */
const MAX_FINISH_REASONS = 20;

/** The facts that are known only at the end of a call. */
export type Ending = Pick<DoneEvent, 'outcome' | 'error'> & Partial<Pick<DoneEvent, 'timeToFirstChunk' | 'largestGap'>>;

/** The response to one attempt. */
interface Responded {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly redactor?: Redactor;
}

const NO_RESPONSE: Responded = { status: undefined, requestId: undefined, rateLimit: undefined };

/** Emits the events of one call, and collects the figures of its `done` event. Created only if there is a listener. */
export class CallReporter {
  readonly #startedAt: number;
  #model: string | undefined;
  attempts = 0;
  /** Milliseconds in the queue of a rate limit. */
  queued = 0;
  /** Bytes of the bodies of all attempts. */
  bytesSent = 0;
  bytesReceived = 0;
  #completion: CompletionFacts | undefined;
  #last: Responded = NO_RESPONSE;
  #lastBody = 0;
  #done = false;

  constructor(
    private readonly listeners: readonly Listener[],
    private readonly facts: EventFacts,
    runtime: Runtime,
  ) {
    this.#startedAt = runtime.now();
  }

  /** Emits `start`. */
  started(asked: Asked, streamed: boolean): void {
    this.#model = asked.model;
    this.emit({ type: 'start', ...asked, streamed });
  }

  emit(event: EventBody): void {
    // Spreading two objects takes 20 times as long. The cast is true by construction: every event is its own part and the
    // facts of its call.
    const complete = Object.freeze(Object.assign({}, this.facts, event)) as ClientEvent;
    for (const listener of this.listeners) ignoreErrors(() => listener(complete));
  }

  /** Emits `request`, and returns the headers that listeners add to those of the attempt. */
  announce(attempt: number, headers: object, credentialHeader: string): Record<string, string> {
    const added: Record<string, string> = {};
    this.attempts = attempt;
    this.#last = { ...NO_RESPONSE, rateLimit: this.#last.rateLimit };
    const setHeader = (name: string, value: string): boolean => {
      if (Object.hasOwn(headers, name.toLowerCase())) return false;
      addHeaders(added, { [name]: value }, credentialHeader);
      return true;
    };
    this.emit({ type: 'request', attempt, setHeader });
    return added;
  }

  /** Emits `response`. */
  responded(response: Responded & { status: number }, duration: number): void {
    const { status, requestId } = response;
    this.#last = response;
    this.emit({ type: 'response', attempt: this.attempts, status, duration, requestId });
  }

  /** What the response says about a completion. */
  completed(facts: CompletionFacts): void {
    this.#completion = facts;
  }

  /** Counts a sent body: a text, or the bytes sent of an upload. */
  sent(body: string | number | undefined): void {
    this.#lastBody = typeof body === 'string' ? new TextEncoder().encode(body).length : (body ?? 0);
    this.bytesSent += this.#lastBody;
  }

  /** Wraps a response body to count its bytes. */
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

  /** Emits `done`, once. */
  done(ending: Ending, now: number): void {
    if (this.#done) return;
    this.#done = true;
    const { attempts, queued, bytesSent, bytesReceived } = this;
    const { status, requestId, rateLimit } = this.#last;
    const completion = this.#completion;
    const written = completion?.written ?? 0;
    const usage = countsIn(completion?.usage);
    const estimated = usage === undefined && written > 0;
    this.emit({
      type: 'done',
      timeToFirstChunk: undefined,
      largestGap: undefined,
      ...ending,
      attempts,
      queued,
      bytesSent,
      bytesReceived,
      status,
      requestId,
      rateLimit,
      duration: now - this.#startedAt,
      model: this.#model,
      responseModel: this.#label(completion?.model),
      responseId: this.#label(completion?.id),
      finishReasons: (completion?.finishReasons ?? [])
        .slice(0, MAX_FINISH_REASONS)
        .flatMap((reason) => this.#label(reason) ?? []),
      usage: estimated ? estimate(this.#lastBody, written) : usage,
      usageEstimated: estimated,
    });
  }

  /** Makes a name from the service, validated or not, safe for a label. */
  #label(text: unknown): string | undefined {
    return typeof text === 'string' ? startOf(this.#last.redactor?.mask(text) ?? text, MAX_LABEL) : undefined;
  }
}

/** The facts of a response that has fields of a completion. They are not validated. */
export function completionFacts(body: unknown): CompletionFacts {
  const { id, model, choices, usage } = Object(body);
  if (!Array.isArray(choices)) return { id: undefined, model, finishReasons: [], usage }; // its id is a resource's
  return { id, model, finishReasons: choices.map((choice) => Object(choice).finish_reason), usage };
}

/** The numbers alone, so that listeners cannot change the response. */
function countsIn(usage: unknown): CompletionUsage | undefined {
  const { prompt_tokens, completion_tokens, total_tokens } = Object(usage);
  const counts = { prompt_tokens, completion_tokens, total_tokens };
  return Object.values(counts).every(Number.isFinite) ? counts : undefined;
}

/** The outcome of a failed call. */
export function endingOf(error: unknown): Ending {
  const { name } = error as Error; // a call throws only errors
  const aborted = error instanceof APIAbortError || error instanceof ClientClosedError;
  return { outcome: aborted ? 'aborted' : 'error', error: name };
}

function estimate(promptBytes: number, written: number): DoneEvent['usage'] {
  const prompt_tokens = Math.ceil(promptBytes / BYTES_PER_TOKEN);
  const completion_tokens = Math.ceil(written / BYTES_PER_TOKEN);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
