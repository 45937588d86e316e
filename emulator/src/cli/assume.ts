import * as z from 'zod/mini';
import { problemOf, SERVICE_OPTIONS, type ServiceOptions } from '../options.js';

/**
 * Options for assumptions that do not hold for your service, from texts in the form `NAME=VALUE`, as `--assume` takes
 * them. The names are listed in `assumptions.json`.
 */
export function assumed(texts: readonly string[]): Partial<ServiceOptions> {
  const options: Partial<ServiceOptions> = {};
  for (const text of texts) {
    // linear: after the first =, the rest always matches
    const [, name = '', value = ''] = /^(.*?)=(.*)$/s.exec(text)?.map((part) => part.trim()) ?? [];
    const apply = Object.hasOwn(SWITCHES, name) ? SWITCHES[name] : undefined;
    if (value === '' || apply === undefined) {
      throw new RangeError(
        `--assume ${text}: expected NAME=VALUE, where NAME is one of ${Object.keys(SWITCHES).join(', ')}`,
      );
    }
    const chosen = apply(value);
    const { error } = z.safeParse(SERVICE_OPTIONS, chosen);
    if (error !== undefined) throw new RangeError(`--assume ${text}: ${problemOf(error).message}`);
    Object.assign(options, chosen);
  }
  return options;
}

const SWITCHES: Readonly<Record<string, (value: string) => { [Name in keyof ServiceOptions]: unknown }>> = {
  // A8: Authorization defaults to the scheme Bearer, any other header to the bare token.
  'session-header': (value) => {
    const [name = '', scheme] = value.split(':');
    const standard = name.toLowerCase() === 'authorization' ? 'Bearer' : undefined;
    return { sessionHeader: { name, scheme: scheme ?? standard } };
  },
  // A9
  publishable: (value) => ({ publishableEndpoints: value.split(',').map((endpoint) => endpoint.trim()) }),
  // A13
  'rate-limit-reset': (value) => ({ rateLimitReset: value }),
  // A3
  'list-form': (value) => ({ listForm: value }),
};
