import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { HttpError } from '../base/errors.js';
import { mention } from '../base/mention.js';
import { redacted } from '../base/redact.js';
import {
  type CompletionRequest,
  type ModelResponse,
  type ModelResponseEnd,
  type ModelSource,
  wholeResponse,
} from './model-source.js';
import { asPiece, countedText, joinPieces, type ReplyPiece, toolCallPieceSchema } from './tool-calls.js';

/** Forwards requests, and records every complete response in a directory: one redacted file per request. */
export class RecordingSource implements ModelSource {
  readonly name = 'upstream';
  /** The answers of this run, by file. */
  readonly #recorded = new Map<string, Answer[]>();

  constructor(
    private readonly inner: ModelSource,
    private readonly directory: string,
  ) {
    mkdirSync(directory, { recursive: true });
  }

  async complete(request: CompletionRequest, signal: AbortSignal): Promise<ModelResponse> {
    const response = await this.inner.complete(request, signal);
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

  /** A request that is repeated gets a sequence of answers. A new run records it anew. */
  #save(request: CompletionRequest, pieces: ReplyPiece[], end: ModelResponseEnd): void {
    const file = fileOf(this.directory, request);
    const answers = this.#recorded.get(file) ?? [];
    answers.push({ pieces: withoutKeys(pieces), ...end });
    this.#recorded.set(file, answers);
    writeFileSync(`${file}.part`, `${JSON.stringify({ request: identityOf(request), answers }, null, 2)}\n`);
    renameSync(`${file}.part`, file);
  }
}

/**
 * Replays recorded responses. It opens no connection. The answers to a repeated request come in their order, and the last
 * one again and again. A request without a recording is a 503 that names the nearest one.
 */
export class ReplaySource implements ModelSource {
  readonly name = 'recording';
  /** How many answers of a file were given. */
  readonly #given = new Map<string, number>();

  constructor(private readonly directory: string) {
    if (!existsSync(directory))
      throw new RangeError(`the directory of recordings ${directory} does not exist; create it by recording`);
  }

  async complete(request: CompletionRequest): Promise<ModelResponse> {
    const file = fileOf(this.directory, request);
    const { answers } = readCassette(file) ?? missing(this.directory, request);
    const next = this.#given.get(file) ?? 0;
    this.#given.set(file, next + 1);
    const { pieces, ...end } = answers[Math.min(next, answers.length - 1)] ?? missing(this.directory, request);
    return wholeResponse(pieces, end);
  }

  reset(): void {
    this.#given.clear();
  }
}

/** A recorded request with its answers. */
export interface Recording {
  file: string;
  request: Record<string, unknown>;
  answers: readonly Answer[];
}

/** The recordings in a directory. Files that are not recordings are left out. */
export function recordingsIn(directory: string): Recording[] {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory).filter((file) => file.endsWith('.json'));
  return files.flatMap((file) => {
    const cassette = readCassette(join(directory, file));
    return cassette === undefined ? [] : [{ file, ...cassette }];
  });
}

/** A recording with its answers as text. */
export function readableRecording({ file, request, answers }: Recording) {
  const texts = answers.map(({ pieces }) => {
    const { content, toolCalls } = joinPieces(pieces);
    return [content, countedText(toolCalls)].filter(Boolean).join('\n');
  });
  // A recording that was written by hand may have keys.
  return redacted({ file, request, answers: texts });
}

function readCassette(file: string): z.infer<typeof cassetteSchema> | undefined {
  try {
    return z.parse(cassetteSchema, JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Throws the error for a request without a recording. It names the nearest recording, and what differs. */
function missing(directory: string, request: CompletionRequest): never {
  const wanted = identityOf(request);
  const compared = recordingsIn(directory).map((recording) => ({
    file: recording.file,
    differences: differencesOf(wanted, recording.request, ''),
  }));
  compared.sort((a, b) => a.differences.length - b.differences.length);
  const [nearest] = compared;
  const hint =
    nearest === undefined
      ? ''
      : `. The nearest recording, ${nearest.file}, differs in ${nearest.differences.slice(0, MOST_NAMED).join(', and in ')}`;
  throw new HttpError(503, `No response was recorded for this request${hint}`, { code: 'replay_miss' });
}

/** Where two JSON values differ. It repeats no text of theirs, which may be another user's prompt. */
function differencesOf(wanted: unknown, recorded: unknown, path: string): string[] {
  if (typeof wanted === 'object' && wanted !== null && typeof recorded === 'object' && recorded !== null) {
    const [one, other] = [wanted as Record<string, unknown>, recorded as Record<string, unknown>];
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) => differencesOf(one[name], other[name], path === '' ? name : `${path}.${name}`));
  }
  return wanted === recorded ? [] : [difference(wanted, recorded, path)];
}

function difference(wanted: unknown, recorded: unknown, path: string): string {
  const field = mention(path);
  if (wanted === undefined) return `${field}, which only the recording has`;
  if (recorded === undefined) return `${field}, which only the request has`;
  if (path === 'model') return `${field}: ${mention(String(wanted))} instead of ${mention(String(recorded))}`;
  if (typeof wanted === 'string' && typeof recorded === 'string') {
    let same = 0;
    while (same < wanted.length && wanted[same] === recorded[same]) same += 1;
    return `${field}, from character ${same + 1} on`;
  }
  const isShown = [wanted, recorded].every((value) => typeof value === 'number' || typeof value === 'boolean');
  return isShown ? `${field}: ${wanted} instead of ${recorded}` : field;
}

const MOST_NAMED = 3;

/** A key may span two pieces, so a reply that needs redaction is stored as one piece. */
function withoutKeys(pieces: ReplyPiece[]): ReplyPiece[] {
  const { content, toolCalls } = joinPieces(pieces);
  const safe = redacted({ content, toolCalls });
  if (JSON.stringify(safe) === JSON.stringify({ content, toolCalls })) return pieces;
  return [safe.content, ...(toolCalls.length === 0 ? [] : [asPiece(safe.toolCalls)])];
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

const answerSchema = z.object({
  pieces: z.array(z.union([z.string(), z.object({ tool_calls: z.array(toolCallPieceSchema) })])),
  finishReason: z.string(),
  usage: z.optional(z.object({ prompt_tokens: z.number(), completion_tokens: z.number() })),
});
type Answer = z.infer<typeof answerSchema>;
const cassetteSchema = z.object({
  request: z.record(z.string(), z.unknown()),
  answers: z.array(answerSchema).check(z.minLength(1)),
});
