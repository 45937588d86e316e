import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { HttpError } from '../base/errors.js';
import { redact } from '../base/redact.js';
import type { CompletionRequest, ModelResponse, ModelResponseEnd, ModelSource } from './model-source.js';

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
    const save = (pieces: string[]): void => this.#save(request, pieces, response.ended());
    return {
      ended: response.ended,
      pieces: (async function* () {
        const pieces: string[] = [];
        for await (const piece of response.pieces) {
          pieces.push(piece);
          yield piece;
        }
        // Not in a `finally`: a response that was not read to its end is not recorded.
        save(pieces);
      })(),
    };
  }

  #save(request: CompletionRequest, pieces: readonly string[], end: ModelResponseEnd): void {
    const file = fileOf(this.#directory, request);
    // A key may span two pieces, so a text that needs redaction is stored as one piece.
    const whole = pieces.join('');
    const safe = redact(whole);
    const cassette = { request: identityOf(request), answer: { pieces: safe === whole ? pieces : [safe], ...end } };
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

  #read(request: CompletionRequest): { pieces: string[] } & ModelResponseEnd {
    try {
      return z.parse(cassetteSchema, JSON.parse(readFileSync(fileOf(this.#directory, request), 'utf8'))).answer;
    } catch {
      throw new HttpError(503, 'No response was recorded for this request', { code: 'replay_miss' });
    }
  }
}

/** The fields that identify a request. `stream` is not one: a recording serves both forms. */
function identityOf({ model, messages, temperature, max_tokens }: CompletionRequest): object {
  const safe = messages.map(({ role, content }) => ({ role, content: redact(content) }));
  return { model, messages: safe, temperature, max_tokens };
}

function fileOf(directory: string, request: CompletionRequest): string {
  return join(directory, `${hash('sha256', JSON.stringify(identityOf(request)), 'hex').slice(0, 32)}.json`);
}

const cassetteSchema = z.object({
  answer: z.object({
    pieces: z.array(z.string()),
    finishReason: z.string(),
    usage: z.optional(z.object({ prompt_tokens: z.number(), completion_tokens: z.number() })),
  }),
});
