import { LIST_FORMS } from '../api/lists.js';
import { RATE_LIMIT_RESETS } from '../http/admission.js';
import type { ServiceOptions } from '../options.js';
import { oneOf } from './one-of.js';

/**
 * Options for assumptions that do not hold for your service, from texts in the form `NAME=VALUE`, as `--assume` takes
 * them. The names are listed in `assumptions.json`.
 */
export function assumed(texts: readonly string[]): Partial<ServiceOptions> {
  const options: Partial<ServiceOptions> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const value = text.slice(at + 1).trim();
    const name = text.slice(0, at).trim();
    const apply = Object.hasOwn(SWITCHES, name) ? SWITCHES[name] : undefined;
    if (at === -1 || value === '' || apply === undefined) {
      throw new RangeError(
        `--assume ${text}: expected NAME=VALUE, where NAME is one of ${Object.keys(SWITCHES).join(', ')}`,
      );
    }
    Object.assign(options, apply(value));
  }
  return options;
}

const SWITCHES: Readonly<Record<string, (value: string) => Partial<ServiceOptions>>> = {
  // A8: Authorization defaults to the scheme Bearer, any other header to the bare token.
  'session-header': (value) => {
    const [name = '', scheme] = value.split(':');
    const standard = name.toLowerCase() === 'authorization' ? 'Bearer' : '';
    return { sessionHeader: { name, scheme: scheme ?? standard } };
  },
  // A9
  publishable: (value) => ({ publishableEndpoints: value.split(',').map((endpoint) => endpoint.trim()) }),
  // A13
  'rate-limit-reset': (value) => ({ rateLimitReset: oneOf('--assume rate-limit-reset', value, RATE_LIMIT_RESETS) }),
  // A3
  'list-form': (value) => ({ listForm: oneOf('--assume list-form', value, LIST_FORMS) }),
};
