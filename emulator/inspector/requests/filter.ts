import { signal } from '@preact/signals';
import type { RequestSummary } from '../../src/http/log/request-record.js';

/** The filter of the list of requests: what is not empty must fit. The names are those of `GET /search/requests`. */
export interface Filter {
  /** A text in the path, the headers or a body. Only the emulator can search these. */
  q: string;
  /** `429`, `4xx`, `5xx`, `ok` or `failed`. */
  status: string;
  /** The error code of the response. */
  code: string;
  /** The name of a key, or a user. */
  key: string;
  model: string;
  conversation: string;
  /** The beginning of an ISO date and time, inclusive. */
  from: string;
  to: string;
  fault: '' | 'true';
}

export const NO_FILTER: Filter = {
  q: '',
  status: '',
  code: '',
  key: '',
  model: '',
  conversation: '',
  from: '',
  to: '',
  fault: '',
};

/** Module state, so that the filter survives a visit to another view. */
export const filter = signal<Filter>(NO_FILTER);

/** Whether a request matches the filter, except for its text. */
export function fits(request: RequestSummary, { status, code, key, model, conversation, from, to, fault }: Filter) {
  const { receivedAt } = request;
  return (
    (status === '' || hasStatus(request, status)) &&
    (code === '' || request.code === code) &&
    (key === '' || request.caller === key) &&
    (model === '' || request.model === model) &&
    (conversation === '' || request.conversation === conversation) &&
    (from === '' || receivedAt.slice(0, from.length) >= from) &&
    (to === '' || receivedAt.slice(0, to.length) <= to) &&
    (fault === '' || request.fault !== undefined)
  );
}

/** The filter as a query for the emulator. */
export function queryOf({ from, to, ...rest }: Filter): URLSearchParams {
  const query = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== ''));
  if (from !== '') query.set('from', `${from}:00.000Z`);
  if (to !== '') query.set('to', `${to}:59.999Z`);
  return query;
}

/** Whether a request failed: a status of 400 or above, or an early end. */
export function isFailed({ status = 0, outcome }: RequestSummary): boolean {
  return status >= 400 || !(outcome === 'answered' || outcome === 'pending');
}

function hasStatus(request: RequestSummary, wanted: string): boolean {
  if (wanted === 'failed') return isFailed(request);
  if (wanted === 'ok') return !isFailed(request);
  const status = String(request.status ?? '');
  return wanted.endsWith('xx') ? status.startsWith(wanted.charAt(0)) : status === wanted;
}
