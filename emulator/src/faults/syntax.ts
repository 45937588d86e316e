import { parseJson } from '../base/checked.js';
import { badRequest } from '../base/errors.js';
import { mention } from '../base/mention.js';
import { checkedFault, type FaultResponse } from './rule.js';

/** The header with which a request asks for a fault. */
export const FAULT_HEADER = 'x-emulator-fault';

/**
 * Parses the fault header: the JSON of a `respond`, or a short form such as `503`, `429=7`, `reset`, `reset-after`,
 * `stall`, `delay=500`, `malformed`, `content-type=text/html`, `cut`, `cut=3`, `cut=3:reset`, `garble=2`, `error=2`,
 * `drip=10:100`.
 */
export function parseFault(text: string): FaultResponse {
  const given = text.trim();
  if (given.startsWith('{')) return checkedFault(parseJson(given));
  const [name = '', value = ''] = splitOnce(given, '=');
  const [first = '', second = ''] = splitOnce(value, ':');
  if (/^[2-5]\d\d$/.test(name)) {
    return checkedFault({ status: Number(name), ...(value === '' ? {} : { retryAfter: Number(value) }) });
  }
  const short = Object.hasOwn(SHORT_FORMS, name) ? SHORT_FORMS[name] : undefined;
  if (short === undefined) throw badRequest(FAULT_HEADER, `${FAULT_HEADER}: unknown fault: ${mention(given)}`);
  return checkedFault(short(value, first, second));
}

const SHORT_FORMS: Readonly<Record<string, (value: string, first: string, second: string) => object>> = {
  reset: () => ({ type: 'reset' }),
  'reset-after': () => ({ type: 'reset', when: 'after' }),
  stall: () => ({ type: 'stall' }),
  delay: (value) => ({ type: 'slow', delay: Number(value) }),
  garbage: () => ({ type: 'garbage' }),
  malformed: () => ({ type: 'malformed' }),
  'content-type': (value) => ({ type: 'contentType', contentType: value }),
  drip: (_, bytes, every) => ({ type: 'drip', bytes: Number(bytes), every: Number(every) }),
  'cut-body': (value) => ({ type: 'cutBody', afterBytes: Number(value) }),
  cut: (_, events, how) => ({
    type: 'cutStream',
    ...(events === '' ? {} : { afterEvents: Number(events) }),
    ...(how === '' ? {} : { how }),
  }),
  garble: (value) => ({ type: 'garbleStream', afterEvents: Number(value) }),
  error: (value) => ({ type: 'streamError', afterEvents: Number(value) }),
};

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}
