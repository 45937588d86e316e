import { signal } from '@preact/signals';
import type { RequestSummary } from '../../src/http/log/request-record.js';

/** The words that the listed requests have. Module state, so that they survive a visit to another view. */
export const words = signal('');

/** Lists the requests that have these words. */
export function search(text: string): void {
  words.value = text;
}

/** Whether a request failed: a status of 400 or above, or an early end. */
export function isFailed({ status = 0, outcome }: RequestSummary): boolean {
  return status >= 400 || !(outcome === 'answered' || outcome === 'pending');
}
