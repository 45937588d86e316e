import type { ServiceOptions } from './options.js';

/**
 * The options for an assumption that does not hold for somebody's service, as `--assume NAME=VALUE` gives it. The names
 * stand in `assumptions.json`.
 */
export function assumed(texts: readonly string[]): Partial<ServiceOptions> {
  const options: Partial<ServiceOptions> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const value = text.slice(at + 1).trim();
    const apply = SWITCHES[text.slice(0, at).trim()];
    if (at === -1 || value === '' || apply === undefined) {
      throw new RangeError(`--assume ${text}: not one of ${Object.keys(SWITCHES).join(', ')} with =VALUE`);
    }
    Object.assign(options, apply(value));
  }
  return options;
}

const SWITCHES: Readonly<Record<string, (value: string) => Partial<ServiceOptions>>> = {
  // A8: a header of its own carries the bare token; Authorization has a scheme.
  'session-header': (value) => {
    const [name = '', scheme] = value.split(':');
    const standard = name.toLowerCase() === 'authorization' ? 'Bearer' : '';
    return { sessionHeader: { name, scheme: scheme ?? standard } };
  },
  // A9
  publishable: (value) => ({ publishableEndpoints: value.split(',').map((endpoint) => endpoint.trim()) }),
  // A13
  'rate-limit-reset': (value) => ({ rateLimitReset: oneOf('rate-limit-reset', value, RESET_UNITS) }),
  // A3
  'list-form': (value) => ({ listForm: oneOf('list-form', value, LIST_FORMS) }),
};

const RESET_UNITS = ['epoch-seconds', 'epoch-milliseconds', 'delta-seconds'] as const;
const LIST_FORMS = ['data', 'bare', 'named', 'items'] as const;

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new RangeError(`--assume ${name}=${value}: not one of ${allowed.join(', ')}`);
  return found;
}
