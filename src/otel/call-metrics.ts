import type { Attributes, Counter, Histogram, Meter } from '@opentelemetry/api';
import type { ClientEvent } from '../index.js';
import { errorTypeOf } from './call-span.js';
import { ATTRIBUTE, operationOf, PROVIDER, seconds } from './names.js';

/** The bucket boundaries of the conventions. */
const DURATIONS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

/** The metrics of all calls. */
export class CallMetrics {
  readonly #operation: Histogram;
  readonly #firstChunk: Histogram;
  readonly #tokens: Histogram;
  readonly #call: Histogram;
  readonly #queue: Histogram;
  readonly #retries: Counter;

  constructor(meter: Meter) {
    const times = (name: string, description: string): Histogram =>
      meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: DURATIONS } });
    this.#operation = times('gen_ai.client.operation.duration', 'Duration of a call to a model.');
    this.#firstChunk = times(
      'gen_ai.client.operation.time_to_first_chunk',
      'From the last request of a streamed call to its first chunk.',
    );
    this.#tokens = meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Tokens, as counted by the service.',
      unit: '{token}',
      advice: { explicitBucketBoundaries: TOKENS },
    });
    this.#call = times('context_gateway.client.call.duration', 'Duration of a call, including waits and all attempts.');
    this.#queue = times('context_gateway.client.queue.duration', 'Time that a call waited for the rate limit.');
    this.#retries = meter.createCounter('context_gateway.client.retries', {
      description: 'Attempts after the first one.',
      unit: '{retry}',
    });
  }

  take(event: ClientEvent): void {
    if (event.type === 'done') this.#done(event);
    else if (event.type === 'dequeued') this.#queue.record(seconds(event.waited), { [ATTRIBUTE.bucket]: event.bucket });
    else if (event.type === 'retry')
      this.#retries.add(1, { [ATTRIBUTE.urlTemplate]: event.path, [ATTRIBUTE.reason]: String(event.reason) });
  }

  #done(done: Extract<ClientEvent, { type: 'done' }>): void {
    const { method, path, status, duration, timeToFirstChunk, usage, usageEstimated } = done;
    const error: Attributes = {};
    const errorType = errorTypeOf(done);
    if (errorType !== undefined) error[ATTRIBUTE.errorType] = errorType;
    const call: Attributes = { ...error, [ATTRIBUTE.httpMethod]: method, [ATTRIBUTE.urlTemplate]: path };
    if (status !== undefined) call[ATTRIBUTE.httpStatus] = status;
    this.#call.record(seconds(duration), { ...call, [ATTRIBUTE.outcome]: done.outcome });
    const operation = operationOf(path);
    if (operation === undefined) return;
    const asked: Attributes = { [ATTRIBUTE.operation]: operation, [ATTRIBUTE.provider]: PROVIDER };
    if (done.model !== undefined) asked[ATTRIBUTE.requestModel] = done.model;
    if (done.responseModel !== undefined) asked[ATTRIBUTE.responseModel] = done.responseModel;
    this.#operation.record(seconds(duration), { ...asked, ...error });
    if (timeToFirstChunk !== undefined) this.#firstChunk.record(seconds(timeToFirstChunk), { ...asked, ...error });
    // Estimates are not recorded.
    if (usage === undefined || usageEstimated) return;
    this.#tokens.record(usage.prompt_tokens, { ...asked, [ATTRIBUTE.tokenType]: 'input' });
    this.#tokens.record(usage.completion_tokens, { ...asked, [ATTRIBUTE.tokenType]: 'output' });
  }
}
