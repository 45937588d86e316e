import type { APIPromise } from '../base/api-promise.js';
import { tryJson } from '../base/json.js';
import { ownField } from '../base/objects.js';
import { Resource } from '../call/resource.js';
import type { Transport } from '../call/transport.js';
import { badArgument, ResponseValidationError } from '../errors/validation.js';
import { DEFAULTS } from '../request/client-options.js';
import type { Endpoint } from '../request/request.js';
import type { RequestOptions } from '../request/request-options.js';
import type { ResponseSpec, ServiceResponse } from '../response/service-response.js';
import type { ChatCompletionStream } from '../stream/completion-stream.js';
import { openStream, readCompletion } from '../stream/open.js';
import type { StandardSchema } from '../validation/validate.js';
import {
  type ChatCompletion,
  type ChatCompletionChoice,
  type ChatCompletionParams,
  chatCompletionParamsSchema,
  chatCompletionSchema,
} from '../wire/completions.js';
import type { DecodeChunk } from '../wire/decode-chunk.js';
import { addMissing, tidyCompletion } from '../wire/tidy.js';

/** A completion whose reply is JSON: `parsed` is what the schema made of it. */
export type ParsedChatCompletion<T> = ChatCompletion & { parsed: T };
/** The fence that many models put around JSON. */
const FENCE = /^\s*```[^\n{[]{0,40}([\s\S]*)```\s*$/;

/** `gateway.chat` */
export class Chat {
  readonly completions: ChatCompletions;

  /** @internal */
  constructor(transport: Transport, decodeChunk: DecodeChunk | undefined) {
    this.completions = new ChatCompletions(transport, decodeChunk);
  }
}

/** `/v1/chat/completions` */
export class ChatCompletions extends Resource {
  readonly #decodeChunk: DecodeChunk | undefined;

  /** @internal */
  constructor(transport: Transport, decodeChunk: DecodeChunk | undefined) {
    super(transport);
    this.#decodeChunk = decodeChunk;
  }

