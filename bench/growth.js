/** Measures whether a call or an event costs more when there are many. All sizes alternate in the same rounds. */
import { compare, median, spread } from './measure.js';

const IN_FLIGHT = [1, 10, 100, 1000];
const EVENTS = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

/** CPU µs per call: `{ 'by-hand': samples of each size, … }`. */
export async function growthOfCalls(clients, contestants, effort) {
  const entries = contestants.flatMap((contestant) =>
    IN_FLIGHT.map((inFlight) => ({ contestant, method: 'plain', model: 'json-1000', inFlight })),
  );
  const rows = await compare(clients, entries, effort);
  return { sizes: IN_FLIGHT, samples: bySize(contestants, IN_FLIGHT, rows) };
}

/** CPU µs per event: a call with n events minus a call with one event in the same round, divided by n - 1. */
export async function growthOfEvents(clients, contestants, effort, most) {
  const events = EVENTS.filter((size) => size <= most);
  const sizes = [1, ...events];
  const entries = contestants.flatMap((contestant) =>
    // With few events, their cost is a small part of the call: use longer turns, and calls in flight that do not wait.
    sizes.map((size) => ({
      contestant,
      method: 'stream',
      model: `stream-${size}-100`,
      inFlight: size > 1_000 ? 1 : 16,
      longer: size > 100 ? 1 : 4,
    })),
  );
  const samples = bySize(contestants, sizes, await compare(clients, entries, effort));
  for (const contestant of contestants) {
    const [single, ...others] = samples[contestant];
    samples[contestant] = others.map((calls, at) =>
      calls.map((cpu, round) => (cpu - single[round]) / (events[at] - 1)),
    );
  }
  return { sizes: events, samples };
}

/** A size whose spread exceeds this share of its median is too uncertain to show growth. */
const CERTAIN = 0.2;

/** The highest cost of a size relative to the cheapest smaller size, without uncertain sizes. 1 means no growth. */
export function growth(samplesOfSizes) {
  const certain = samplesOfSizes.filter((size) => spread(size) <= CERTAIN * median(size));
  if (certain.length < 2) return { figure: Number.NaN, rounds: [Number.NaN] };
  const rounds = certain[0].map((_, round) => growthOf(certain.map((size) => size[round])));
  return { figure: growthOf(certain.map(median)), rounds };
}

function growthOf(costs) {
  let most = 1;
  costs.forEach((cost, at) => {
    if (at > 0) most = Math.max(most, cost / Math.min(...costs.slice(0, at)));
  });
  return most;
}

function bySize(contestants, sizes, rows) {
  const of = (at) => rows.slice(at * sizes.length, (at + 1) * sizes.length).map(({ cpu }) => cpu);
  return Object.fromEntries(contestants.map((contestant, at) => [contestant, of(at)]));
}
