import * as z from 'zod/mini';
import { count, described, exact, label, marked, namedObject, readTime } from '../../base/fields.js';
import { type FaultResponse, respondSchema } from '../../faults/rule.js';
import { type PromptTokens, promptTokens } from '../../text/prompt-tokens.js';
import { type ReachedLimit, reachedLimit } from '../rate-limit.js';

/**
 * How a request ended: `pending` until the response is complete; `aborted` if the client disconnected first; `reset` and
 * `cut` come from faults.
 */
export type Outcome = (typeof OUTCOMES)[number];
const OUTCOMES = ['pending', 'answered', 'aborted', 'reset', 'cut'] as const;

/** A request that repeats one that failed: a further attempt of the same call. */
export interface Attempt {
  /** The id of the first request of the call. */
  call: string;
  /** 2 for the first repetition. */
  number: number;
  /** What joins them: the header `X-Call-Attempt` of the SDK, `Idempotency-Key`, or the same `traceparent`. */
  by: 'call' | 'idempotency-key' | 'traceparent';
}

const attempt = exact<Attempt>()(
  z.object({
    call: described('The id of the first request of the call.', label),
    number: count,
    by: z.enum(['call', 'idempotency-key', 'traceparent']),
  }),
);

/**
 * A request that may repeat one that failed, although nothing says so: it has the same method, path, credential and body,
 * within a minute after the wait that was asked for.
 */
export interface Similar {
  /** The id of the first of these requests. */
  first: string;
  /** 2 for the first repetition. */
  number: number;
}

const similar = exact<Similar>()(
  z.object({
    first: described('The id of the first of these requests.', label),
    number: count,
  }),
);

/** The main facts of a request. */
export interface RequestSummary {
  requestId: string;
  method: string;
  /** Path with query. */
  path: string;
  /** The name of its API key, or the user of its session; undefined without a valid one. */
  caller?: string | undefined;
  /** ISO 8601. */
  receivedAt: string;
  /** Milliseconds on the emulator's clock until the response was complete. */
  duration?: number | undefined;
  status?: number | undefined;
  outcome: Outcome;
  /** The number of events sent, for a stream. */
  events?: number | undefined;
  /** For a completion: tokens of its messages, and tokens sent. */
  tokens?: { prompt: number; completion: number } | undefined;
  /** The fault that was applied, if any. */
  fault?: string | undefined;
  /** For a completion, what its answer came from: `built-in`, `scripted reply`, `upstream` or `recording`. */
  answeredBy?: string | undefined;
  /** The limit that refused it. */
  limit?: ReachedLimit | undefined;
  /** Given if it is a further attempt of one call. */
  attempt?: Attempt | undefined;
  /** Given if it looks like a repetition of a failed request, and nothing says whether it is. */
  similar?: Similar | undefined;
  /** The code of its error, or the type of an error without one. */
  code?: string | undefined;
  /** The model of a completion. */
  model?: string | undefined;
  /** The conversation that it is about. */
  conversation?: string | undefined;
  /** The beginning of what a completion was asked. */
  asked?: string | undefined;
  /** The beginning of its reply, or the message of an error, once it has ended. */
  replied?: string | undefined;
  /** Who ended the response before its end. */
  stoppedBy?: 'client' | 'fault' | 'upstream' | 'emulator' | undefined;
  /** The id of the file that it uploaded. */
  file?: string | undefined;
  /** Whether it came with a case of another emulator. */
  isImported?: boolean | undefined;
  /** Whether a page of another machine sent it, without a valid key. The log keeps the last 50 of these. */
  isForeign?: boolean | undefined;
}

