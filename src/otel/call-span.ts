import {
  type Attributes,
  context,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import type { ClientEvent } from '../index.js';
import { ATTRIBUTE, operationOf, PROVIDER, seconds } from './names.js';

type EventOf<Type> = Extract<ClientEvent, { type: Type }>;

/** The span of one call, from its start to its last byte, with attempts and waits as events. */
export class CallSpan {
  readonly #span: Span;
  readonly #isRecording: boolean;
  /** When the last request was sent, in ms since 1970. */
  #sentAt = 0;

  /** Called synchronously within the call, so the active span is the parent. */
  constructor(tracer: Tracer, { method, path, model, streamed, temperature, maxTokens, outputType }: EventOf<'start'>) {
    const operation = operationOf(path);
    const attributes: Attributes = { [ATTRIBUTE.httpMethod]: method, [ATTRIBUTE.urlTemplate]: path };
    if (operation !== undefined) {
      attributes[ATTRIBUTE.operation] = operation;
      attributes[ATTRIBUTE.provider] = PROVIDER;
      if (model !== undefined) attributes[ATTRIBUTE.requestModel] = model;
      if (streamed) attributes[ATTRIBUTE.requestStream] = true;
      if (temperature !== undefined) attributes[ATTRIBUTE.requestTemperature] = temperature;
      if (maxTokens !== undefined) attributes[ATTRIBUTE.requestMaxTokens] = maxTokens;
      if (outputType !== undefined) attributes[ATTRIBUTE.outputType] = outputType;
    }
    const name = operation === undefined ? `${method} ${path}` : [operation, model].filter(Boolean).join(' ');
    this.#span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context.active());
    this.#isRecording = this.#span.isRecording();
  }

  take(event: ClientEvent): void {
    if (event.type === 'request') this.#propagate(event);
    if (!this.#isRecording) return;
    if (event.type === 'done') this.#end(event);
    else if (event.type !== 'start') this.#span.addEvent(event.type, attributesOf(event));
  }

  /**
   * Sets the W3C Trace Context headers, even if the span is not recorded, so that the service's spans belong to the
   * same trace. A caller's own `traceparent` and `tracestate` are kept.
   */
  #propagate({ setHeader }: EventOf<'request'>): void {
    this.#sentAt = Date.now();
    const spanContext = this.#span.spanContext();
    if (!isSpanContextValid(spanContext)) return;
    const { traceId, spanId, traceFlags, traceState } = spanContext;
    const isOurs = setHeader('traceparent', `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`);
    const state = traceState?.serialize();
    if (isOurs && state) setHeader('tracestate', state);
  }

  #end(done: EventOf<'done'>): void {
    const span = this.#span;
    if (done.timeToFirstChunk !== undefined) span.addEvent('first_chunk', {}, this.#sentAt + done.timeToFirstChunk);
    span.setAttributes(endAttributesOf(done));
    if (done.outcome === 'error') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
}

/** Prefers the status, which is more specific than the error's name. Leaving a stream and aborting are not errors. */
export function errorTypeOf({ outcome, error, status }: EventOf<'done'>): string | undefined {
  if (outcome !== 'error') return undefined;
  return status !== undefined && status >= 400 ? String(status) : error;
}

function endAttributesOf(done: EventOf<'done'>): Attributes {
  const { outcome, status, attempts, queued, timeToFirstChunk, largestGap, requestId } = done;
  const { responseModel, responseId, finishReasons, usage, usageEstimated } = done;
  const attributes: Attributes = { [ATTRIBUTE.outcome]: outcome };
  const set = (name: string, value: string | number | string[] | undefined): void => {
    if (value !== undefined) attributes[name] = value;
  };
  set(ATTRIBUTE.httpStatus, status);
  if (attempts > 1) set(ATTRIBUTE.httpResends, attempts - 1);
  set(ATTRIBUTE.errorType, errorTypeOf(done));
  set(ATTRIBUTE.requestId, requestId);
  if (queued > 0) set(ATTRIBUTE.queued, seconds(queued));
  if (timeToFirstChunk !== undefined) set(ATTRIBUTE.timeToFirstChunk, seconds(timeToFirstChunk));
  if (largestGap !== undefined) set(ATTRIBUTE.largestGap, seconds(largestGap));
  set(ATTRIBUTE.responseModel, responseModel);
  set(ATTRIBUTE.responseId, responseId);
  if (finishReasons.length > 0) set(ATTRIBUTE.finishReasons, [...finishReasons]);
  set(ATTRIBUTE.inputTokens, usage?.prompt_tokens);
  set(ATTRIBUTE.outputTokens, usage?.completion_tokens);
  if (usageEstimated) attributes[ATTRIBUTE.usageEstimated] = true;
  return attributes;
}

/** The attributes of one event. They contain no text, keys or ids. */
function attributesOf(event: Exclude<ClientEvent, EventOf<'start' | 'done'>>): Attributes {
  switch (event.type) {
    case 'request':
      return { [ATTRIBUTE.attempt]: event.attempt };
    case 'response':
      return { [ATTRIBUTE.attempt]: event.attempt, [ATTRIBUTE.httpStatus]: event.status };
    case 'queued':
      return { [ATTRIBUTE.bucket]: event.bucket };
    case 'dequeued':
      return { [ATTRIBUTE.bucket]: event.bucket, [ATTRIBUTE.wait]: seconds(event.waited) };
    case 'retry':
      return {
        [ATTRIBUTE.attempt]: event.attempt,
        [ATTRIBUTE.reason]: String(event.reason),
        [ATTRIBUTE.wait]: seconds(event.wait),
      };
    case 'failure':
      return {
        [ATTRIBUTE.attempt]: event.attempt,
        [ATTRIBUTE.reason]: String(event.reason),
        [ATTRIBUTE.stop]: event.stop,
      };
    case 'validation':
      return { [ATTRIBUTE.issues]: event.issues.length };
    case 'skipped':
    case 'more':
      return {};
  }
}
