import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import { context, isSpanContextValid, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ClientEvent } from '../index.js';
import { known, operationOf, SCOPE, seconds } from './names.js';

type EventOf<Type> = Extract<ClientEvent, { type: Type }>;

/** The span of one call, from its start to its last byte, with attempts and waits as events. */
export class CallSpan {
  readonly #span: Span;
  /** When the last request was sent, in ms since 1970. */
  #sentAt = 0;

  /** Called synchronously within the call, so the active span is the parent. */
  constructor(tracer: Tracer, { method, path, model, streamed, temperature, maxTokens, outputType }: EventOf<'start'>) {
    const operation = operationOf(path);
    const asked = operation && {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': SCOPE,
      'gen_ai.request.model': model,
      'gen_ai.request.stream': streamed || undefined,
      'gen_ai.request.temperature': temperature,
      'gen_ai.request.max_tokens': maxTokens,
      'gen_ai.output.type': outputType,
    };
    const attributes = known({ 'http.request.method': method, 'url.template': path, ...asked });
    const name = operation === undefined ? `${method} ${path}` : [operation, model].filter(Boolean).join(' ');
    this.#span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context.active());
  }

  take(event: ClientEvent): void {
    if (event.type === 'request') this.#propagate(event);
    if (!this.#span.isRecording()) return;
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
  const { status, attempts, queued, timeToFirstChunk, largestGap, finishReasons, usage } = done;
  return known({
    'context_gateway.outcome': done.outcome,
    'http.response.status_code': status,
    'http.request.resend_count': attempts > 1 ? attempts - 1 : undefined,
    'error.type': errorTypeOf(done),
    'context_gateway.request_id': done.requestId,
    'context_gateway.queue_time': queued > 0 ? seconds(queued) : undefined,
    'gen_ai.response.time_to_first_chunk': timeToFirstChunk && seconds(timeToFirstChunk),
    'context_gateway.largest_gap': largestGap && seconds(largestGap),
    'gen_ai.response.model': done.responseModel,
    'gen_ai.response.id': done.responseId,
    'gen_ai.response.finish_reasons': finishReasons.length > 0 ? [...finishReasons] : undefined,
    'gen_ai.usage.input_tokens': usage?.prompt_tokens,
    'gen_ai.usage.output_tokens': usage?.completion_tokens,
    'context_gateway.usage_estimated': done.usageEstimated || undefined,
  });
}

/** The attributes of one event. They contain no text, keys or ids. */
function attributesOf(event: Exclude<ClientEvent, EventOf<'start' | 'done'>>): Attributes {
  // The cast is true: each event has some of these fields.
  const { attempt, status, bucket, waited, wait = waited, reason, stop, issues } = event as EventFields;
  return known({
    'context_gateway.attempt': attempt,
    'http.response.status_code': status,
    'context_gateway.rate_limit.bucket': bucket,
    'context_gateway.wait': wait && seconds(wait),
    'context_gateway.reason': reason === undefined ? undefined : String(reason),
    'context_gateway.stop_reason': stop,
    'context_gateway.issues': issues?.length,
  });
}

type EventFields = Partial<
  Record<'attempt' | 'status' | 'waited' | 'wait', number> &
    Record<'bucket' | 'stop', string> & { reason: number | string; issues: readonly unknown[] }
>;
