import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import { type ClientEvent, ConfigurationError } from '../index.js';
import { CallMetrics } from './call-metrics.js';
import { CallSpan } from './call-span.js';

/** A client of this package, as far as it is observed. */
export interface Observable {
  subscribe(listener: (event: ClientEvent) => void): () => void;
}

/** Where spans and metrics go. */
export interface ObserveOptions {
  /** @default the one that is registered with `trace.setGlobalTracerProvider` */
  tracerProvider?: TracerProvider | undefined;
  /** @default the one that is registered with `metrics.setGlobalMeterProvider` */
  meterProvider?: MeterProvider | undefined;
}

const SCOPE = 'context-gateway';

/**
 * Writes a span and metrics of every later call of this client, and of those that share its connections, and sends `traceparent`
 * to the service. Prompts, answers, keys and ids are in none of it. Gives a function that ends it.
 *
 * @throws {ConfigurationError} when it is given no client
 */
export function observe(client: Observable, options: ObserveOptions = {}): () => void {
  // Read as it comes from users: it may be anything.
  if (typeof (client as Partial<Observable> | undefined)?.subscribe !== 'function')
    throw new ConfigurationError('observe takes a client: observe(new GatewayClient()).');
  const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
  // Made with the first call: unlike tracers, meters that are made before an SDK is registered never reach it.
  let counted: CallMetrics | undefined;
  const count = (event: ClientEvent): void => {
    counted ??= new CallMetrics((options.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE));
    counted.take(event);
  };
  const open = new Map<number, CallSpan>();
  return client.subscribe((event) => {
    const { call, type } = event;
    if (type === 'start') open.set(call, new CallSpan(tracer, event));
    open.get(call)?.take(event);
    if (type === 'done') open.delete(call);
    count(event);
  });
}
