import { log } from '../base/log.js';
import { ConfigurationError } from '../errors/base.js';

/** The version of this package. A test compares it with package.json. */
const VERSION = '0.1.0';

/** What only servers have that may also have what workers of pages have. Of them, `WebSocketPair` is workerd's. */
const SERVERS = ['Deno', 'Bun', 'WebSocketPair', 'EdgeRuntime'];
const LOG = 'CONTEXT_GATEWAY_LOG';

/** Whether users can read this program and its secrets: true for a page and its workers, false for servers. */
export function isBrowser(): boolean {
  const scope = globalThis as { window?: unknown; document?: unknown; importScripts?: unknown };
  if (scope.window !== undefined && scope.document !== undefined) return true;
  // `process` alone says nothing: bundlers add it to pages.
  const isServer = SERVERS.some((name) => name in scope) || globalThis.process?.release?.name === 'node';
  return typeof scope.importScripts === 'function' && !isServer;
}

/** Names this package and the runtime to the service, as in `context-gateway/0.1.0 node/24`. None in a page. */
export function userAgent(): string | undefined {
  const { versions } = (globalThis.process ?? {}) as { versions?: Partial<Record<string, string>> };
  const runtime = ['bun', 'deno', 'node'].find((name) => versions?.[name] !== undefined);
  if (runtime === undefined || isBrowser()) return undefined;
  return `context-gateway/${VERSION} ${runtime}/${versions?.[runtime]?.split('.', 1)[0]}`;
}

/** An environment variable, if it exists and may be read. */
export function readEnvironment(name: string): string | undefined {
  try {
    return globalThis.process?.env?.[name] || undefined;
  } catch {
    return undefined; // Deno without permission
  }
}

/**
 * What prints to standard error if the environment asks for it, so that the output of a program stays its own.
 *
 * @throws {ConfigurationError} for an unknown value, which would otherwise print nothing
 */
export function environmentLog(): ((line: string) => void) | undefined {
  const level = readEnvironment(LOG)?.toLowerCase();
  if (level !== undefined && level !== 'debug' && level !== 'off')
    throw new ConfigurationError(`${LOG} must be debug or off.`);
  return level === 'debug' ? (line) => console.error(line) : undefined;
}

/** Prints events there. @throws {ConfigurationError} as `environmentLog` */
export function environmentListener(): ((event: Parameters<typeof log>[0]) => void) | undefined {
  const print = environmentLog();
  return print && ((event) => log(event, { debug: print, warn: print }));
}
