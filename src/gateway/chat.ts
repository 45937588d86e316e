import type { APIPromise } from '../api-promise.js';
import type { ValidationIssue } from '../errors/issues.js';
import { RequestValidationError } from '../errors/validation.js';
import { type RequestOptions, requestOptionsSchema } from '../transport/options.js';
import type { Endpoint } from '../transport/request.js';
import type { Transport } from '../transport/transport.js';
import { fieldsOf, isAnOption, plainName } from '../transport/validation.js';
import type { DecodeChunk } from './chunk.js';
import type { ChatCompletionStream } from './completion-stream.js';
import { openStream } from './open-stream.js';
import {
  type ChatCompletion,
  type ChatCompletionParams,
  chatCompletionParamsSchema,
  chatCompletionSchema,
} from './schemas.js';

/** A model may take this long over a whole response (ms). */
const COMPLETION_TIMEOUT = 600_000;

/** Chat. */
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
   * Have a model answer a conversation. `POST /v1/chat/completions`
   *
   * With `stream: true` the response comes piece by piece: `for await (const chunk of await create({ …, stream: true }))`.
   * A whole response may take 600 s, the headers of a stream 60 s, unless `timeout` says otherwise. Parameters the interface
   * does not list are passed on to the service: declare them, `const params: ChatCompletionParams & { stream?: false; top_p: number } = …`.
   * Only what is certainly misplaced is refused: `maxTokens`, an option such as `timeout`.
   *
   * @throws {RequestValidationError} before anything is sent: no messages, `temperature` outside 0 to 2
   * @throws {NotFoundError} with `code: 'model_not_found'`
   * @throws {BadRequestError} when the conversation does not fit the model's context window, or the service refuses a field
   * @throws {RateLimitError} when the limit is used up and retries did not help; see `retryAfter`
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

const ENDPOINT = { method: 'POST', path: '/v1/chat/completions', accepts: chatCompletionParamsSchema } as const;
const WHOLE = { ...ENDPOINT, timeout: COMPLETION_TIMEOUT };
const STREAMED = { ...ENDPOINT, accept: 'text/event-stream' };
const COMPLETION = {
  schema: chatCompletionSchema,
  pick: (completion: ChatCompletion) => completion,
  facts: ({ model, choices, usage }: ChatCompletion) => ({
    model,
    finishReasons: choices.map(({ finish_reason }) => finish_reason),
    usage,
  }),
};

/** The endpoint, once nothing in the parameters is certainly misplaced. */
function endpointOf(common: Omit<Endpoint, 'body'>, params: ChatCompletionParams): Endpoint {
  const given: Record<string, unknown> = Object(params); // what is no object is refused later, in its own words
  const known = fieldsOf(chatCompletionParamsSchema);
  const issues: ValidationIssue[] = [];
  for (const field of Object.keys(given)) {
    const message = known.includes(field) || given[field] === undefined ? undefined : findMisplaced(field, known);
    if (message !== undefined) issues.push({ path: [field], message });
  }
  if (issues.length > 0) throw new RequestValidationError(issues);
  return { ...common, body: params, model: given.model };
}

/** What no service will ever add: a documented parameter in another writing, an option of the call. */
function findMisplaced(field: string, known: readonly string[]): string | undefined {
  if (fieldsOf(requestOptionsSchema).includes(field)) return isAnOption();
  const meant = known.find((key) => plainName(key) === plainName(field));
  return meant && `did you mean ${meant}?`;
}

/** Reads one field before the arguments are checked: what is wrong with them is said there. */
function asksForStream(params: ChatCompletionParams): boolean {
  try {
    return Object.hasOwn(params, 'stream') && params.stream === true;
  } catch {
    return false;
  }
}
