import type { RequestSummary } from '../../src/http/request-log.js';

/** The filter of the list of requests. */
export interface Filter {
  /** Text to find in the path, method, status, fault or id. */
  text: string;
  status: StatusFilter;
  /** The name of a key, or a user; empty for any. */
  caller: string;
}

export type StatusFilter = 'all' | 'ok' | 'failed' | '4xx' | '5xx' | 'faults';

/** Whether a request matches the filter. */
export function fits(request: RequestSummary, { text, status, caller }: Filter): boolean {
  const { method, path, fault = '', requestId } = request;
  if (caller !== '' && request.caller !== caller) return false;
  if (!STATUS[status](request)) return false;
  const wanted = text.trim().toLowerCase();
  return (
    wanted === '' || `${method} ${path} ${request.status ?? ''} ${fault} ${requestId}`.toLowerCase().includes(wanted)
  );
}

/** Whether a request failed: a status of 400 or above, or an early end. */
export function isFailed({ status = 0, outcome }: RequestSummary): boolean {
  return status >= 400 || !(outcome === 'answered' || outcome === 'pending');
}

const STATUS: Record<StatusFilter, (request: RequestSummary) => boolean> = {
  all: () => true,
  ok: (request) => !isFailed(request),
  failed: isFailed,
  '4xx': ({ status = 0 }) => status >= 400 && status < 500,
  '5xx': ({ status = 0 }) => status >= 500,
  faults: ({ fault }) => fault !== undefined,
};
