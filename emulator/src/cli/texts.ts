import type { Emulator, ListeningEmulator } from '../emulator.js';
import { type CommandOption, flagName, type OptionName, optionEntries, variableName } from './options.js';
import { CONFIG_FILE } from './read-options.js';

/** The text of `--help`. */
export function help(): string {
  return `context-gateway-emulator: the whole context and gateway service on this machine

  context-gateway-emulator [options]
  context-gateway-emulator exec [options] "COMMAND"    run a command against a new emulator, with the variables that point to it
${GROUPS.map(([group, title]) => `\n${title}\n${optionLines(group)}`).join('')}  --config FILE          options from a JSON file: { "seedFile": "seed.json" } (${CONFIG_FILE})
  --help, --version

Each option is also an environment variable, such as ${variableName('port')}. Flags override variables, and
variables override the config file. --no-strict and --no-quiet switch --strict and --quiet off.

Values of --assume:
  session-header=X-Session       (A8; with a scheme: Authorization:Token)
  publishable=GET /v1/presets    (A9; endpoints, separated by commas)
  rate-limit-reset=delta-seconds (A13; epoch-seconds, epoch-milliseconds)
  list-form=bare                 (A3; data, named, items)

The inspector is a page at /_emulator. To make one request fail, send the header x-emulator-fault,
such as 503, 429=7, reset, delay=500 or cut=3.
`;
}

const GROUPS: readonly [CommandOption['group'], string][] = [
  ['server', 'Address and data'],
  ['service', 'Behaviour of the service'],
  ['completions', 'Source of completions (default: a deterministic reply derived from the request)'],
  ['output', 'Output'],
];

function optionLines(group: CommandOption['group']): string {
  return optionEntries()
    .filter(([, option]) => option.group === group)
    .map(([name, { about, byDefault, isRepeatable }]) => {
      const notes = [isRepeatable ? 'repeatable' : '', byDefault ?? ''].filter((note) => note !== '');
      return `  ${usage(name).padEnd(22)} ${about}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}\n`;
    })
    .join('');
}

/** The options as a table for the README. */
export function optionTable(): string {
  const rows = optionEntries().map(([name, { about, byDefault, value }]) => {
    const standard = byDefault ?? (value === undefined ? 'off' : 'none');
    return `| \`${usage(name).replaceAll('|', '\\|')}\` | ${about} | ${standard.replaceAll('*', '\\*')} |`;
  });
  return ['| flag | | default |', '|---|---|---|', ...rows].join('\n');
}

function usage(name: OptionName): string {
  const { value } = new Map(optionEntries()).get(name) ?? {};
  return `--${flagName(name)}${value === undefined ? '' : ` ${value}`}`;
}

/** The variables that point a program with the SDK to this emulator. */
export function variables({
  url,
  apiKeys,
  sessionToken,
}: Omit<ListeningEmulator, 'port' | 'close'>): Record<string, string> {
  return {
    CONTEXT_GATEWAY_BASE_URL: url,
    CONTEXT_GATEWAY_API_KEY: apiKeys.secret,
    CONTEXT_GATEWAY_SESSION_TOKEN: sessionToken,
  };
}

/** The text that the command prints once it listens. */
export function greeting(
  url: string,
  emulator: Emulator,
  { hasSample, isClosed }: { hasSample: boolean; isClosed: boolean },
): string {
  const { apiKeys, sessionToken } = emulator;
  const { secret, publishable } = apiKeys;
  const exports = Object.entries(variables({ url, apiKeys, sessionToken })).map(
    ([name, value]) => `  export ${name}=${value}`,
  );
  const note = (key: string): string => (apiKeys.get(key) === undefined ? '  (deleted)' : '');
  const conversation = hasSample ? 'conv_sample' : (emulator.conversations.list()[0]?.id ?? 'ID');
  return `Listening on ${url}
Inspector    ${url}/_emulator
${isClosed ? CLOSED : ''}
  secret key       ${secret}${note(secret)}
  publishable key  ${publishable}${note(publishable)}
  session token    ${sessionToken}

For your program:

${exports.join('\n')}

Try it:

  curl -N ${url}/v1/chat/completions \\
    -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' \\
    -d '{"model":"atlas-small","stream":true,"messages":[{"role":"system","content":"We decided to keep invoices in PostgreSQL."},{"role":"user","content":"Where do we keep invoices?"}]}'

  curl '${url}/api/context?conversationId=${conversation}' -H 'Authorization: Bearer ${sessionToken}'
  curl ${url}/api/context/compact -H 'Authorization: Bearer ${sessionToken}' -H 'Content-Type: application/json' \\
    -d '{"conversationId":"${conversation}","level":"deep"}'

Ctrl+C stops it.
`;
}

const CLOSED = `
Other machines can reach the service, but not the inspector and the control plane. To open those, add --control-token TEXT.
`;
