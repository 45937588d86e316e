/** Prints a trace as a tree: `npx tsx scripts/trace.ts`. Its call waits for the rate limit, gets a 503, is retried and streams. */
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { GatewayClient } from 'context-gateway';
import { observeCalls } from 'context-gateway/otel';
import { createEmulator } from 'context-gateway-emulator';

const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

const emulator = createEmulator({
  limits: { gateway: { requests: 1, windowMs: 1_000 } },
  pace: { ttft: 120, tokensPerSecond: 40 },
});
const { url } = await emulator.listen({ port: 0 });
const onEvent = observeCalls({ tracerProvider });
const gateway = new GatewayClient({ baseURL: url, apiKey: emulator.apiKeys.secret, onEvent });
emulator.faults.add({ match: { path: '/v1/chat/completions' }, respond: { status: 503 } });

const root = tracerProvider.getTracer('the program').startSpan('answer a question');
await context.with(trace.setSpan(context.active(), root), async () => {
  await gateway.presets.list();
  const messages = [{ role: 'user' as const, content: 'The harbour opens at six. When does the harbour open?' }];
  for await (const _ of await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true }));
});
root.end();
print(exporter.getFinishedSpans());
await gateway.close();
await emulator.close();

function print(spans: readonly ReadableSpan[]): void {
  const [first, ...others] = [...spans].sort((a, b) => ms(a.startTime) - ms(b.startTime));
  if (first === undefined) return;
  const since = ms(first.startTime);
  console.log(heading(first, since));
  for (const [n, span] of others.entries()) {
    const isLast = n === others.length - 1;
    console.log(`${isLast ? '└─' : '├─'} ${heading(span, since)}`);
    const bar = isLast ? '  ' : '│ ';
    for (const line of details(span)) console.log(`${bar}    ${line}`);
    const events = [...span.events].sort((a, b) => ms(a.time) - ms(b.time));
    for (const { name, time, attributes = {} } of events) {
      const facts = Object.entries(attributes).map(([key, value]) => `${key.replace('context_gateway.', '')}=${value}`);
      console.log(`${bar}  • ${at(ms(time) - since)}  ${[name.padEnd(11), ...facts].join(' ').trimEnd()}`);
    }
  }
}

function heading(span: ReadableSpan, since: number): string {
  const took = ms(span.endTime) - ms(span.startTime);
  return `${span.name}  from ${at(ms(span.startTime) - since).trim()}, ${took.toFixed(0)} ms`;
}

function details({ attributes }: ReadableSpan): string[] {
  return Object.entries(attributes)
    .filter(([key]) => !/request_id|http.request.method|url.template/.test(key))
    .map(([key, value]) => `${key} = ${Array.isArray(value) ? value.join(', ') : value}`);
}

function ms([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1_000 + nanoseconds / 1e6;
}

function at(time: number): string {
  return `${time.toFixed(0)} ms`.padStart(8);
}
