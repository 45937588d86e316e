import * as z from 'zod/mini';
import { badRequest } from '../../base/errors.js';
import { described, exact, text } from '../../base/fields.js';
import { RESENT_HEADER } from './attempts.js';
import type { LogEntry } from './log-entry.js';
import { headersOf } from './records.js';
import type { RequestLog } from './request-log.js';

/** What to change in a request that is sent once more. The rest stays as it was. */
export interface RequestChanges {
  method?: string | undefined;
  /** Path with query. */
  path?: string | undefined;
  /** All headers. A value that the log hides, such as a key, stays what it was. */
  headers?: Record<string, string> | undefined;
  body?: string | undefined;
}

export const requestChanges = exact<RequestChanges>()(
  z.object({
    method: z.optional(text),
    path: z.optional(text),
    headers: z.optional(
      described('All headers. A value that the log hides stays what it was.', z.record(z.string(), z.string())),
    ),
    body: z.optional(z.string()),
  }),
);

/**
 * Sends a logged request once more, with its own key. Returns the id of the new request at once, or `undefined` if the log
 * does not have the request.
 */
export function resend(
  log: RequestLog,
  send: (request: Request) => Promise<Response>,
  requestId: string,
  changes: RequestChanges,
): string | undefined {
  const entry = log.entry(requestId);
  if (entry === undefined) return undefined;
  const request = resentRequest(entry, changes);
  let newId: string | undefined;
  const stop = log.listen((added) => {
    newId ??= added.requestId;
  });
  // The log has the request before the first wait.
  const response = send(request);
  stop();
  // Read to its end, as a client would. A fault may break it.
  response.then((answer) => answer.arrayBuffer()).catch(() => {});
  return newId;
}

/** A logged request once more, with its own key. Throws a 400 for an invalid method, path or header. */
function resentRequest(entry: LogEntry, changes: RequestChanges): Request {
  const { method = entry.method, path = entry.path } = changes;
  if (!/^\/(?!\/|_emulator)/.test(path)) throw badRequest('path', 'path: must start with /v1 or /api');
  const shown = headersOf(entry);
  const headers = new Headers();
  try {
    for (const [name, value] of Object.entries(changes.headers ?? shown)) {
      const key = name.toLowerCase();
      if (!FRAMING.test(key)) headers.set(key, value === shown[key] ? rawHeader(entry, key) : value);
    }
    headers.set(RESENT_HEADER, entry.requestId);
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const body = hasBody ? (changes.body ?? (entry.body as Uint8Array<ArrayBuffer> | undefined) ?? null) : null;
    return new Request(new URL(path, 'http://emulator.test'), { method, headers, body });
  } catch (error) {
    throw badRequest('request', error instanceof Error ? error.message : String(error));
  }
}

function rawHeader({ headers }: LogEntry, name: string): string {
  const values = headers.filter((_, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === name);
  return values.join(', ');
}

/** Headers of the connection, which it sets by itself. */
const FRAMING = /^(?:host|content-length|transfer-encoding|connection|keep-alive|expect|upgrade|te|trailer)$/;
