import type { APIPromise } from '../base/api-promise.js';
import { ResponseValidationError } from '../errors/validation.js';
import { DEFAULTS } from '../transport/arguments/client-options.js';
import { tryJson } from '../transport/arguments/json.js';
import type { RequestOptions } from '../transport/arguments/request-options.js';
import type { StandardSchema } from '../transport/arguments/validation.js';
import type { Transport } from '../transport/call/transport.js';
import { Resource } from '../transport/resource.js';
import type { ResponseSpec } from '../transport/response/service-response.js';
import type { CompletionForm, CompletionTypes, Undocumented } from './extended.js';
import type { ChatCompletion } from './schemas.js';
import type { DecodeChunk } from './stream/chunk.js';
import type { ChatCompletionStream } from './stream/completion-stream.js';
import { openStream } from './stream/open.js';

/** `gateway.chat` */
export class Chat<Sent extends Undocumented = undefined> {
  readonly completions: ChatCompletions<Sent>;

  /** @internal */
  constructor(transport: Transport, form: CompletionForm, decodeChunk: DecodeChunk | undefined) {
    this.completions = new ChatCompletions(transport, form, decodeChunk);
  }
}

/** `/v1/chat/completions` */
export class ChatCompletions<Sent extends Undocumented = undefined> extends Resource {
  readonly #form: CompletionForm;
  readonly #response: ResponseSpec<ChatCompletion, ChatCompletion>;
  readonly #decodeChunk: DecodeChunk | undefined;

  /** @internal */
  constructor(transport: Transport, form: CompletionForm, decodeChunk: DecodeChunk | undefined) {
    super(transport);
    this.#form = form;
    this.#response = { ...COMPLETION, schema: form.completion };
    this.#decodeChunk = decodeChunk;
  }

  /**
   * Create a completion whose reply is JSON, and validate and type it with `schema`. Returns the parsed reply of the
   * first choice. The model must be told to reply in JSON; with `undocumented: 'send'`, by `response_format`.
   *
   * @throws {ResponseValidationError} when the reply is not JSON or does not match; its `body` is the completion
   */
  create<T>(
    params: CompletionTypes<Sent>['params'] & { stream?: false | undefined },
    options: RequestOptions & { schema: StandardSchema<T> },
  ): APIPromise<T>;

  /**
   * Create a completion. `POST /v1/chat/completions`
   *
   * With `stream: true` it returns a stream: `for await (const chunk of await create({ …, stream: true }))`. The
   * default `timeout` is 600 s for a whole completion, and 60 s for the headers of a stream. With the client's option
   * `undocumented: 'send'`, the types have tools, images, JSON formats and more parameters.
   *
   * @throws {RequestValidationError} when an argument is invalid, such as a `temperature` outside 0 to 2; nothing was
   * sent
   * @throws {NotFoundError} with `code: 'model_not_found'` when the model does not exist
   * @throws {BadRequestError} when the messages do not fit the model's context window, or the service rejects a field
   * @throws {RateLimitError} when the limit is still used up after all retries; see `retryAfter`
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
  create(
    params: CompletionTypes<Sent>['params'] & { stream: true },
    options?: RequestOptions,
  ): APIPromise<ChatCompletionStream<Sent>>;
  create(
    params: CompletionTypes<Sent>['params'] & { stream?: false | undefined },
    options?: RequestOptions,
  ): APIPromise<CompletionTypes<Sent>['completion']>;
  create(
    params: CompletionTypes<Sent>['params'],
    options?: RequestOptions,
  ): APIPromise<CompletionTypes<Sent>['completion'] | ChatCompletionStream<Sent>>;
  create(params: CompletionTypes<Sent>['params'], options?: RequestOptions): APIPromise<unknown> {
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
      ? this.transport.stream(endpoint, (opened) => openStream(opened, form, this.#decodeChunk), options)
      : this.transport.request(endpoint, this.#response, options);
  }
}

const COMPLETION = {
  unwrap: (completion: ChatCompletion) => completion,
  content: parsedReply,
};

/** The reply of the first choice, which must be JSON. @throws {ResponseValidationError} when it is not */
function parsedReply(completion: ChatCompletion): unknown {
  const choice = completion.choices[0];
  const text: string | null | undefined = choice?.message.content;
  const value = tryJson(text ?? '');
  if (value !== undefined) return value;
  const reason =
    choice?.finish_reason === 'length'
      ? 'it ended at max_tokens'
      : text
        ? 'ask the model for JSON alone'
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