export const requestSummary = exact<RequestSummary>()(
  z.object({
    requestId: label,
    method: label,
    path: marked('path', z.string()),
    caller: z.optional(described('The name of its API key, or the user of its session.', label)),
    receivedAt: readTime,
    duration: z.optional(described('Milliseconds.', z.number())),
    status: z.optional(z.int()),
    outcome: z.enum(OUTCOMES),
    events: z.optional(count),
    tokens: z.optional(z.object({ prompt: count, completion: count })),
    fault: z.optional(label),
    answeredBy: z.optional(described('For a completion, what its answer came from.', label)),
    limit: z.optional(described('The limit that refused it.', reachedLimit)),
    attempt: z.optional(described('Given if it is a further attempt of one call.', attempt)),
    similar: z.optional(
      described('Given if it looks like a repetition of a failed request, and nothing says whether it is.', similar),
    ),
    code: z.optional(described('The code of its error, or the type of an error without one.', label)),
    model: z.optional(described('The model of a completion.', label)),
    conversation: z.optional(described('The conversation that it is about.', label)),
    asked: z.optional(described('The beginning of what a completion was asked.', z.string())),
    replied: z.optional(described('The beginning of its reply, or the message of an error.', z.string())),
    stoppedBy: z.optional(
      described('Who ended the response before its end.', z.enum(['client', 'fault', 'upstream', 'emulator'])),
    ),
    file: z.optional(described('The id of the file that it uploaded.', label)),
    isImported: z.optional(described('It came with a case of another emulator.', z.boolean())),
    isForeign: z.optional(described('A page of another machine sent it, without a valid key.', z.boolean())),
  }),
);

/** A request that has ended. */
export interface EndedRequest extends RequestSummary {
  /** For a 500: the error in the emulator or in a reply function, with its stack. */
  error?: string | undefined;
}

const endedRequest = exact<EndedRequest>()(
  z.object({
    ...requestSummary.shape,
    error: z.optional(
      described('For a 500: the error in the emulator or in a reply function, with its stack.', z.string()),
    ),
  }),
);

const headers = described('Without keys.', marked('headers', z.record(z.string(), z.string())));
const loggedText = marked('json', z.string());

/** A response, as it was sent. */
export interface RecordedResponse {
  headers: Record<string, string>;
  /** At most 64 KB of the body's text. */
  body: string;
  /** Whether the body was longer than 64 KB. */
  isBodyCut: boolean;
  /** The events within those 64 KB, for a stream. `at` is in milliseconds since the request arrived. */
  events?: { at: number; text: string }[] | undefined;
}

const recordedResponse = exact<RecordedResponse>()(
  z.object({
    headers,
    body: described('At most 64 KB.', loggedText),
    isBodyCut: described('Whether the body was longer.', z.boolean()),
    events: z.optional(
      described(
        'The events within those 64 KB, for a stream.',
        z.array(z.object({ at: described('Milliseconds since the request arrived.', z.number()), text: loggedText })),
      ),
    ),
  }),
);

/** A request with its response. Contains no keys or tokens. */
export interface RequestRecord extends EndedRequest {
  /** For a completion: the tokens of its messages. */
  prompt?: PromptTokens | undefined;
  /** The fault that was applied, as its rule has it. */
  faultResponse?: FaultResponse | undefined;
  headers: Record<string, string>;
  /** At most 64 KB of the body's text; undefined if it could not be read. */
  body?: string | undefined;
  /** Whether the body was longer than 64 KB, or could not be read to its end. */
  isBodyCut: boolean;
  /** Whether `body` is what was sent: not cut, without a hidden key, and text. */
  isBodyExact: boolean;
  /** The response; undefined until it starts. */
  response?: RecordedResponse | undefined;
}

export const requestRecord = exact<RequestRecord>()(
  namedObject('Request', {
    ...endedRequest.shape,
    prompt: z.optional(described('For a completion: the tokens of its messages.', promptTokens)),
    faultResponse: z.optional(respondSchema),
    headers,
    body: z.optional(described('At most 64 KB.', loggedText)),
    isBodyCut: described('Whether the body was longer and was cut, or could not be read.', z.boolean()),
    isBodyExact: described('Whether it is what was sent: not cut, no key hidden, and text.', z.boolean()),
    response: z.optional(described('Undefined until it starts.', recordedResponse)),
  }),
);

/** An event of a stream that was just sent: its number from 0, and its milliseconds since the request arrived. */
export interface SentEvent {
  index: number;
  at: number;
  text: string;
}

export const sentEvent = exact<SentEvent>()(z.object({ index: count, at: z.number(), text: z.string() }));
