import * as api from '@opentelemetry/api';
import { type ClientEvent, ConfigurationError } from '../index.js';
import { CallMetrics } from './call-metrics.js';
import { CallSpan } from './call-span.js';

/** A client that can be observed: a `GatewayClient` or a `ContextClient`. */
export interface Observable {
  subscribe(listener: (event: ClientEvent) => void): () => void;
}

/** Options of `observe`. */
export interface ObserveOptions {
  /** @default the global provider, set with `trace.setGlobalTracerProvider` */
  tracerProvider?: api.TracerProvider | undefined;
  /** @default the global provider, set with `metrics.setGlobalMeterProvider` */
  meterProvider?: api.MeterProvider | undefined;
}

/** The name of the tracer and the meter. */
export const SCOPE = 'context-gateway';

/**
 * Records a span and metrics for every later call of this client, and of the clients that share its connections. Sends
 * `traceparent` to the service. Never records prompts, replies, keys, or ids of resources. Returns a function that stops recording.
 *
 * @throws {ConfigurationError} when `client` is not a client, or `@opentelemetry/api` is too old
 *
 * @example
 * ```ts
 * const gateway = new GatewayClient();
 * const stop = observe(gateway);
 * ```
 */
export function observe(client: Observable, options: ObserveOptions = {}): () => void {
  // Users may pass anything.
  if (typeof (client as Partial<Observable> | undefined)?.subscribe !== 'function')
    throw new ConfigurationError('observe takes a client: observe(new GatewayClient()).');
  const { metrics, trace }: Partial<typeof api> = api;
  if (metrics === undefined || trace === undefined)
    throw new ConfigurationError('observe needs @opentelemetry/api from 1.3 to 1.x: npm install @opentelemetry/api@1.');
  const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
  // Created by the first call: unlike tracers, meters created before an SDK is registered never report to it.
  let counted: CallMetrics | undefined;
  const count = (event: ClientEvent): void => {
    counted ??= new CallMetrics((options.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE));
    counted.take(event);
  };
  const open = new Map<number, CallSpan>();
  return client.subscribe((event) => {
    const { call, type } = event;
    if (type === 'start' && isFirst(event, options)) open.set(call, new CallSpan(tracer, event));
    const span = open.get(call);
    if (span === undefined) return; // observed already
    span.take(event);
    if (type === 'done') open.delete(call);
    count(event);
  });
}

/** The providers that have recorded the start of a call. */
const recorded = new WeakMap<ClientEvent, Set<unknown>>();

/** Whether no other `observe` has recorded a call. Libraries, and modules that are loaded again, may observe a client twice. */
function isFirst(start: ClientEvent, { tracerProvider }: ObserveOptions): boolean {
  const providers = recorded.get(start) ?? new Set();
  recorded.set(start, providers);
  const isNew = !providers.has(tracerProvider);
  providers.add(tracerProvider);
  return isNew;
}
