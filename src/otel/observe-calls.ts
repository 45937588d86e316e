import * as api from '@opentelemetry/api';
import { type ClientEvent, ConfigurationError } from '../index.js';
import { isFunction, option, optionsCheck } from '../validation/options.js';
import { callMetrics } from './call-metrics.js';
import { CallSpan } from './call-span.js';
import { SCOPE } from './names.js';

/** Options of `observeCalls`. */
type ObserveOptions = {
  /** @default the global provider, set with `trace.setGlobalTracerProvider` */
  tracerProvider?: api.TracerProvider | undefined;
  /** @default the global provider, set with `metrics.setGlobalMeterProvider` */
  meterProvider?: api.MeterProvider | undefined;
};

/** Of both functions. */
export const providerOption = {
  tracerProvider: /* @__PURE__ */ option((value) => isFunction(Object(value).getTracer), 'must be a TracerProvider'),
};
const check = /* @__PURE__ */ optionsCheck({
  ...providerOption,
  meterProvider: /* @__PURE__ */ option((value) => isFunction(Object(value).getMeter), 'must be a MeterProvider'),
});

/**
 * Returns a listener for `onEvent` of a client, or of several, that records a span and metrics for every call, and sends
 * `traceparent` to the service. Never records prompts, replies, keys, or ids of resources.
 *
 * @throws {ConfigurationError} when `@opentelemetry/api` is too old, or an option is invalid
 *
 * @example
 * ```ts
 * import { GatewayClient } from 'context-gateway';
 * import { observeCalls } from 'context-gateway/otel';
 * const gateway = new GatewayClient({ onEvent: observeCalls() });
 * ```
 */
export function observeCalls(options: ObserveOptions = {}): (event: ClientEvent) => void {
  check(options);
  const { metrics, trace }: Partial<typeof api> = api;
  if (metrics === undefined || trace === undefined)
    throw new ConfigurationError(
      'observeCalls needs @opentelemetry/api from 1.3 to 1.x: npm install @opentelemetry/api@1.',
    );
  const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
  // Created by the first call: unlike tracers, meters created before an SDK is registered never report to it.
  let count: ((event: ClientEvent) => void) | undefined;
  const open = new Map<number, CallSpan>();
  return (event) => {
    const { call, type } = event;
    if (type === 'start') open.set(call, new CallSpan(tracer, event));
    open.get(call)?.take(event);
    if (type === 'done') open.delete(call);
    count ??= callMetrics((options.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE));
    count(event);
  };
}
