import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { plain } from './receiver.js';
import { observedWorld } from './world.js';

const messages = [{ role: 'user' as const, content: 'The harbour opens at six. When does the harbour open?' }];

test('the Grafana dashboard asks only for metrics and labels that arrive at a collector', async () => {
  const pacing = { acquire: () => ({ ready: Promise.resolve(), release: () => {} }) }; // every request is queued
  const { receiver, emulator, gateway, flush, close } = await observedWorld({ pacing });
  emulator.faults.add({ respond: { status: 503 } }); // a retry
  await gateway.presets.list();
  await gateway.chat.completions.create({ model: 'atlas-small', messages });
  await (await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true })).finalCompletion();
  await gateway.presets.execute('no-such-preset', { input: 'Hello', model: 'atlas-small' }).catch(() => {});
  await flush();
  await close();

  const received = new Set(
    receiver.metrics.flatMap(({ name, unit, histogram, sum }) => {
      const points = [...(histogram?.dataPoints ?? []), ...(sum?.dataPoints ?? [])];
      const base = `${inPrometheus(name)}${unit === 's' ? '_seconds' : ''}`;
      const series = histogram === undefined ? ['total'] : ['bucket', 'count', 'sum'];
      const labels = points.flatMap(({ attributes }) => Object.keys(plain(attributes)).map(inPrometheus));
      return [...series.map((suffix) => `${base}_${suffix}`), ...labels];
    }),
  );
  const { panels } = JSON.parse(readFileSync('docs/guides/grafana-dashboard.json', 'utf8'));
  const asked = new Set(JSON.stringify(panels).match(/\b(?:gen_ai|context_gateway|error)_\w+/g));

  expect(panels).toHaveLength(7);
  expect([...asked].filter((name) => !received.has(name))).toEqual([]);
});

/** How Prometheus spells a name. */
const inPrometheus = (name: string): string => name.replaceAll('.', '_');
