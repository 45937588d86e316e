import type { RequestSummary } from '../../src/http/log/request-record.js';
import { Button } from '../parts/button.js';
import { bound, Field, type Option, Select } from '../parts/field.js';
import { requests } from '../service/live.js';
import { type Filter, filter, NO_FILTER } from './filter.js';

const STATUSES: readonly Option<string>[] = [['ok', 'succeeded'], ['failed', 'failed'], '4xx', '5xx'];

/** What can be chosen is what the log has. */
const SELECTS: readonly {
  name: 'status' | 'key' | 'code' | 'model' | 'conversation';
  label: string;
  of: (request: RequestSummary) => string | undefined;
  more?: readonly Option<string>[];
}[] = [
  { name: 'status', label: 'Status', of: ({ status }) => status?.toString(), more: STATUSES },
  { name: 'key', label: 'Key or user', of: ({ caller }) => caller },
  { name: 'code', label: 'Error code', of: ({ code }) => code },
  { name: 'model', label: 'Model', of: ({ model }) => model },
  { name: 'conversation', label: 'Conversation', of: ({ conversation }) => conversation },
];

/** The filters of the list: the first ones at once, the others on request. */
export function FilterForm() {
  const now = filter.value;
  const set = (change: Partial<Filter>): void => {
    filter.value = { ...now, ...change };
  };
  const field = (name: 'q' | 'from' | 'to') => bound(now[name], (value) => set({ [name]: value }));
  const selects = SELECTS.map(({ name, label, of, more = [] }) => (
    <Select
      key={name}
      id={`request-${name}`}
      label={label}
      of={bound(now[name], (value) => set({ [name]: value }))}
      options={[['', 'any'], ...more, ...valuesOf(of, now[name], more)]}
    />
  ));
  const isSet = Object.values(now).some((value) => value !== '');
  const isMore = [now.code, now.model, now.conversation, now.from, now.to, now.fault].some((value) => value !== '');
  return (
    <>
      <div class="form">
        <Field label="Search" type="search" id="request-q" of={field('q')} placeholder="any word" />
        {selects.slice(0, 2)}
      </div>
      <details class="filters" id="more-filters" open={isMore}>
        <summary>More filters</summary>
        <div class="form">
          {selects.slice(2)}
          <Field label="From (UTC)" type="datetime-local" id="request-from" of={field('from')} />
          <Field label="To (UTC)" type="datetime-local" id="request-to" of={field('to')} />
          <Select
            label="Fault"
            id="request-fault"
            of={bound(now.fault, (fault) => set({ fault }))}
            options={[
              ['', 'any'],
              ['true', 'with a fault'],
            ]}
          />
        </div>
      </details>
      {isSet && (
        <Button kind="quiet" id="clear-filter" onClick={() => set(NO_FILTER)}>
          Clear the filters
        </Button>
      )}
    </>
  );
}

function valuesOf(
  of: (request: RequestSummary) => string | undefined,
  chosen: string,
  more: readonly Option<string>[],
): string[] {
  const known = requests.value.map(of).filter((value) => value !== undefined);
  // The chosen one may have left the log.
  const isOther = chosen !== '' && !more.some((each) => (typeof each === 'string' ? each : each[0]) === chosen);
  return [...new Set([...known, ...(isOther ? [chosen] : [])])].sort();
}
