import { once } from 'node:events';
import { createServer } from 'node:http';

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
}
type Attributes = readonly { readonly key: string; readonly value: Value }[];

/** A span in OTLP's JSON format. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string }[];
  readonly status: { readonly code: number };
}

interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: { readonly dataPoints: readonly Point[] };
  readonly sum?: { readonly dataPoints: readonly Point[] };
}
type Point = { readonly attributes: Attributes };

/** A collector that records what exporters send over HTTP as JSON. */
export async function startReceiver() {
  const spans: ReceivedSpan[] = [];
  const metrics: ReceivedMetric[] = [];
  const services = new Set<unknown>();
  let text = '';
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    text += body;
    const sent = JSON.parse(body);
    for (const { resource } of [...(sent.resourceSpans ?? []), ...(sent.resourceMetrics ?? [])])
      services.add(plain(resource.attributes)['service.name']);
    for (const { scopeSpans } of sent.resourceSpans ?? []) for (const scope of scopeSpans) spans.push(...scope.spans);
    for (const { scopeMetrics } of sent.resourceMetrics ?? [])
      for (const scope of scopeMetrics) metrics.push(...scope.metrics);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number }; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    /** The names of the programs that sent. */
    services,
    /** The raw bodies of all requests. */
    text: () => text,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export function plain(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value: Value): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plainValue);
  return value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue;
}
