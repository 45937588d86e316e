/** The tables to measure, with their rows (contestants) and columns (items). */

/** Labels of contestants in the tables, if not the name of their file. */
export const LABELS = { 'by-hand': 'undici by hand' };

/** `units` divides the time of one call. The other rows are compared with the first one. */
export const TABLES = [
  {
    title: 'A plain completion, everything checked',
    unit: 'call',
    contestants: ['by-hand', 'context-gateway', 'stripe', 'ky', 'groq-sdk', 'openai'],
    items: [1, 16].map((inFlight) => ({
      name: `plain-1k-${inFlight}`,
      column: `1 KB, ${inFlight} in flight`,
      method: 'plain',
      model: 'json-1000',
      inFlight,
    })),
  },
  {
    title: 'A streamed completion, every chunk checked, 200 events a segment',
    unit: 'event',
    contestants: ['by-hand', 'context-gateway', 'groq-sdk', 'openai'],
    items: [
      stream('streams-many-1', 'chunks differ in their content', 'stream-10000-200'),
      stream('streams-varied-1', 'every chunk different', 'varied-10000-200'),
    ],
  },
  {
    title: 'A stream to its first chunk',
    unit: 'call',
    contestants: ['by-hand', 'context-gateway', 'groq-sdk', 'openai'],
    items: [{ name: 'first', column: 'one at a time', method: 'first', model: 'first', inFlight: 1 }],
  },
];

function stream(name, column, model) {
  return { name, column, method: 'stream', model, inFlight: 1, units: 10_000 };
}
