import type { Attributes } from '@opentelemetry/api';

/**
 * The name of the tracer, the meter and the provider. Attributes have the names of OpenTelemetry's semantic conventions, version 1.45.0:
 * `http.*` and `error.type` are stable; `gen_ai.*` and `url.template` are in development. Those that the conventions do not define start
 * with `context_gateway`.
 */
export const SCOPE = 'context-gateway';

/** The operation of a call to a model, as the conventions name it. Other calls are plain HTTP calls. */
export function operationOf(path: string): string | undefined {
  if (path === '/v1/chat/completions') return 'chat';
  return path === '/v1/presets/{presetId}/execute' ? 'generate_content' : undefined;
}

/** The conventions use seconds. */
export function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000_000; // to the microsecond
}

/** Those that have a value. For a metric, `undefined` is one. */
export function known(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
