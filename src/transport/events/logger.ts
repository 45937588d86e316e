import { readEnvironment } from '#platform';
import { ConfigurationError } from '../../errors/base.js';
import type { ClientEvent, Listener } from './events.js';

/** Where events are printed: `console`, or the logger of your app. */
export interface Logger {
  /** Gets what happens normally. */
  debug(line: string): void;
  /** Gets retries, failures and responses that do not match the documentation. */
  warn(line: string): void;
}

const VARIABLE = 'CONTEXT_GATEWAY_LOG';

/** Maximum characters of a line. */
const MAX_LINE = 2_000;

/** Standard error, so that the output of a program stays its own. */
const STANDARD_ERROR: Logger = { debug: (line) => console.error(line), warn: (line) => console.error(line) };

/** Prints each event in one line, to the given logger, or if the environment asks for it. */
export function logListener(logger: Logger | undefined): Listener | undefined {
  const output = logger ?? (isAsked() ? STANDARD_ERROR : undefined);
  if (output === undefined) return undefined;
  return (event) => {
    const line = describeEvent(event);
    // Returned, so that the rejection of an asynchronous logger is ignored like an error.
    return isProblem(event) ? output.warn(line) : output.debug(line);
  };
}

/** @throws {ConfigurationError} for another value, which would otherwise print nothing */
function isAsked(): boolean {
  const level = readEnvironment(VARIABLE)?.toLowerCase();
  if (level !== undefined && level !== 'debug' && level !== 'off')
    throw new ConfigurationError(`${VARIABLE} must be debug or off.`);
  return level === 'debug';
}

function isProblem(event: ClientEvent): boolean {
  if (event.type === 'done') return event.outcome === 'error';
  return event.type === 'retry' || event.type === 'failure' || event.type === 'validation';
}

/** One line about an event, with its fields as `name=value`. Names from the service may contain control characters. */
function describeEvent({ call, area, method, path, type, ...fields }: ClientEvent): string {
  const texts = Object.entries(fields).flatMap(([name, value]: [string, unknown]) =>
    value === undefined || typeof value === 'function' ? [] : `${name}=${textOf(value)}`,
  );
  const line = [`context-gateway ${area} #${call} ${method} ${path}: ${type}`, ...texts].join(' ');
  return line.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, MAX_LINE);
}

/** Times are in whole milliseconds. */
function textOf(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value));
  return typeof value === 'string' ? value : JSON.stringify(value);
}
