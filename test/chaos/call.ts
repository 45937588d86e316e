/** One call of the chaos run: makes the request, and checks the result. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  APIConnectionError,
  APIError,
  type ChatMessage,
  ContextGatewayError,
  type GatewayClient,
  type RequestOptions,
  toEventStream,
} from 'context-gateway';
import { type Kind, PROMPT, piecesOf } from './plan.js';

/** How a call ended. */
export interface Done {
  readonly end: string;
  readonly attempts: readonly (number | string)[];
  readonly problem?: string | undefined;
}

/** Makes one call and checks its result. `fate` decides what the caller does meanwhile. */
export async function perform(
  client: GatewayClient,
  kind: Kind,
  operation: string,
  options: RequestOptions,
  fate: number,
): Promise<Done> {
  const params = { model: 'm', messages: [{ role: 'user' as const, content: `${operation} ${PROMPT}` }] };
  if (kind === 'stream') return readStream(client, params, operation, options, fate);
  const { data, response } = await start(client, kind, operation, params, options, fate).withResponse();
  const { id, choices } = data as { id?: string; choices?: { message: { content: string } }[] };
  const right = id === operation && choices?.[0]?.message.content === piecesOf(operation).join('');
  return {
    end: 'success',
    attempts: outline(response.attempts),
    problem: right ? undefined : 'answer of another call',
  };
}

function start(
  client: GatewayClient,
  kind: Kind,
  operation: string,
  params: Parameters<GatewayClient['chat']['completions']['create']>[0],
  options: RequestOptions,
  fate: number,
) {
  if (kind === 'safe') return client.request({ method: 'GET', path: '/v1/things', query: { operation } }, options);
  if (kind === 'idempotent')
    return client.request({ method: 'DELETE', path: '/v1/things', query: { operation } }, options);
  if (kind === 'upload') {
    const size = 1_024 + Math.floor(fate * 200_000);
    const file = new Blob([operation, PROMPT, new Uint8Array(size)]);
    return client.files.upload({ file, purpose: operation }, options);
  }
  if (fate < 0.5)
    return client.integrations.execute('chat', { action: 'post', text: `${operation} ${PROMPT}` }, options);
  return client.chat.completions.create({ ...params, stream: false }, options);
}

async function readStream(
  client: GatewayClient,
  params: { model: string; messages: ChatMessage[] },
  operation: string,
  options: RequestOptions,
  fate: number,
): Promise<Done> {
  const stream = await client.chat.completions.create({ ...params, stream: true }, options);
  const attempts = outline(stream.response.attempts);
  const whole = piecesOf(operation).join('');
  if (fate > 0.05 && fate < 0.055) return { end: 'left', attempts, problem: await relayed(toEventStream(stream)) };
  let text = '';
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    if (fate > 0.05 && fate < 0.08)
      return { end: 'left', attempts, problem: whole.startsWith(text) ? undefined : 'text of another stream' };
    if (fate > 0.08 && fate < 0.09) await sleep(2);
  }
  if (fate > 0.09 && fate < 0.1) {
    const again = await (async () => {
      for await (const _ of stream);
    })().catch((error: Error) => error.name);
    if (again !== 'StreamConsumedError') return { end: 'success', attempts, problem: 'a stream was read twice' };
  }
  return {
    end: 'success',
    attempts,
    problem: text === whole ? undefined : 'a stream ended well that was not complete',
  };
}

/** Checks that a relayed stream has all events, or an error event at its end. */
async function relayed(body: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const text = await new Response(body).text();
  return text.endsWith('data: [DONE]\n\n') || text.includes('event: error')
    ? undefined
    : 'a relayed stream without an end';
}

/** The fields of an error, and what is wrong with it, if anything. */
export function failure(error: unknown, operation: string): Done & { detail?: string; sent?: string | undefined } {
  if (!(error instanceof ContextGatewayError))
    return { end: 'foreign', attempts: [], problem: `not an error of this package: ${String(error)}` };
  const partial = error.partial?.choices[0]?.message.content ?? '';
  const problem = piecesOf(operation).join('').startsWith(partial)
    ? incomplete(error)
    : 'partial text of another stream';
  const attempts = outline(error.attempts);
  if (error instanceof APIConnectionError) {
    const detail = `${error.phase}${'kind' in error ? ` ${String(error.kind)}` : ''}`;
    return { end: error.name, attempts, problem, sent: error.sent, detail };
  }
  return { end: error.name, attempts, problem, detail: error instanceof APIError ? String(error.status) : '' };
}

/** Checks the fields that every error must have. */
function incomplete(error: ContextGatewayError): string | undefined {
  if (error.message === '' || typeof error.retryable !== 'boolean') return 'an error without message or retryable';
  if (error instanceof APIError && (error.status === undefined || error.area !== 'gateway'))
    return 'an APIError without its facts';
  if (error instanceof APIConnectionError && (!error.phase || !error.sent))
    return 'a connection error without its facts';
  return undefined;
}

function outline(attempts: readonly { status?: number; error?: string }[]): (number | string)[] {
  return attempts.map(({ status, error }) => error ?? status ?? 'none');
}
