import type { ReachedLimit } from '../rate-limit.js';
import type { EndedRequest } from './request-record.js';

/** Formats a request as one line for the terminal, without keys, headers or bodies. */
export function requestLine(request: EndedRequest, isColored: boolean): string {
  const { method, path, status, duration = 0, tokens } = request;
  const paint = (text: string, code: number): string =>
    isColored && text !== '' ? `\x1b[${code}m${text}\x1b[39m` : text;
  const isComplete = request.outcome === 'answered' && status !== undefined;
  const columns = [
    paint(isComplete ? String(status) : '---', isComplete ? colorOf(status) : RED),
    method.padEnd(6),
    `${Math.round(duration)} ms`.padStart(9),
    (tokens === undefined ? '' : `${tokens.prompt} in ${String(tokens.completion).padStart(5)} out`).padStart(20),
    path,
    paint(noteFor(request), YELLOW),
  ];
  return columns.join('  ').trimEnd();
}

function noteFor({ outcome, fault, error, limit, attempt, similar }: EndedRequest): string {
  const notes = [
    fault === undefined ? '' : `fault: ${fault}`,
    limit === undefined ? '' : limitNote(limit),
    attempt === undefined ? '' : `attempt ${attempt.number}`,
    similar === undefined ? '' : `similar request ${similar.number}`,
    error === undefined ? '' : 'failed inside the emulator: see /_emulator',
    outcome === 'aborted' ? 'client disconnected' : '',
  ];
  return notes.filter((note) => note !== '').join(', ');
}

function limitNote({ name, unit, allowed, asked, windowMs, endsAt }: ReachedLimit): string {
  const count = unit === 'tokens' ? `${asked} used of ${allowed}` : `request ${asked} of ${allowed}`;
  return `limit ${name}: ${count} in ${windowMs / 1000} s, until ${endsAt.slice(11, 19)}`;
}

function colorOf(status: number): number {
  if (status >= 500) return RED;
  return status >= 400 ? YELLOW : GREEN;
}

const RED = 31;
const GREEN = 32;
const YELLOW = 33;