  /**
   * Create a completion. `POST /v1/chat/completions`
   *
   * With `stream: true` it returns a stream: `for await (const chunk of await create({ …, stream: true }))`. The
   * default `timeout` is 600 s for a whole completion, and 60 s for the headers of a stream. The API documents the parameters
   * from `model` to `stream`; the service may ignore or reject the others.
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
  create(params: ChatCompletionParams & { stream: true }, options?: RequestOptions): APIPromise<ChatCompletionStream>;
  create(
    params: ChatCompletionParams & { stream?: false | undefined },
    options?: RequestOptions,
  ): APIPromise<ChatCompletion>;
  create(params: ChatCompletionParams, options?: RequestOptions): APIPromise<ChatCompletion | ChatCompletionStream>;
  create(params: ChatCompletionParams, options?: RequestOptions): APIPromise<unknown> {
    const n = given(params, 'n');
    if (given(params, 'stream') !== true) return this.whole(endpointOf(params), n, options);
    return this.streamed(endpointOf(params), n, options);
  }

  /** @internal `n`: how many choices are asked for, not yet checked. */
  whole(endpoint: Endpoint, n: unknown, options: RequestOptions | undefined): APIPromise<ChatCompletion> {
    return this.transport.request({ timeout: DEFAULTS.workTimeout, ...endpoint }, this.#whole(n), options);
  }

  /** @internal `n`: how many choices are asked for, not yet checked. */
  streamed(endpoint: Endpoint, n: unknown, options: RequestOptions | undefined): APIPromise<ChatCompletionStream> {
    const open = (response: ServiceResponse) => openStream(response, this.#decodeChunk, wanted(n));
    return this.transport.stream({ ...endpoint, accept: 'text/event-stream', timeout: undefined }, open, options);
  }

  /**
   * Create a completion whose reply is JSON, and validate and type it with `schema`, a [Standard
   * Schema](https://standardschema.dev) such as one of zod. Returns the completion with `parsed`, the reply of the first choice.
   * `POST /v1/chat/completions`
   *
   * The schema is not sent: tell the model to reply in JSON, or pass a `response_format`, too. A fence around the JSON is
   * removed. With `tools`, `parsed` is `undefined` if the model calls one in place of a reply in JSON. The default `timeout`
   * is 600 s.
   *
   * @throws {RequestValidationError} when an argument is invalid, or with `stream: true`; nothing was sent
   * @throws {ResponseValidationError} when the reply is not JSON or does not match; its `body` is the completion
   *
   * @example
   * ```ts
   * import { z } from 'zod';
   * const messages = [
   *   { role: 'system', content: '{ "format": "Parquet", "hour": 2 }' },
   *   { role: 'user', content: 'Which format, and at which hour? Reply with JSON only.' },
   * ] as const;
   * const schema = z.object({ format: z.string(), hour: z.number() });
   * const { parsed, usage } = await gateway.chat.completions.parse({ model: 'atlas-large', messages }, { schema });
   * console.log(parsed.format, parsed.hour, usage?.total_tokens);
   * ```
   */
  parse<T>(
    params: ChatCompletionParams & { tools?: undefined },
    options: RequestOptions & { schema: StandardSchema<T> },
  ): APIPromise<ParsedChatCompletion<T>>;
  parse<T>(
    params: ChatCompletionParams,
    options: RequestOptions & { schema: StandardSchema<T> },
  ): APIPromise<ParsedChatCompletion<T | undefined>>;
  parse<T>(
    params: ChatCompletionParams,
    options: RequestOptions & { schema: StandardSchema<T> },
  ): APIPromise<ParsedChatCompletion<T | undefined>> {
    const mayCall = given(params, 'tools') !== undefined;
    const isAsked = given(params, 'response_format') !== undefined;
    return this.transport.request(
      () => {
        if (given(params, 'stream') === true) throw badArgument(['stream'], 'must be false');
        return endpointOf(params);
      },
      {
        ...this.#whole(given(params, 'n')),
        content: (completion) => parsedReply(completion, mayCall, isAsked),
        unwrap: (body, parsed) => ({ ...addMissing(body), parsed: parsed as T | undefined }),
      },
      options ?? {}, // a missing schema is an error
    );
  }

  /** How a whole completion is read. */
  #whole(n: unknown): ResponseSpec<ChatCompletion, ChatCompletion> {
    return {
      read: (response) => readCompletion(response, this.#decodeChunk, wanted(n)),
      schema: chatCompletionSchema,
      tidy: tidyCompletion,
      unwrap: addMissing,
    };
  }
}

function wanted(n: unknown): number {
  return typeof n === 'number' ? n : 1;
}

function endpointOf(body: ChatCompletionParams) {
  const accepts = chatCompletionParamsSchema;
  return { method: 'POST', path: '/v1/chat/completions', body, accepts, timeout: DEFAULTS.workTimeout } as const;
}

/**
 * The reply of the first choice, which must be JSON. `undefined` if the model calls tools in its place.
 *
 * @throws {ResponseValidationError} when it is not
 */
function parsedReply(completion: unknown, mayCall: boolean, isAsked: boolean): unknown {
  // With `validation: 'report'`, the completion may have any form.
  const choice = (completion as Partial<ChatCompletion> | null)?.choices?.[0] as Partial<ChatCompletionChoice> | null;
  const content: unknown = choice?.message?.content;
  const value = typeof content === 'string' ? tryJson(content.replace(FENCE, '$1')) : undefined;
  if (value !== undefined || (mayCall && choice?.message?.tool_calls?.length)) return value;
  const reason = choice?.finish_reason === 'length' ? 'it ended at max_tokens' : 'see error.body';
  const advice = isAsked ? '' : ' The schema is not sent: ask for JSON in a message, or pass response_format.';
  throw new ResponseValidationError(`The reply is not JSON: ${reason}.${advice}`, { body: completion });
}

/** Reads one field before the arguments are checked. The check reports what is wrong with them. */
function given(params: ChatCompletionParams, name: keyof ChatCompletionParams): unknown {
  try {
    return ownField(params, name);
  } catch {
    return undefined;
  }
}
