import * as z from 'zod/mini';
import { badRequest, HttpError, notFound } from '../base/errors.js';
import { mention, quote } from '../base/mention.js';
import { redact } from '../base/redact.js';
import { type Secrets, secretsFrom } from '../base/secrets.js';
import { eventData } from './events.js';
import {
  type CompletionRequest,
  type ModelResponse,
  type ModelResponseEnd,
  type ModelSource,
  type UpstreamOptions,
  wholeResponse,
} from './model-source.js';
import { asPiece, toolCallPieceSchema } from './tool-calls.js';

/**
 * Calls an OpenAI-compatible server. It sends the body of the request and its own key, nothing else of the caller.
 */
export class UpstreamSource implements ModelSource {
  readonly name = 'upstream';
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #models: Map<string, string>;
  /** The key, which the upstream may repeat in an error. */
  readonly #secrets: Secrets | undefined;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;

  constructor({ url, key, models = {}, timeout = 120_000, fetch: send = fetch }: UpstreamOptions) {
    this.#url = `${url.replace(/\/+$/, '')}/chat/completions`; // linear: an address of the developer
    this.#headers = {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    };
    this.#secrets = secretsFrom(key === undefined ? [] : [key]);
    this.#models = new Map(Object.entries(models));
    this.#timeout = timeout;
    this.#fetch = send;
  }

