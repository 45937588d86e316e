import type { CompletionUsage } from '../base/completion.js';
import type { ValidationIssue } from '../base/issues.js';
import type { RateLimit } from '../base/response-info.js';
import type { Area } from '../errors/api.js';

/** Why a failed call is not retried. */
export type StopReason =
  | 'not-repeatable'
  | 'retries-used-up'
  | 'retry-after-too-long'
  | 'no-time-left'
  | 'retry-budget-exhausted';

/**
 * The fields of every event. Paths are templates (`/api/memory/{memoryId}`), or the path passed to `client.request`.
 * Events contain no keys, no message text, and no ids of conversations, messages or other resources.
 */
export type EventFacts = {
  /** The number of the call, counted for all clients of this copy of the package. Events of one call have the same number. */
  readonly call: number;
  readonly area: Area;
  readonly method: string;
  readonly path: string;
};

/**
 * A call starts; its arguments are valid. Emitted synchronously within the call, so that a tracer finds the active
 * span.
 */
type StartEvent = EventFacts & {
  readonly type: 'start';
  /** The requested model, if the call has one. */
  readonly model: string | undefined;
  readonly streamed: boolean;
  /** The requested `temperature`, if any. */
  readonly temperature?: number | undefined;
  /** The requested `max_tokens` or `max_completion_tokens`, if any. */
  readonly maxTokens?: number | undefined;
  /** The form of the reply that `response_format` asks for, if it is there. */
  readonly outputType?: 'text' | 'json' | undefined;
};

/** One attempt is about to be sent. `attempt` counts from 1. */
type RequestEvent = EventFacts & {
  readonly type: 'request';
  readonly attempt: number;
  /**
   * Adds a header to this attempt, such as `traceparent`. Returns `false` if the caller has set the header, which then
   * stays unchanged. It cannot set the headers that `headers` cannot set.
   */
  readonly setHeader: (name: string, value: string) => boolean;
};

/** Status and headers of an attempt have arrived. `duration` in ms. */
type ResponseEvent = EventFacts & {
  readonly type: 'response';
  readonly attempt: number;
  readonly status: number;
  readonly duration: number;
  readonly requestId: string | undefined;
};

/** The call starts to wait in the queue, because the rate limit of this bucket is used up. */
type QueuedEvent = EventFacts & {
  readonly type: 'queued';
  readonly bucket: string;
  /** The minimum wait in milliseconds, if the limiter knows it: for a countdown. */
  readonly expectedWait?: number | undefined;
};

/** The call has left the queue after `waited` ms. The next events show whether it is sent or has ended. */
type DequeuedEvent = EventFacts & {
  readonly type: 'dequeued';
  readonly bucket: string;
  readonly waited: number;
};

/** An attempt failed, and the next one follows after `wait` ms. `reason` is the status, or the name of the error. */
type RetryEvent = EventFacts & {
  readonly type: 'retry';
  readonly attempt: number;
  readonly reason: number | string;
  readonly wait: number;
};

/** The call failed, or its stream ended with an error. `stop` says why it is not retried. */
type FailureEvent = EventFacts & {
  readonly type: 'failure';
  readonly attempt: number;
  readonly reason: number | string;
  readonly stop: StopReason;
};

/** A response does not match the documentation, and `validation` is `'report'`. */
type ValidationEvent = EventFacts & {
  readonly type: 'validation';
  readonly issues: readonly ValidationIssue[];
};

/** A stream contains an event that is no chunk, such as a heartbeat. Emitted for the first one of a stream. */
type SkippedEvent = EventFacts & {
  readonly type: 'skipped';
  /** Its name, if it has one. */
  readonly event: string | undefined;
};

/** The response has more of a list: see `rest` of `withResponse()`. */
type MoreEvent = EventFacts & {
  readonly type: 'more';
};

/** The call is over. Emitted once for every call that started, however it ends. All times are milliseconds. */
export type DoneEvent = EventFacts & {
  readonly type: 'done';
  /** `cancelled`: the reader left the stream before its end. `aborted`: by a signal, or because the client was closed. */
  readonly outcome: 'success' | 'error' | 'aborted' | 'cancelled';
  /** The name of the error, if the call failed. */
  readonly error: string | undefined;
  /** The status of the last attempt's response, if there was one. */
  readonly status: number | undefined;
  readonly attempts: number;
  /** From the start to the end of the call; for a stream, to its last event. */
  readonly duration: number;
  /** Time spent in queues for rate limits. */
  readonly queued: number;
  /** For a stream, from the last request to the first chunk. */
  readonly timeToFirstChunk: number | undefined;
  /** For a stream, the longest wait for an event after the first chunk. */
  readonly largestGap: number | undefined;
  /** The requested model. */
  readonly model: string | undefined;
  /** The model named in the response. */
  readonly responseModel: string | undefined;
  /** The id of the completion. */
  readonly responseId?: string | undefined;
  /** Why each choice ended. */
  readonly finishReasons: readonly string[];
  /** The service's count, or an estimate from bytes (`usageEstimated`) if a stream contained text but no count. */
  readonly usage: CompletionUsage | undefined;
  readonly usageEstimated: boolean;
  /** Bytes of the bodies of all attempts. Received bytes are counted after decompression. */
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
};

/** An event that `onEvent` receives. Each has the fields `call`, `area`, `method` and `path`. */
export type ClientEvent =
  | (StartEvent | RequestEvent | ResponseEvent | RetryEvent | FailureEvent)
  | (QueuedEvent | DequeuedEvent | ValidationEvent | SkippedEvent | MoreEvent | DoneEvent);

/** Called with the events of a client's calls. Errors that it throws are ignored. */
export type Listener = (event: ClientEvent) => void;

/** An event without the fields that its call adds. */
export type EventBody<E extends ClientEvent = ClientEvent> = E extends ClientEvent ? Omit<E, keyof EventFacts> : never;

/** What a request asks of a model. */
export type Asked = Pick<StartEvent, 'model' | 'temperature' | 'maxTokens' | 'outputType'>;

/** Facts from the response to a completion, not validated. */
export interface CompletionFacts {
  readonly id: unknown;
  readonly model: unknown;
  readonly finishReasons: readonly unknown[];
  readonly usage: unknown;
  /** For a stream, the UTF-8 bytes of the text so far. */
  readonly written?: number;
}
