import type { APIPromise } from '../base/api-promise.js';
import { tryJson } from '../base/json.js';
import { ownField } from '../base/objects.js';
import { Resource } from '../call/resource.js';
import type { Transport } from '../call/transport.js';
import { badArgument, ResponseValidationError } from '../errors/validation.js';
import { DEFAULTS } from '../request/client-options.js';
import type { RequestOptions } from '../request/request-options.js';
import type { ChatCompletionStream } from '../stream/completion-stream.js';
import { openStream } from '../stream/open.js';
import type { StandardSchema } from '../validation/validate.js';
import type { ChatCompletion, ChatCompletionChoice } from '../wire/completions.js';
import type { CompletionForm, CompletionTypes, ExtendedTypes } from '../wire/form.js';
import { tidyCompletion } from '../wire/tidy.js';

/** A completion whose reply is JSON: `parsed` is what the schema made of it. */
export type ParsedChatCompletion<T, Completion = ChatCompletion> = Completion & { parsed: T };
/** The fence that many models put around JSON. */
const FENCE = /^\s*```[^\n{[]{0,40}([\s\S]*)```\s*$/;

/** `gateway.chat` */
export class Chat<Types extends ExtendedTypes = CompletionTypes> {
  readonly completions: ChatCompletions<Types>;

  /** @internal */
  constructor(transport: Transport, form: CompletionForm<Types>) {
    this.completions = new ChatCompletions(transport, form);
  }
}

/** `/v1/chat/completions` */
export class ChatCompletions<Types extends ExtendedTypes = CompletionTypes> extends Resource {
  readonly #form: CompletionForm<Types>;

  /** @internal */
  constructor(transport: Transport, form: CompletionForm<Types>) {
    super(transport);
    this.#form = form;
  }

  /** @internal Whether completions take and return what the API does not document: the client's option `completions: extended`. */
  get isExtended(): boolean {
    return this.#form.isExtended;
  }

  /**
   * Create a completion. `POST /v1/chat/completions`
   *
   * With `stream: true` it returns a stream: `for await (const chunk of await create({ …, stream: true }))`. The
   * default `timeout` is 600 s for a whole completion, and 60 s for the headers of a stream. With the client's option
   * `completions: extended`, the types have tools, images, JSON formats and more parameters.
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
    if (asksForStream(params)) {
      const endpoint = { ...endpointOf(form, params), accept: 'text/event-stream', timeout: undefined };
      return this.transport.stream(endpoint, (opened) => openStream(opened, form), options);
    }
    const response = { schema: form.completion, tidy: tidyOf(form), unwrap: form.complete };
    return this.transport.request(endpointOf(form, params), response, options);
  }

  /**
   * Create a completion whose reply is JSON, and validate and type it with `schema`, a [Standard
   * Schema](https://standardschema.dev) such as one of zod. Returns the completion with `parsed`, the reply of the first choice.
   * `POST /v1/chat/completions`
   *
   * The schema is not sent: tell the model to reply in JSON; with `completions: extended`, also by `response_format`. A fence
   * around the JSON is removed. The default `timeout` is 600 s.
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
   * ];
   * const schema = z.object({ format: z.string(), hour: z.number() });
   * const { parsed, usage } = await gateway.chat.completions.parse({ model: 'atlas-large', messages }, { schema });
   * console.log(parsed.format, parsed.hour, usage.total_tokens > 0);
   * ```
   */
  parse<T>(
    params: Types['params'],
    options: RequestOptions & { schema: StandardSchema<T> },
  ): APIPromise<ParsedChatCompletion<T, Types['completion']>> {
    const form = this.#form;
    return this.transport.request(
      () => {
        if (asksForStream(params)) throw badArgument(['stream'], 'must be false');
        return endpointOf(form, params);
      },
      {
        schema: form.completion,
        tidy: tidyOf(form),
        content: parsedReply,
        unwrap: (body, parsed) => ({ ...form.complete(body), parsed: parsed as T }),
      },
      options ?? {}, // a missing schema is an error
    );
  }
}

function endpointOf<Types extends ExtendedTypes>({ params: accepts }: CompletionForm<Types>, body: Types['params']) {
  return { method: 'POST', path: '/v1/chat/completions', body, accepts, timeout: DEFAULTS.workTimeout } as const;
}

function tidyOf({ isExtended }: { isExtended: boolean }): (completion: unknown) => void {
  return (completion) => tidyCompletion(completion, !isExtended);
}

/** The reply of the first choice, which must be JSON. @throws {ResponseValidationError} when it is not */
function parsedReply(completion: unknown): unknown {
  // With `validation: 'report'`, the completion may have any form.
  const choice = (completion as Partial<ChatCompletion> | null)?.choices?.[0] as Partial<ChatCompletionChoice> | null;
  const content: unknown = choice?.message?.content;
  const value = typeof content === 'string' ? tryJson(content.replace(FENCE, '$1')) : undefined;
  if (value !== undefined) return value;
  const reason = choice?.finish_reason === 'length' ? ': it ended at max_tokens' : ': see error.body';
  throw new ResponseValidationError(`The reply is not JSON${reason}.`, { body: completion });
}

/** Reads one field before the arguments are checked. The check reports what is wrong with them. */
function asksForStream(params: { stream?: boolean | undefined }): boolean {
  try {
    return ownField(params, 'stream') === true;
  } catch {
    return false;
  }
}
