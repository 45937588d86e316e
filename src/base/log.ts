import { startOf } from './unicode.js';
/** Where events are printed: `console`, or the logger of your app. */
export type Logger = {
  /** Gets what happens normally. */
  debug(line: string): void;
  /** Gets retries, failures and responses that do not match the documentation. */
  warn(line: string): void;
};

/** The fields of every event. */
interface LoggedEvent {
  readonly call: number;
  readonly area: string;
  readonly method: string;
  readonly path: string;
  readonly type: string;
}

/** Maximum characters of a line. */
const MAX_LINE = 2_000;

/** Prints an event in one line. Returns what the logger does, so that the rejection of an asynchronous one is ignored. */
export function log(event: LoggedEvent, logger: Logger): unknown {
  const line = describeEvent(event);
  return isProblem(event) ? logger.warn(line) : logger.debug(line);
}

function isProblem({ type, ...fields }: LoggedEvent): boolean {
  if (type === 'done') return 'outcome' in fields && fields.outcome === 'error';
  return type === 'retry' || type === 'failure' || type === 'validation';
}

/**
 * One line about an event, with its fields as `name=value`. Names from the service may contain control characters, or turn
 * the direction of text around.
 */
function describeEvent({ call, area, method, path, type, ...fields }: LoggedEvent): string {
  const texts = Object.entries(fields).flatMap(([name, value]: [string, unknown]) =>
    value === undefined || typeof value === 'function' ? [] : `${name}=${textOf(value)}`,
  );
  const line = [`context-gateway ${area} #${call} ${method} ${path}: ${type}`, ...texts].join(' ');
  return startOf(line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '), MAX_LINE);
}

/** Times are in milliseconds, whole from 10 on. A temperature keeps its decimals. */
function textOf(value: unknown): string {
  if (typeof value === 'number') return String(value < 10 ? Math.round(100 * value) / 100 : Math.round(value));
  return typeof value === 'string' ? value : JSON.stringify(value);
}
