import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, type Sampler, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { GatewayClient, type RateLimiter } from 'context-gateway';
import { observeCalls } from 'context-gateway/otel';
import { createEmulator, type EmulatorOptions } from 'context-gateway-emulator';
import { startReceiver } from './receiver.js';

/** The emulator, an observed client, the OpenTelemetry SDK and a collector. */
export async function observedWorld({
  sampler,
  pacing = true,
  ...options
}: {
  emulator?: EmulatorOptions;
  sampler?: Sampler;
  pacing?: boolean | RateLimiter;
} = {}) {
  const receiver = await startReceiver();
  const exporter = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` });
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const tracerProvider = new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) });
  const metrics = new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics` });
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const emulator = createEmulator({ seed: 'traces', ...options.emulator });
  const service = await emulator.listen({ port: 0 });
  const onEvent = observeCalls({ tracerProvider, meterProvider });
  const gateway = new GatewayClient({ baseURL: service.url, apiKey: emulator.apiKeys.secret, pacing, onEvent });
  return {
    receiver,
    emulator,
    url: service.url,
    gateway,
    tracerProvider,
    meterProvider,
    onEvent,
    /** Runs inside a span of the program, as framework instrumentations do. */
    inSpan: <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const span = tracerProvider.getTracer('the program').startSpan(name);
      return context.with(trace.setSpan(context.active(), span), work).finally(() => span.end());
    },
    /** Waits until all spans and metrics have reached the collector. */
    flush: async () => {
      await tracerProvider.forceFlush();
      await meterProvider.forceFlush();
    },
    close: async () => {
      await gateway.close();
      await tracerProvider.shutdown();
      await meterProvider.shutdown();
      await emulator.close();
      await receiver.close();
      context.disable();
    },
  };
}
