import type { APIPromise } from '../base/api-promise.js';
import type { ValidationIssue } from '../base/issues.js';
import { fieldsOf, normalizeName } from '../base/schema-issues.js';
import { RequestValidationError } from '../errors/validation.js';
import { type RequestOptions, requestOptionsSchema } from '../transport/arguments/options.js';
import type { Endpoint } from '../transport/arguments/request.js';
import { isAnOption } from '../transport/arguments/validation.js';
import type { Transport } from '../transport/call/transport.js';
import {
  type ChatCompletion,
  type ChatCompletionParams,
  chatCompletionParamsSchema,
  chatCompletionSchema,
} from './schemas.js';
import type { DecodeChunk } from './stream/chunk.js';
import type { ChatCompletionStream } from './stream/completion-stream.js';
import { openStream } from './stream/open.js';

/** The default timeout for a whole completion (ms). */
const COMPLETION_TIMEOUT = 600_000;

/** `gateway.chat` */
export class Chat {
  readonly completions: ChatCompletions;

  /** @internal */
  constructor(transport: Transport, decodeChunk: DecodeChunk | undefined) {
    this.completions = new ChatCompletions(transport, decodeChunk);
  }
}

/** `/v1/chat/completions` */
export class ChatCompletions {
  readonly #transport: Transport;
  readonly #decodeChunk: DecodeChunk | undefined;

  /** @internal */
  constructor(transport: Transport, decodeChunk: DecodeChunk | undefined) {
    this.#transport = transport;
    this.#decodeChunk = decodeChunk;
  }

  /**
   * Create a completion. `POST /v1/chat/completions`
   *
   * With `stream: true` it returns a stream: `for await (const chunk of await create({ …, stream: true }))`. The
   * default `timeout` is 600 s for a whole completion, and 60 s for the headers of a stream. Undocumented parameters
   * are passed on to the service; to use one, declare it:
   * `const params: ChatCompletionParams & { stream?: false; top_p: number } = …`.
   * Parameters that are certainly wrong are rejected, such as `maxTokens`, or an option such as `timeout`.
   *
   * @throws {RequestValidationError} when an argument is invalid, such as a `temperature` outside 0 to 2; nothing was
   * sent
   * @throws {NotFoundError} with `code: 'model_not_found'` when the model does not exist
   * @throws {BadRequestError} when the messages do not fit the model's context window, or the service rejects a field
   * @throws {RateLimitError} when the limit is still used up after all retries; see `retryAfter`
   */
  create(params: ChatCompletionParams & { stream: true }, options?: RequestOptions): APIPromise<ChatCompletionStream>;
  create(
    params: ChatCompletionParams & { stream?: false | undefined },
    options?: RequestOptions,
  ): APIPromise<ChatCompletion>;
  create(params: ChatCompletionParams, options?: RequestOptions): APIPromise<ChatCompletion | ChatCompletionStream>;
  create(params: ChatCompletionParams, options?: RequestOptions): APIPromise<ChatCompletion | ChatCompletionStream> {
    if (!asksForStream(params)) {
      return this.#transport.request(() => endpointOf(WHOLE, params), COMPLETION, options);
    }
    return this.#transport.stream(
      () => endpointOf(STREAMED, params),
      (opened) => openStream(opened, this.#decodeChunk),
      options,
    );
  }
}

// Both objects define both fields, so that those of a polluted prototype are never read.
const WHOLE = { accept: undefined, timeout: COMPLETION_TIMEOUT };
const STREAMED = { accept: 'text/event-stream', timeout: undefined };
const COMPLETION = {
  schema: chatCompletionSchema,
  unwrap: (completion: ChatCompletion) => completion,
  facts: ({ model, choices, usage }: ChatCompletion) => ({
    model,
    finishReasons: choices.map(({ finish_reason }) => finish_reason),
    usage,
  }),
};

/** Builds the endpoint. Throws if a parameter is certainly misplaced. */
function endpointOf({ accept, timeout }: Pick<Endpoint, 'accept' | 'timeout'>, params: ChatCompletionParams): Endpoint {
  const given: Record<string, unknown> = Object(params); // a value that is not an object is rejected later
  const known = fieldsOf(chatCompletionParamsSchema);
  const issues: ValidationIssue[] = [];
  for (const field of Object.keys(given)) {
    const message = known.includes(field) || given[field] === undefined ? undefined : findMisplaced(field, known);
    if (message !== undefined) issues.push({ path: [field], message });
  }
  if (issues.length > 0) throw new RequestValidationError(issues);
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    accepts: chatCompletionParamsSchema,
    accept,
    timeout,
    body: params,
    model: given.model,
  };
}

/** Names that no service will add: another spelling of a documented parameter, or an option of the call. */
function findMisplaced(field: string, known: readonly string[]): string | undefined {
  if (fieldsOf(requestOptionsSchema).includes(field)) return isAnOption();
  const meant = known.find((key) => normalizeName(key) === normalizeName(field));
  return meant && `did you mean ${meant}?`;
}

/** Reads one field before the arguments are checked. The check reports what is wrong with them. */
function asksForStream(params: ChatCompletionParams): boolean {
  try {
    return Object.hasOwn(params, 'stream') && params.stream === true;
  } catch {
    return false;
  }
}
