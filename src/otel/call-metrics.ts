import type { Meter } from '@opentelemetry/api';
import type { ClientEvent } from '../index.js';
import { errorTypeOf } from './call-span.js';
import { known, operationOf, SCOPE, seconds } from './names.js';

/** The bucket boundaries of the conventions. */
const DURATIONS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

/** Returns a listener that records the metrics of all calls. */
export function callMetrics(meter: Meter): (event: ClientEvent) => void {
  const histogram = (name: string, description: string, unit = 's', explicitBucketBoundaries = DURATIONS) =>
    meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries } });
  const operations = histogram('gen_ai.client.operation.duration', 'Duration of a call to a model.');
  const firstChunks = histogram(
    'gen_ai.client.operation.time_to_first_chunk',
    'From the last request of a streamed call to its first chunk.',
  );
  const tokens = histogram('gen_ai.client.token.usage', 'Tokens, as counted by the service.', '{token}', TOKENS);
  const calls = histogram(
    'context_gateway.client.call.duration',
    'Duration of a call, including waits and all attempts.',
  );
  const queues = histogram('context_gateway.client.queue.duration', 'Time that a call waited for the rate limit.');
  const retries = meter.createCounter('context_gateway.client.retries', {
    description: 'Attempts after the first one.',
    unit: '{retry}',
  });

  const end = (done: Extract<ClientEvent, { type: 'done' }>): void => {
    const { method, path, status, duration, timeToFirstChunk, usage, usageEstimated, model, responseModel } = done;
    const error = { 'error.type': errorTypeOf(done) };
    const call = { 'http.request.method': method, 'url.template': path, 'http.response.status_code': status };
    calls.record(seconds(duration), known({ ...error, ...call, 'context_gateway.outcome': done.outcome }));
    const operation = operationOf(path);
    if (operation === undefined) return;
    const models = { 'gen_ai.request.model': model, 'gen_ai.response.model': responseModel };
    const asked = known({ 'gen_ai.operation.name': operation, 'gen_ai.provider.name': SCOPE, ...models });
    const ended = known({ ...asked, ...error });
    operations.record(seconds(duration), ended);
    if (timeToFirstChunk !== undefined) firstChunks.record(seconds(timeToFirstChunk), ended);
    // Estimates are not recorded.
    if (usage === undefined || usageEstimated) return;
    tokens.record(usage.prompt_tokens, { ...asked, 'gen_ai.token.type': 'input' });
    tokens.record(usage.completion_tokens, { ...asked, 'gen_ai.token.type': 'output' });
  };

  return (event) => {
    if (event.type === 'done') end(event);
    else if (event.type === 'dequeued')
      queues.record(seconds(event.waited), { 'context_gateway.rate_limit.bucket': event.bucket });
    else if (event.type === 'retry')
      retries.add(1, { 'url.template': event.path, 'context_gateway.reason': String(event.reason) });
  };
}
