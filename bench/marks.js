/** The performance targets of this package, checked against the figures of the same run. */
import { growth } from './growth.js';
import { median } from './measure.js';

const US = 'context-gateway';
const NODE_20 = process.versions.node.startsWith('20.');

/** `item` must have been measured. `of` returns one figure per round. */
const MARKS = [
  cheaper(
    'plain-1k-16',
    'plain, 1 KB, 16 in flight: undici by hand with zod ÷ ours',
    'by-hand-checked',
    NODE_20 ? 1.05 : 0.95,
  ),
  cheaper('plain-1k-16', 'plain, 1 KB, 16 in flight: undici by hand ÷ ours', 'by-hand', NODE_20 ? 0.95 : 0.9),
  cheaper('plain-1k-16', 'plain, 1 KB, 16 in flight: openai ÷ ours', 'openai', 8),
  cheaper('plain-1k-16', 'plain, 1 KB, 16 in flight: stripe ÷ ours', 'stripe', 4),
  cheaper('plain-1k-1', 'plain, 1 KB, 1 in flight: undici by hand ÷ ours', 'by-hand', 0.9),
  cheaper('plain-1k-1', 'plain, 1 KB, 1 in flight: openai ÷ ours', 'openai', 3),
  cheaper('plain-100k-1', 'plain, 100 KB, 1 in flight: undici by hand ÷ ours', 'by-hand', 0.95),
  cheaper('plain-100k-1', 'plain, 100 KB, 1 in flight: openai ÷ ours', 'openai', 2),
  cheaper('plain-100k-16', 'plain, 100 KB, 16 in flight: undici by hand ÷ ours', 'by-hand', 0.95),
  cheaper('plain-100k-16', 'plain, 100 KB, 16 in flight: openai ÷ ours', 'openai', 2),
  cheaper('streams-varied-1', 'events, every chunk different: undici by hand ÷ ours', 'by-hand', 0.95),
  cheaper('streams-many-1', 'events, chunks differ in their content: openai ÷ ours', 'openai', 10),
  atMost('streams-paced-1', 'one event a segment, 1 stream: ours - bare undici, µs', 1.5, (rows) => over(rows, 'bare')),
  atMost('first', 'first chunk: ours - undici by hand, CPU µs', 20, (rows) => over(rows, 'by-hand')),
  cheaper(
    'fetch',
    'plain through fetch, 16 in flight: global fetch by hand ÷ ours',
    'global-fetch',
    0.85,
    `${US}-fetch`,
  ),
  atMost(
    'growth-calls',
    'growth of a call, 1 to 1,000 in flight: most expensive ÷ cheapest at a smaller number (certain figures only)',
    1.2,
    grows,
  ),
  atMost(
    'growth-events',
    'growth of an event, 10 or more: most expensive ÷ cheapest at a smaller number (certain figures only)',
    1.2,
    grows,
  ),
  atMost('cold', 'cold import: ms over an empty process', 20, (rows) => rows[US].imported),
  atMost('cold', 'cold import and first send: ms over an empty process', 70, (rows) => rows[US].answered),
  atMost('slow', 'slow reader: MB read ahead from the server, ours - bare undici', 1, (rows) => ahead(rows)),
  atMost('slow', 'slow reader: largest heap, MB', 32, (rows) => rows[US].heap),
  atMost('left', 'streams left early: connections open 6 s later', 0, (rows) => [rows[US].connections]),
  atMost('left', "streams left early: the client's timers and sockets 6 s later", 0, (rows) => [rows[US].resources]),
];

/** The marks of the measured items: `{ text, required, measured, lowest, highest, met }`. */
export function judge(figures) {
  return MARKS.filter(({ item }) => figures.has(item)).map(({ item, text, least, most, of }) => {
    const { figure, rounds } = summary(of(figures.get(item)));
    const met = least === undefined ? figure <= most : figure >= least;
    const required = least === undefined ? `≤ ${most}` : `≥ ${least}`;
    return { text, required, measured: figure, lowest: Math.min(...rounds), highest: Math.max(...rounds), met };
  });
}

function summary(result) {
  return Array.isArray(result) ? { figure: median(result), rounds: result } : result;
}

/** The CPU time of the other contestant divided by ours, per round. */
function cheaper(item, text, other, least, us = US) {
  const of = (rows) => rows[other].cpu.map((cpu, round) => cpu / rows[us].cpu[round]);
  return { item, text, least, of };
}

function atMost(item, text, most, of) {
  return { item, text, most, of };
}

/** Our CPU time minus that of the other contestant, per round. */
function over(rows, other) {
  return rows[US].cpu.map((cpu, round) => cpu - rows[other].cpu[round]);
}

function ahead(rows) {
  return rows[US].ahead.map((taken, round) => taken - rows.bare.ahead[round]);
}

/** Uses the medians, because a single round has outliers. */
function grows({ samples }) {
  return growth(samples[US]);
}
