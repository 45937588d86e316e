import type { RequestSummary } from '../../src/http/request-log.js';

/** Which requests are wanted. */
export interface Filter {
  /** Stands in path, method, status, fault or id. */
  text: string;
  status: StatusFilter;
  /** The name of a key, or a user; empty: any. */
  caller: string;
}

/** Statuses as they are told apart. */
export type StatusFilter = 'all' | 'ok' | 'failed' | '4xx' | '5xx' | 'faults';

/** Does a request fit all that is wanted? */
export function fits(request: RequestSummary, { text, status, caller }: Filter): boolean {
  const { method, path, fault = '', requestId } = request;
  if (caller !== '' && request.caller !== caller) return false;
  if (!STATUS[status](request)) return false;
  const wanted = text.trim().toLowerCase();
  return (
    wanted === '' || `${method} ${path} ${request.status ?? ''} ${fault} ${requestId}`.toLowerCase().includes(wanted)
  );
}

/** Went wrong: a status above 399, or an end before its time. */
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
