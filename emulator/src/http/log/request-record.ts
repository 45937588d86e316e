import * as z from 'zod/mini';
import { count, described, label, marked, namedObject, readTime } from '../../base/fields.js';
import { respondSchema } from '../../faults/rule.js';
import { promptTokens } from '../../text/prompt-tokens.js';
import { reachedLimit } from '../rate-limit.js';

const outcome = z.enum(['pending', 'answered', 'aborted', 'reset', 'cut']);
/**
 * How a request ended: `pending` until the response is complete; `aborted` if the client disconnected first; `reset` and
 * `cut` come from faults.
 */
export type Outcome = z.infer<typeof outcome>;

const attempt = z.object({
  call: described('The id of the first request of the call.', label),
  /** 2 for the first repetition. */
  number: count,
  /** What joins them: the header `X-Call-Attempt` of the SDK, `Idempotency-Key`, or the same `traceparent`. */
  by: z.enum(['call', 'idempotency-key', 'traceparent']),
});
/** A request that repeats one that failed: a further attempt of the same call. */
export type Attempt = z.infer<typeof attempt>;

const similar = z.object({
  first: described('The id of the first of these requests.', label),
  /** 2 for the first repetition. */
  number: count,
});
/**
 * A request that may repeat one that failed, although nothing says so: it has the same method, path, credential and body,
 * within a minute after the wait that was asked for.
 */
export type Similar = z.infer<typeof similar>;

export const requestSummary = z.object({
  requestId: label,
  method: label,
  /** Path with query. */
  path: marked('path', z.string()),
  /** Undefined without a valid one. */
  caller: z.optional(described('The name of its API key, or the user of its session.', label)),
  receivedAt: readTime,
  duration: z.optional(described("Milliseconds on the emulator's clock until the response was complete.", z.number())),
  status: z.optional(z.int()),
  outcome,
  events: z.optional(described('The number of events sent, for a stream.', count)),
  tokens: z.optional(
    described(
      'For a completion: tokens of its messages, and tokens sent.',
      z.object({ prompt: count, completion: count }),
    ),
  ),
  fault: z.optional(described('The fault that was applied.', label)),
  answeredBy: z.optional(
    described(
      'For a completion, what its answer came from: `built-in`, `scripted reply`, `upstream` or `recording`.',
      label,
    ),
  ),
  limit: z.optional(described('The limit that refused it.', reachedLimit)),
  attempt: z.optional(described('Given if it is a further attempt of one call.', attempt)),
  similar: z.optional(
    described('Given if it looks like a repetition of a failed request, and nothing says whether it is.', similar),
  ),
  code: z.optional(described('The code of its error, or the type of an error without one.', label)),
  model: z.optional(described('The model of a completion.', label)),
  conversation: z.optional(described('The conversation that it is about.', label)),
  asked: z.optional(described('The beginning of what a completion was asked.', z.string())),
  replied: z.optional(
    described('The beginning of its reply, or the message of an error, once it has ended.', z.string()),
  ),
  stoppedBy: z.optional(
    described('Who ended the response before its end.', z.enum(['client', 'fault', 'upstream', 'emulator'])),
  ),
  file: z.optional(described('The id of the file that it uploaded.', label)),
  isImported: z.optional(described('It came with a case of another emulator.', z.boolean())),
  /** The log keeps the last 50 of these. */
  isForeign: z.optional(described('A page of another machine sent it, without a valid key.', z.boolean())),
});
/** The main facts of a request. */
export type RequestSummary = z.infer<typeof requestSummary>;

const endedRequest = z.object({
  ...requestSummary.shape,
  error: z.optional(
    described('For a 500: the error in the emulator or in a reply function, with its stack.', z.string()),
  ),
});
/** A request that has ended. */
export type EndedRequest = z.infer<typeof endedRequest>;

const headers = described('Without keys.', marked('headers', z.record(z.string(), z.string())));
const loggedText = marked('json', z.string());

const recordedResponse = z.object({
  headers,
  body: described('At most 64 KB.', loggedText),
  isBodyCut: described('Whether the body was longer.', z.boolean()),
  events: z.optional(
    described(
      'The events within those 64 KB, for a stream.',
      z.array(z.object({ at: described('Milliseconds since the request arrived.', z.number()), text: loggedText })),
    ),
  ),
});
/** A response, as it was sent. */
export type RecordedResponse = z.infer<typeof recordedResponse>;

export const requestRecord = namedObject('Request', {
  ...endedRequest.shape,
  prompt: z.optional(described('For a completion: the tokens of its messages.', promptTokens)),
  /** The fault that was applied, as its rule has it. */
  faultResponse: z.optional(respondSchema),
  headers,
  body: z.optional(described('At most 64 KB.', loggedText)),
  isBodyCut: described('Whether the body was longer and was cut, or could not be read.', z.boolean()),
  isBodyExact: described('Whether it is what was sent: not cut, no key hidden, and text.', z.boolean()),
  response: z.optional(described('Undefined until it starts.', recordedResponse)),
});
/** A request with its response. Contains no keys or tokens. */
export type RequestRecord = z.infer<typeof requestRecord>;

export const sentEvent = z.object({ index: count, at: z.number(), text: z.string() });
/** An event of a stream that was just sent: its number from 0, and its milliseconds since the request arrived. */
export type SentEvent = z.infer<typeof sentEvent>;
