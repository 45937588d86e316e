import type { APIPromise } from '../base/api-promise.js';
import { tryJson } from '../base/json.js';
import type { WithResponse } from '../base/response-info.js';
import { Resource } from '../call/resource.js';
import type { Transport } from '../call/transport.js';
import { ResponseValidationError } from '../errors/validation.js';
import { DEFAULTS } from '../request/client-options.js';
import type { RequestOptions } from '../request/request-options.js';
import type { ResponseSpec } from '../response/service-response.js';
import type { StreamForm } from '../stream/chunk.js';
import type { ChatCompletionStream } from '../stream/completion-stream.js';
import { openStream } from '../stream/open.js';
import type { StandardSchema } from '../validation/validate.js';
import type { ChatCompletion } from '../wire/completions.js';
import type { CompletionTypes, ExtendedTypes } from '../wire/form.js';

/**
 * A reply that a `schema` has read. Await it for the value. `withResponse()` also returns the completion, with its `usage`,
 * `id` and `finish_reason`.
 */
export interface ParsedReply<T, Completion = ChatCompletion> extends APIPromise<T> {
  withResponse(): Promise<WithResponse<T> & { readonly completion: Completion }>;
}

/** `gateway.chat` */
export class Chat<Types extends ExtendedTypes = CompletionTypes> {
  readonly completions: ChatCompletions<Types>;

  /** @internal */
  constructor(transport: Transport, form: StreamForm<Types>) {
    this.completions = new ChatCompletions(transport, form);
  }
}

/** `/v1/chat/completions` */
export class ChatCompletions<Types extends ExtendedTypes = CompletionTypes> extends Resource {
  readonly #form: StreamForm<Types>;
  readonly #response: ResponseSpec<unknown, Types['completion']>;

  /** @internal */
  constructor(transport: Transport, form: StreamForm<Types>) {
    super(transport);
    this.#form = form;
    this.#response = {
      schema: form.completion,
      unwrap: form.complete,
      content: (body) => parsedReply(form.complete(body)),
    };
  }

  /** Whether completions take and return what the API does not document: the client's option `completions: extended`. */
  get isExtended(): boolean {
    return this.#form.isExtended;
  }

  /**
   * Create a completion whose reply is JSON, and validate and type it with `schema`. Returns the parsed reply of the
   * first choice; `withResponse()` also returns the completion, with its `usage`. The model must be told to reply in JSON;
   * with `completions: extended`, by `response_format`.
   *
   * @throws {ResponseValidationError} when the reply is not JSON or does not match; its `body` is the completion
   */
  create<T>(
    params: Types['params'] & { stream?: false | undefined },
    options: RequestOptions & { schema: StandardSchema<T> },
  ): ParsedReply<T, Types['completion']>;

  /**
   * Create a completion. `POST /v1/chat/completions`
   *
   * With `stream: true` it returns a stream: `for await (const chunk of await create({ …, stream: true }))`. The
   * default `timeout` is 600 s for a whole completion, and 60 s for the headers of a stream. With the client's option
   * `completions: extended`, the types have tools, images, JSON formats and more parameters.
   *
   * With the option `schema`, a [Standard Schema](https://standardschema.dev), the reply of the first choice must be JSON. It is
   * parsed, validated and returned in place of the completion; `withResponse()` returns both. Tell the model to reply in
   * JSON.
   *
   * @throws {RequestValidationError} when an argument is invalid, such as a `temperature` outside 0 to 2; nothing was
   * sent
   * @throws {NotFoundError} with `code: 'model_not_found'` when the model does not exist
   * @throws {BadRequestError} when the messages do not fit the model's context window, or the service rejects a field
   * @throws {RateLimitError} when the limit is still used up after all retries; see `retryAfter`
   * @throws {ResponseValidationError} with `schema`, when the reply is not JSON or does not match; its `body` is the
   * completion
   *
   * @example
   * ```ts
   * const { choices } = await gateway.chat.completions.create({
   *   model: 'atlas-small',
   *   messages: [{ role: 'user', content: 'The harbour opens at six. When does the harbour open?' }],
   * });
   * console.log(choices[0]?.message.content);
   * ```
   */
  create(params: Types['params'] & { stream: true }, options?: RequestOptions): APIPromise<ChatCompletionStream<Types>>;
  create(
    params: Types['params'] & { stream?: false | undefined },
    options?: RequestOptions,
  ): APIPromise<Types['completion']>;
  create(
    params: Types['params'],
    options?: RequestOptions,
  ): APIPromise<Types['completion'] | ChatCompletionStream<Types>>;
  create(params: Types['params'], options?: RequestOptions): APIPromise<unknown> {
    const form = this.#form;
    const isStreamed = asksForStream(params);
    const endpoint = {
      method: 'POST',
      path: '/v1/chat/completions',
      body: params,
      accepts: form.params,
      accept: isStreamed ? 'text/event-stream' : undefined,
      timeout: isStreamed ? undefined : DEFAULTS.workTimeout,
    } as const;
    return isStreamed
      ? this.transport.stream(endpoint, (opened) => openStream(opened, form), options)
      : this.transport.request(endpoint, this.#response, options);
  }
}

/** The fence that many models put around JSON. */
const FENCE = /^\s*```\w*\s([\s\S]*)```\s*$/;

/** The reply of the first choice, which must be JSON. @throws {ResponseValidationError} when it is not */
function parsedReply(completion: ExtendedTypes['completion']): unknown {
  const choice = completion.choices[0];
  const text = choice?.message.content;
  const value = tryJson((text ?? '').replace(FENCE, '$1'));
  if (value !== undefined) return value;
  const reason =
    choice?.finish_reason === 'length'
      ? 'it ended at max_tokens'
      : text
        ? 'ask the model for JSON only'
        : 'it has no text';
  throw new ResponseValidationError(`The reply is not JSON: ${reason}. The completion is in the error's body.`, {
    body: completion,
  });
}

/** Reads one field before the arguments are checked. The check reports what is wrong with them. */
function asksForStream(params: { stream?: boolean | undefined }): boolean {
  try {
    return Object.hasOwn(params, 'stream') && params.stream === true;
  } catch {
    return false;
  }
}
