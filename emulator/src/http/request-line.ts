import type { EndedRequest } from './request-log.js';

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

function noteFor({ status, outcome, fault, error }: EndedRequest): string {
  const notes = [
    fault === undefined ? '' : `fault: ${fault}`,
    status === 429 && fault === undefined ? 'rate limit' : '',
    error === undefined ? '' : 'failed inside the emulator: see /_emulator',
    outcome === 'aborted' ? 'client disconnected' : '',
  ];
  return notes.filter((note) => note !== '').join(', ');
}

function colorOf(status: number): number {
  if (status >= 500) return RED;
  return status >= 400 ? YELLOW : GREEN;
}

const RED = 31;
const GREEN = 32;
const YELLOW = 33;
