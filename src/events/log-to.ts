import { type Logger, log } from '../base/log.js';
import { ConfigurationError } from '../errors/base.js';
import { isFunction } from '../validation/options.js';
import type { ClientEvent } from './events.js';

/**
 * A listener for `onEvent` that prints each event as one readable line, without credentials, ids or message text. Takes
 * `console`, or any object with `debug` and `warn`. Without code, `CONTEXT_GATEWAY_LOG=debug` in the environment prints the
 * same lines to standard error.
 *
 * @throws {ConfigurationError} when `logger` has no `debug` or `warn`
 * @example
 * ```ts
 * import { GatewayClient, logTo } from 'context-gateway';
 * const lines: string[] = [];
 * const logger = { debug: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) };
 * await new GatewayClient({ onEvent: logTo(logger) }).presets.list();
 * console.log(lines[0]?.split(': ')[1]);
 * ```
 */
export function logTo(logger: Logger): (event: ClientEvent) => void {
  const { debug, warn } = Object(logger) as Partial<Logger>;
  if (isFunction(debug) && isFunction(warn)) return (event) => log(event, logger);
  throw new ConfigurationError('logTo takes an object with debug and warn, such as console.');
}
