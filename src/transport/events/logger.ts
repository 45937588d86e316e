import { readEnvironment } from '#platform';
import { describeIssues } from '../../base/issues.js';
import { ConfigurationError } from '../../errors/base.js';
import type { ClientEvent, DoneEvent, Listener } from './events.js';

/** Where events are printed: `console`, or the logger of your app. */
export interface Logger {
  /** Gets what happens normally. */
  debug(line: string): void;
  /** Gets retries, failures and responses that do not match the documentation. */
  warn(line: string): void;
}

const VARIABLE = 'CONTEXT_GATEWAY_LOG';

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

/** One line about an event. Names from the service may contain control characters. */
function describeEvent(event: ClientEvent): string {
  const { call, area, method, path } = event;
  const line = `context-gateway ${area} #${call} ${method} ${path}: ${factsOf(event)}`;
  return line.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

function factsOf(event: ClientEvent): string {
  switch (event.type) {
    case 'start':
      return joined(['start', event.model, event.streamed && 'streamed']);
    case 'request':
      return `request, attempt ${event.attempt}`;
    case 'response':
      return joined([`${event.status} after ${ms(event.duration)}`, event.requestId]);
    case 'queued':
      return joined([
        `waiting for the rate limit (${event.bucket})`,
        event.expectedWait !== undefined && `at least ${ms(event.expectedWait)}`,
      ]);
    case 'dequeued':
      return `waited ${ms(event.waited)} for the rate limit (${event.bucket})`;
    case 'retry':
      return `attempt ${event.attempt} failed (${event.reason}), next in ${ms(event.wait)}`;
    case 'failure':
      return `attempt ${event.attempt} failed (${event.reason}), no retry: ${event.stop}`;
    case 'validation':
      return `the response does not match the documentation: ${describeIssues(event.issues)}`;
    case 'done':
      return doneFacts(event);
  }
}

function doneFacts(event: DoneEvent): string {
  const { outcome, error, status, attempts, duration, timeToFirstChunk, usage, usageEstimated, finishReasons } = event;
  return joined([
    `${outcome} in ${ms(duration)}`,
    error,
    status !== undefined && `status ${status}`,
    attempts !== 1 && `${attempts} attempts`,
    timeToFirstChunk !== undefined && `first chunk after ${ms(timeToFirstChunk)}`,
    usage && `${usageEstimated ? 'about ' : ''}${usage.prompt_tokens} + ${usage.completion_tokens} tokens`,
    ...finishReasons,
  ]);
}

function joined(facts: readonly (string | false | undefined)[]): string {
  return facts.filter(Boolean).join(', ');
}

function ms(time: number): string {
  return `${Math.round(time)} ms`;
}
