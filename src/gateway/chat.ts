import type { APIPromise } from '../base/api-promise.js';
import type { ValidationIssue } from '../base/issues.js';
import { fieldsOf, normalizeName } from '../base/schema-issues.js';
import { RequestValidationError, ResponseValidationError } from '../errors/validation.js';
import { tryJson } from '../transport/arguments/json.js';
import { type RequestOptions, type SchemaOptions, schemaOptionsSchema } from '../transport/arguments/options.js';
import type { Endpoint } from '../transport/arguments/request.js';
import { isAnOption } from '../transport/arguments/validation.js';
import type { Transport } from '../transport/call/transport.js';
import type { ResponseSpec } from '../transport/response/service-response.js';
import type { CompletionForm, CompletionTypes, Undocumented } from './extended.js';
import type { ChatCompletion, ChatCompletionParams } from './schemas.js';
import type { DecodeChunk } from './stream/chunk.js';
import type { ChatCompletionStream } from './stream/completion-stream.js';
import { openStream } from './stream/open.js';

/** The default timeout for a whole completion (ms). */
const COMPLETION_TIMEOUT = 600_000;

/** `gateway.chat` */
export class Chat<Sent extends Undocumented = undefined> {
  readonly completions: ChatCompletions<Sent>;

  /** @internal */
  constructor(transport: Transport, form: CompletionForm, decodeChunk: DecodeChunk | undefined) {
    this.completions = new ChatCompletions(transport, form, decodeChunk);
  }
}

/** `/v1/chat/completions` */
export class ChatCompletions<Sent extends Undocumented = undefined> {
  readonly #transport: Transport;
  readonly #form: CompletionForm;
  readonly #response: ResponseSpec<ChatCompletion, ChatCompletion>;
  readonly #decodeChunk: DecodeChunk | undefined;

  /** @internal */
  constructor(transport: Transport, form: CompletionForm, decodeChunk: DecodeChunk | undefined) {
    this.#transport = transport;
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
    options: SchemaOptions<T>,
  ): APIPromise<T>;

  /**
   * Create a completion. `POST /v1/chat/completions`
   *
   * With `stream: true` it returns a stream: `for await (const chunk of await create({ …, stream: true }))`. The
   * default `timeout` is 600 s for a whole completion, and 60 s for the headers of a stream. With the client's option
   * `undocumented: 'send'`, the types have tools, images, JSON formats and more parameters. Parameters that are certainly wrong are rejected, such as `maxTokens`, or an option such as `timeout`.
   *
   * @throws {RequestValidationError} when an argument is invalid, such as a `temperature` outside 0 to 2; nothing was
   * sent
   * @throws {NotFoundError} with `code: 'model_not_found'` when the model does not exist
   * @throws {BadRequestError} when the messages do not fit the model's context window, or the service rejects a field
   * @throws {RateLimitError} when the limit is still used up after all retries; see `retryAfter`
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
  create(given: CompletionTypes<Sent>['params'], options?: RequestOptions): APIPromise<unknown> {
    const form = this.#form;
    const params = given as ChatCompletionParams; // of the others, only the names are read here
    if (!asksForStream(params)) {
      return this.#transport.request(() => endpointOf(WHOLE, params, form), this.#response, options);
    }
    return this.#transport.stream(
      () => endpointOf(STREAMED, params, form),
      (opened) => openStream(opened, form, this.#decodeChunk),
      options,
    );
  }
}

// Both objects define both fields, so that those of a polluted prototype are never read.
const WHOLE = { accept: undefined, timeout: COMPLETION_TIMEOUT };
const STREAMED = { accept: 'text/event-stream', timeout: undefined };
const COMPLETION = {
  unwrap: (completion: ChatCompletion) => completion,
  content: parsedReply,
  facts: ({ model, choices, usage }: ChatCompletion) => ({
    model,
    finishReasons: choices.map(({ finish_reason }) => finish_reason),
    usage,
  }),
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

/** Builds the endpoint. Throws if a parameter is certainly misplaced. */
function endpointOf(
  { accept, timeout }: Pick<Endpoint, 'accept' | 'timeout'>,
  params: ChatCompletionParams,
  { params: accepts }: CompletionForm,
): Endpoint {
  const given: Record<string, unknown> = Object(params); // a value that is not an object is rejected later
  const known = fieldsOf(accepts);
  const issues: ValidationIssue[] = [];
  for (const field of Object.keys(given)) {
    const message = known.includes(field) || given[field] === undefined ? undefined : findMisplaced(field, known);
    if (message !== undefined) issues.push({ path: [field], message });
  }
  if (issues.length > 0) throw new RequestValidationError(issues);
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    accepts,
    accept,
    timeout,
    body: params,
    model: given.model,
  };
}

/** Names that no service will add: another spelling of a documented parameter, or an option of the call. */
function findMisplaced(field: string, known: readonly string[]): string | undefined {
  if (fieldsOf(schemaOptionsSchema).includes(field)) return isAnOption();
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