  async complete(request: CompletionRequest, signal: AbortSignal): Promise<ModelResponse> {
    const { sent, ...documented } = request;
    const { model, stream } = documented;
    const body = JSON.stringify({
      ...(sent ?? documented),
      model: this.#models.get(model) ?? model,
      stream: undefined,
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    });
    const response = await this.#send(body, signal);
    if (!response.ok) throw await translatedError(response, model, this.#url, this.#secrets);
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
    return isStream && response.body !== null
      ? streamedCompletion(response.body, this.#secrets)
      : wholeCompletion(response, signal, this.#secrets);
  }

  async #send(body: string, signal: AbortSignal): Promise<Response> {
    const expired = new AbortController();
    const timer = setTimeout(() => expired.abort(new Error('it did not respond in time')), this.#timeout);
    try {
      return await this.#fetch(this.#url, {
        method: 'POST',
        headers: this.#headers,
        body,
        // A redirect would send the key to another server.
        redirect: 'error',
        signal: AbortSignal.any([signal, expired.signal]),
      });
    } catch (error) {
      throw signal.aborted ? signal.reason : unavailable(error, this.#secrets);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function wholeCompletion(
  response: Response,
  signal: AbortSignal,
  secrets: Secrets | undefined,
): Promise<ModelResponse> {
  let body: unknown;
  try {
    body = await response.json();
  } catch (error) {
    throw signal.aborted ? signal.reason : unavailable(error, secrets);
  }
  const result = z.safeParse(completionSchema, body);
  const choice = result.data?.choices[0];
  if (choice === undefined) throw unavailable(new Error('the response is not a completion'));
  const end: ModelResponseEnd = {
    finishReason: choice.finish_reason ?? 'stop',
    usage: result.data?.usage ?? undefined,
  };
  const { content, tool_calls } = choice.message;
  return wholeResponse([...(content ? [content] : []), ...(tool_calls?.length ? [asPiece(tool_calls)] : [])], end);
}

function streamedCompletion(body: ReadableStream<Uint8Array>, secrets: Secrets | undefined): ModelResponse {
  const end: ModelResponseEnd = { finishReason: '' };
  return {
    ended: () => end,
    pieces: (async function* () {
      for await (const data of eventData(body)) {
        if (data === '[DONE]') break;
        const chunk = readChunk(data, secrets);
        if (chunk.error) throw unavailable(new Error(chunk.error.message ?? 'an error event'), secrets);
        const choice = chunk.choices?.[0];
        const { content, tool_calls } = choice?.delta ?? {};
        if (content) yield content;
        if (tool_calls?.length) yield { tool_calls };
        if (choice?.finish_reason) end.finishReason = choice.finish_reason;
        if (chunk.usage) end.usage = chunk.usage;
      }
      if (end.finishReason === '') throw unavailable(new Error('the stream ended early'));
    })(),
  };
}

function readChunk(data: string, secrets: Secrets | undefined): z.infer<typeof chunkSchema> {
  try {
    return z.parse(chunkSchema, JSON.parse(data));
  } catch (error) {
    throw unavailable(error, secrets);
  }
}

/**
 * Translates an upstream's error for our caller, who does not know the upstream: for example, a 401 is not about the
 * caller's key.
 */
async function translatedError(
  response: Response,
  model: string,
  url: string,
  secrets: Secrets | undefined,
): Promise<HttpError> {
  const { status } = response;
  const said = redact(messageIn(await response.text().catch(() => '')) ?? '', secrets) || undefined;
  if (status === 404 && !/\/v\d[^/]*\/chat\/completions$/.test(url) && !said?.includes('model')) {
    const hint = 'The upstream has nothing at /chat/completions. Its URL must include its path, which is usually /v1';
    return new HttpError(503, hint, { code: 'upstream_without_path' });
  }
  if (status === 404) {
    const hint = `The upstream has no model ${mention(model)}. Map it to one of its models, with models or --model-map`;
    return notFound('model', hint, 'model_not_found');
  }
  if (status === 429) return new HttpError(429, 'Rate limit exceeded', { retryAfter: retryAfterOf(response.headers) });
  if (status === 400 || status === 413 || status === 422) {
    return badRequest('messages', `The upstream rejected the request${quoted(said)}`, 'upstream_refused');
  }
  return new HttpError(503, `The upstream responded with ${status}${quoted(said)}`, { code: 'upstream_error' });
}

function quoted(said: string | undefined): string {
  return said === undefined ? '' : `: ${quote(said)}`;
}

/** Whole seconds, at least one. The header has seconds or a date, which is read by the upstream's own clock. */
function retryAfterOf(headers: Headers): number {
  const given = headers.get('retry-after') ?? '';
  const now = Date.parse(headers.get('date') ?? '');
  const until = (Date.parse(given) - (Number.isNaN(now) ? Date.now() : now)) / 1000;
  const seconds = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) : until;
  return seconds >= 1 ? Math.ceil(seconds) : 1;
}

/** The text of an error, in the forms that servers use. */
function messageIn(text: string): string | undefined {
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // Plain text, or a page.
  }
  const found = z.safeParse(errorSchema, value).data;
  const message =
    typeof found === 'string' ? (found.trimStart().startsWith('<') ? undefined : found) : found && textOf(found);
  return message?.trim() || undefined;
}

function textOf({ error, message, detail }: Exclude<z.infer<typeof errorSchema>, string>): string | undefined {
  if (typeof error === 'object') return error?.message;
  const details = Array.isArray(detail) ? detail.map(({ msg }) => msg).join('; ') : detail;
  return error ?? message ?? details;
}

function unavailable(error: unknown, secrets?: Secrets | undefined): HttpError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new HttpError(503, `The upstream sent no usable response: ${quote(redact(reason, secrets))}`, {
    code: 'upstream_unavailable',
  });
}

const usageSchema = z.object({ prompt_tokens: z.number(), completion_tokens: z.number() });
const content = z.optional(z.nullable(z.string()));
const text = z._default(z.string(), '');
const toolCall = z.object({
  id: text,
  type: z._default(z.string(), 'function'),
  function: z.object({ name: z.string(), arguments: text }),
});
const completionSchema = z.object({
  choices: z.array(
    z.object({
      message: z.object({ content, tool_calls: z.optional(z.nullable(z.array(toolCall))) }),
      finish_reason: z.optional(z.nullable(z.string())),
    }),
  ),
  usage: z.optional(z.nullable(usageSchema)),
});
const delta = z.object({ content, tool_calls: z.optional(z.nullable(z.array(toolCallPieceSchema))) });
const chunkSchema = z.object({
  choices: z.optional(
    z.nullable(
      z.array(
        z.object({
          delta: z.optional(z.nullable(delta)),
          finish_reason: z.optional(z.nullable(z.string())),
        }),
      ),
    ),
  ),
  usage: z.optional(z.nullable(usageSchema)),
  error: z.optional(z.nullable(z.object({ message: z.optional(z.string()) }))),
});
/** OpenAI's, llama.cpp's and Ollama's, FastAPI's, and plain text. */
const errorSchema = z.union([
  z.string(),
  z.object({
    error: z.optional(z.union([z.string(), z.object({ message: z.string() })])),
    message: z.optional(z.string()),
    detail: z.optional(z.union([z.string(), z.array(z.object({ msg: z.string() }))])),
  }),
]);
