/**
 * The CPU time that `observe` adds to a call: `node --expose-gc --import tsx bench/tracing-cost.ts`. Makes plain completions in process, so that only
 * the listeners differ.
 */

import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';
import { type ClientOptions, GatewayClient } from 'context-gateway';
import { observeCalls } from 'context-gateway/otel';

const CALLS = 2_000;
const ROUNDS = 9;
const BASE = { baseURL: 'https://service.test', apiKey: 'svc_sk_bench' };
const COMPLETION = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'atlas-small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Six.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
});
const fetch = async (): Promise<Response> =>
  new Response(COMPLETION, { headers: { 'content-type': 'application/json' } });
const ask = { model: 'atlas-small', messages: [{ role: 'user', content: 'When?' }] };

const CASES: Record<string, ClientOptions['onEvent']> = {
  'not observed': undefined,
  'a listener that does nothing': () => {},
  'observed, no SDK registered': observeCalls(),
  'observed, not sampled': observeCalls(providers(new AlwaysOffSampler())),
  'observed, span recorded, metrics': observeCalls(providers(new AlwaysOnSampler())),
};

function providers(sampler: Sampler) {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new BatchSpanProcessor(exporter, { maxQueueSize: 100_000 })];
  const reader = new PeriodicExportingMetricReader({
    exporter: new InMemoryMetricExporter(AggregationTemporality.DELTA),
    exportIntervalMillis: 3_600_000,
  });
  return {
    tracerProvider: new BasicTracerProvider({ sampler, spanProcessors }),
    meterProvider: new MeterProvider({ readers: [reader] }),
  };
}

async function microsecondsACall(client: GatewayClient): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < CALLS; n += 1) await client.chat.completions.create(ask);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

const clients = Object.entries(CASES).map(([name, onEvent]) => {
  return { name, client: new GatewayClient({ ...BASE, fetch, onEvent }), times: [] as number[] };
});
// The cases alternate in each round, so that other load on the machine affects all of them.
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const { client, times } of clients) {
    globalThis.gc?.();
    const time = await microsecondsACall(client);
    if (round > 0) times.push(time);
  }
}
const median = (times: number[]): number => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
const [bare] = clients.map(({ times }) => median(times));
console.log('| a plain completion, CPU µs | total | added |');
console.log('|---|---|---|');
for (const { name, times } of clients)
  console.log(`| ${name} | ${median(times).toFixed(0)} | ${(median(times) - (bare ?? 0)).toFixed(1)} |`);
process.exit(); // the metric reader keeps a timer
