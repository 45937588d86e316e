import { type APIPromise, type ChatCompletionStream, GatewayClient, type GatewayClientOptions } from 'context-gateway';
import { expect } from 'vitest';
import type { RequestOptions } from '../../src/index.js';
import type { ManualRuntime } from '../helpers/manual-runtime.js';
import { IDLE, PARAMS, type Report, type Script } from './script.js';

/** Options of a client whose streams have another form. */
export function decoding(decodeChunk: GatewayClientOptions['decodeChunk']): GatewayClientOptions {
  return { decodeChunk };
}

/** A test case that runs wherever there is a `fetch`: on Node with either engine, or in a browser. */
export interface StreamCase {
  /** A fact in the present tense. */
  readonly title: string;
  /** One script per request. The last one repeats. */
  readonly answers: Script | readonly Script[];
  readonly options?: GatewayClientOptions;
  /** The only engine that supports the case. */
  readonly engine?: 'undici' | 'fetch';
  /**
   * Where the case cannot run. `browsers`: it is about Node's HTTP, or needs finer timing than a page has. `firefox`:
   * Firefox reports a response at its first byte, not at its headers. `webkit`: WebKit on Linux sends every POST on a
   * new connection, and treats a closed connection as the end of a chunked body.
   */
  readonly notIn?: 'browsers' | 'firefox' | 'webkit';
  readonly run: (bench: Bench) => Promise<void>;
}

/** A case. `setup` may be only what the server answers. */
export function check(
  title: string,
  setup: Script | Omit<StreamCase, 'title' | 'run'>,
  run: StreamCase['run'],
): StreamCase {
  return { title, run, ...('answers' in setup ? setup : { answers: setup }) };
}

/** What a case works with: a client, a clock and a scripted server. */
export class Bench {
  readonly time: ManualRuntime;
  readonly client: GatewayClient;
  readonly #address: string;

  private constructor(server: string, id: string, options: GatewayClientOptions, time: ManualRuntime) {
    this.#address = `${server}/${id}`;
    this.time = time;
    const usual = { apiKey: 'svc_pk_test', maxRetries: 0, streamIdleTimeout: IDLE };
    this.client = new GatewayClient({ ...usual, ...options, baseURL: this.#address }, undefined, time);
  }

  static async start(
    server: string,
    answers: StreamCase['answers'],
    options: GatewayClientOptions,
    time: ManualRuntime,
  ): Promise<Bench> {
    const body = JSON.stringify([answers].flat());
    const id = await (await fetch(`${server}/scripts`, { method: 'PUT', body })).text();
    return new Bench(server, id, options, time);
  }

  /** Requests the stream. */
  open(options?: RequestOptions): APIPromise<ChatCompletionStream> {
    return this.client.chat.completions.create(PARAMS, options);
  }

  /** Requests the stream and reads it to its end. */
  async read(options?: RequestOptions) {
    const stream = await this.open(options);
    return { stream, ...(await readAll(stream)) };
  }

  /** Lets the server continue after its next wait. */
  async go(): Promise<void> {
    await fetch(`${this.#address}/go`, { method: 'POST' });
  }

  async report(): Promise<Report> {
    return (await fetch(`${this.#address}/report`)).json() as Promise<Report>;
  }

  /** Fires the timers of this delay as soon as one is set, however long the bytes before it take on their way. */
  async timerFires(ms: number): Promise<void> {
    while (!this.time.delays.includes(ms)) await new Promise((resolve) => setTimeout(resolve, 2));
    await this.time.advance(ms);
  }

  /** Waits until no connection that carried the stream is open. If one stays open, the test times out. */
  async connectionsGone(): Promise<void> {
    while ((await this.report()).open > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Reads to the end. Returns the text of the first choice, the chunks, and the error if one was thrown. */
export async function readAll(stream: ChatCompletionStream) {
  const chunks = [];
  let error: unknown;
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch (thrown) {
    error = thrown;
  }
  return { chunks, text: chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), error };
}

/** The reason that a promise rejects with. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

/** The completion after the first event, in an error. */
export const PARTIAL = { partial: { choices: [{ message: { content: 'The ' } }] } };

/** Opens a stream and reads its first event. */
export async function begin(bench: Bench, options?: RequestOptions) {
  const iterator = (await bench.open(options))[Symbol.asyncIterator]();
  await iterator.next();
  return iterator;
}

/** Waits until a stream has delivered this many chunks. */
export async function untilChunks(stream: ChatCompletionStream, count: number): Promise<void> {
  while (stream.metrics.chunks < count) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Expects that a finished stream has left no connection and no timer. */
export async function expectNothingLeft(bench: Bench): Promise<void> {
  await bench.connectionsGone();
  expect(bench.time.pending).toBe(0);
}
