/** The tables to measure, with their rows (contestants) and columns (items). */

const PEERS = ['stripe', 'ky', 'groq-sdk', 'openai', 'ai'];
const STREAMERS = ['groq-sdk', 'openai', 'ai'];

/** Labels of contestants in the tables, if not the name of their file. */
export const LABELS = {
  'by-hand': 'undici by hand',
  'by-hand-checked': 'the same, checked with zod',
  bare: 'bare undici, bytes only',
  'global-fetch': 'global fetch by hand',
  'context-gateway-fetch': 'context-gateway, fetch',
  ai: 'AI SDK',
};

/** `units` divides the time of one call. The other rows are compared with the first one. */
export const TABLES = [
  {
    title: 'A plain completion, everything checked',
    unit: 'call',
    contestants: ['by-hand', 'by-hand-checked', 'context-gateway', ...PEERS],
    items: ['1', '100'].flatMap((size) =>
      [1, 16, 128].map((inFlight) => ({
        name: `plain-${size}k-${inFlight}`,
        column: `${size} KB, ${inFlight} in flight`,
        method: 'plain',
        model: `json-${size}000`,
        inFlight,
      })),
    ),
  },
  {
    title: 'A streamed completion, every chunk checked, 200 events a segment',
    unit: 'event',
    contestants: ['by-hand', 'context-gateway', ...STREAMERS],
    items: [
      stream('streams-many-1', 'chunks differ in their content, 1 stream', 'stream-10000-200', 1, 10_000),
      stream('streams-varied-1', 'every chunk different, 1 stream', 'varied-10000-200', 1, 10_000),
      stream('streams-many-16', 'differ in content, 16 streams', 'stream-2000-200', 16, 2_000),
      stream('streams-varied-16', 'every chunk different, 16 streams', 'varied-2000-200', 16, 2_000),
      stream('streams-many-1000', 'differ in content, 1,000 streams of 100 events', 'stream-100-200', 1000, 100),
    ],
  },
  {
    title: 'A streamed completion, every chunk checked, one event a segment, 25 µs apart',
    unit: 'event',
    contestants: ['by-hand', 'bare', 'context-gateway', ...STREAMERS],
    items: [
      // Turns are four times as long, because the client waits most of the time.
      { ...stream('streams-paced-1', '1 stream', 'paced-1000', 1, 1_000), longer: 4 },
      { ...stream('streams-paced-16', '16 streams', 'paced-100', 16, 100), longer: 4 },
      stream('streams-paced-1000', '1,000 streams of 10 events', 'paced-10', 1000, 10),
    ],
  },
  {
    title: 'A stream to its first chunk',
    unit: 'call',
    contestants: ['by-hand', 'context-gateway', ...STREAMERS],
    items: [{ name: 'first', column: 'one at a time', method: 'first', model: 'first', inFlight: 1 }],
  },
  {
    title: 'Through fetch, where undici is not available',
    unit: 'call',
    contestants: ['global-fetch', 'context-gateway-fetch'],
    items: [{ name: 'fetch', column: '1 KB, 16 in flight', method: 'plain', model: 'json-1000', inFlight: 16 }],
  },
];

function stream(name, column, model, inFlight, units) {
  return { name, column, method: 'stream', model, inFlight, units };
}
