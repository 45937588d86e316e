import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { HttpError } from '../base/errors.js';
import { redact } from '../base/redact.js';
import type { CompletionRequest, ModelResponse, ModelResponseEnd, ModelSource } from './model-source.js';
import { asPiece, joinPieces, type ReplyPiece, toolCallPieceSchema } from './tool-calls.js';

/** Forwards requests, and records every complete response in a directory: one redacted file per request. */
export class RecordingSource implements ModelSource {
  readonly #inner: ModelSource;
  readonly #directory: string;

  constructor(inner: ModelSource, directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#inner = inner;
    this.#directory = directory;
  }

  async complete(request: CompletionRequest, signal: AbortSignal): Promise<ModelResponse> {
    const response = await this.#inner.complete(request, signal);
    const save = (pieces: ReplyPiece[]): void => this.#save(request, pieces, response.ended());
    return {
      ended: response.ended,
      pieces: (async function* () {
        const pieces: ReplyPiece[] = [];
        for await (const piece of response.pieces) {
          pieces.push(piece);
          yield piece;
        }
        // Not in a `finally`: a response that was not read to its end is not recorded.
        save(pieces);
      })(),
    };
  }

  #save(request: CompletionRequest, pieces: readonly ReplyPiece[], end: ModelResponseEnd): void {
    const file = fileOf(this.#directory, request);
    const cassette = { request: identityOf(request), answer: { pieces: withoutKeys(pieces), ...end } };
    writeFileSync(`${file}.part`, `${JSON.stringify(cassette, null, 2)}\n`);
    renameSync(`${file}.part`, file);
  }
}

/** Replays recorded responses. It opens no connection. A request without a recording is a 503. */
export class ReplaySource implements ModelSource {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async complete(request: CompletionRequest): Promise<ModelResponse> {
    const { pieces, ...end } = this.#read(request);
    return {
      ended: () => end,
      pieces: (async function* () {
        yield* pieces;
      })(),
    };
  }

  #read(request: CompletionRequest): { pieces: ReplyPiece[] } & ModelResponseEnd {
    try {
      return z.parse(cassetteSchema, JSON.parse(readFileSync(fileOf(this.#directory, request), 'utf8'))).answer;
    } catch {
      throw new HttpError(503, 'No response was recorded for this request', { code: 'replay_miss' });
    }
  }
}

/** A key may span two pieces, so a reply that needs redaction is stored as one piece. */
function withoutKeys(pieces: readonly ReplyPiece[]): readonly ReplyPiece[] {
  const { content, toolCalls } = joinPieces(pieces);
  const safe = redacted({ content, toolCalls });
  if (JSON.stringify(safe) === JSON.stringify({ content, toolCalls })) return pieces;
  return [safe.content, ...(toolCalls.length === 0 ? [] : [asPiece(safe.toolCalls)])];
}

/** A copy of a JSON value without keys in its texts. */
function redacted<T>(value: T): T {
  if (typeof value === 'string') return redact(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redacted) as T;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, redacted(field)])) as T;
}

/**
 * The fields that identify a request. `stream` is not one: a recording serves both forms. Those that the API does not
 * document come last.
 */
function identityOf({ sent, ...documented }: CompletionRequest): object {
  const given: CompletionRequest & { stream_options?: unknown } = { ...documented, ...sent };
  const { model, messages, temperature, max_tokens, stream, stream_options, ...others } = given;
  const ordered = messages.map(({ role, content, ...more }) => ({
    role,
    content,
    ...more,
  }));
  return redacted({ model, messages: ordered, temperature, max_tokens, ...others });
}

function fileOf(directory: string, request: CompletionRequest): string {
  return join(directory, `${hash('sha256', JSON.stringify(identityOf(request)), 'hex').slice(0, 32)}.json`);
}

const cassetteSchema = z.object({
  answer: z.object({
    pieces: z.array(z.union([z.string(), z.object({ tool_calls: z.array(toolCallPieceSchema) })])),
    finishReason: z.string(),
    usage: z.optional(z.object({ prompt_tokens: z.number(), completion_tokens: z.number() })),
  }),
});
