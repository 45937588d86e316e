import * as z from 'zod/mini';
import { GROUPS } from '../base/flag.js';
import type { Emulator, ListeningEmulator } from '../emulator.js';
import { type CommandOption, OPTIONS, PREFIX } from './options.js';
import { CONFIG_FILE } from './read-options.js';

/** The text of `--help`. */
export function help(): string {
  const groups = Object.entries(GROUPS).map(([group, title]) => {
    const options = OPTIONS.filter((option) => option.group === group);
    return `\n${title}\n${options.map(optionLine).join('')}`;
  });
  return `context-gateway-emulator: the whole context and gateway service on this machine

  context-gateway-emulator [options]
  context-gateway-emulator exec [options] "COMMAND"    run a command against a new emulator, with the variables that point to it
${groups.join('')}  --config FILE          options from a JSON file: { "seedFile": "seed.json" } (${CONFIG_FILE})
  --help, --version

Each option is also an environment variable, such as ${PREFIX}PORT. Flags override variables, and
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

function optionLine(option: CommandOption): string {
  const notes = [option.isRepeatable && 'repeatable', defaultOf(option)].filter(Boolean).join('; ');
  return `  ${usage(option).padEnd(22)} ${option.about}${notes && ` (${notes})`}\n`;
}

/** The options as a table for the documentation. */
export function optionTable(): string {
  const rows = OPTIONS.map((option) => {
    const standard = defaultOf(option) ?? (option.value === undefined ? 'off' : 'none');
    return `| \`${usage(option)}\` | ${option.about} | ${standard.replaceAll('*', '\\*')} |`;
  });
  return ['| flag | | default |', '|---|---|---|', ...rows].join('\n');
}

function usage({ flag, value }: CommandOption): string {
  return value === undefined ? flag : `${flag} ${value}`;
}

function defaultOf({ byDefault, schema, value }: CommandOption): string | undefined {
  if (byDefault !== undefined || value === undefined) return byDefault;
  return schema instanceof z.ZodMiniDefault || schema instanceof z.ZodMiniPrefault
    ? String(schema.def.defaultValue)
    : undefined;
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
