import { parseArgs } from 'node:util';
import { nearest } from '../validation/nearest.js';
import { ASK } from './ask.js';
import { CHAT } from './chat.js';
import { type Command, OPERATIONS } from './operations.js';
import { inTables } from './tables.js';
import { UsageError } from './usage-error.js';

const COMMANDS = [ASK, CHAT, ...OPERATIONS];

/** What the user asks for. @throws {UsageError} */
export function readCommandLine(given: readonly string[]) {
  const json = given[0] === '--json' ? ['--json'] : []; // it may stand before the command, too
  const args = given.slice(json.length);
  const [first] = args;
  const end = args.indexOf('--'); // after it, everything is a text
  const words = end === -1 ? args : args.slice(0, end);
  const command = COMMANDS.find((one) => one.command === args.slice(0, wordCount(one.command)).join(' '));
  if (first === undefined || first === 'help' || words.includes('--help') || words.includes('-h'))
    return { kind: 'help', command: first === 'mcp' ? first : command } as const;
  if (first === '--version') return { kind: 'version' } as const;
  if (first === 'mcp') {
    if (given.length > 1) throw new UsageError('mcp takes no arguments; its settings are environment variables.');
    return { kind: 'mcp' } as const;
  }
  if (command === undefined) throw unknownCommand(first);
  return {
    kind: 'command',
    command,
    ...readArguments(command, [...json, ...args.slice(wordCount(command.command))]),
  } as const;
}

function readArguments({ command, parameters, hasNoJSON }: Command, args: readonly string[]) {
  const required = Object.keys(parameters).filter((name) => parameters[name]?.required);
  const flags = Object.keys(parameters).filter((name) => !parameters[name]?.required);
  const options = {
    ...(!hasNoJSON && { json: { type: 'boolean' } }),
    ...Object.fromEntries(
      flags.map((name) => [wordOf(name), { type: 'string', multiple: parameters[name]?.repeats === true }]),
    ),
  };
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...args],
      options: options as Record<string, { type: 'string' }>,
      allowPositionals: true,
    });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const unknown = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? /'(-[^']*)'/.exec(message)?.[1] : undefined;
    const what = unknown === undefined ? message.split('. ')[0] : unknownOption(unknown, Object.keys(options));
    const advice = required.length === 0 ? '' : '; put texts that begin with - after --';
    throw new UsageError(`${what}${advice}. Usage: ${usageOf(command)}`);
  }
  const missing = required[parsed.positionals.length];
  if (missing !== undefined) throw new UsageError(`${wordOf(missing)} is missing. Usage: ${usageOf(command)}`);
  if (parsed.positionals.length > required.length)
    throw new UsageError(`Too many arguments; put texts with spaces in quotes. Usage: ${usageOf(command)}`);
  const { json, file, ...flagged } = parsed.values;
  const given: Record<string, string> = Object.fromEntries(
    required.map((name, at) => [name, parsed.positionals[at] ?? '']),
  );
  for (const name of flags) {
    const value = flagged[wordOf(name)];
    if (typeof value === 'string') given[name] = value;
  }
  return { given, files: (file ?? []) as string[], json: json === true }; // of what repeats
}

function unknownCommand(word: string): UsageError {
  if (word.startsWith('-')) {
    const known = [...new Set(COMMANDS.flatMap(({ parameters }) => Object.keys(parameters).map(wordOf))), 'json'];
    const isKnown = known.some((name) => word === `--${name}` || word.startsWith(`--${name}=`));
    return new UsageError(
      isKnown ? `Options such as ${word} come after the command.` : `${unknownOption(word, known)}.`,
    );
  }
  const related = COMMANDS.filter(({ command }) => command.split(' ')[0] === word).map(({ command }) => command);
  const known = related.length > 0 ? related : [...COMMANDS.map(({ command }) => command), 'mcp'];
  const what = related.length > 0 ? `${word} needs a second word` : `There is no command ${word}`;
  return new UsageError(`${what}: ${known.join(', ')}.`);
}

/** `known`: the names of options, without dashes. */
function unknownOption(given: string, known: readonly string[]): string {
  const [word = ''] = given.split('=');
  const meant = nearest(word.replace(/^-+/, ''), known).map((name) => `--${name}`);
  return `The option ${word} is unknown${meant.length > 0 ? ` (did you mean ${meant.join(', ')}?)` : ''}`;
}

function usageOf(command: string): string {
  const one = COMMANDS.find((one) => one.command === command);
  const words = Object.entries(one?.parameters ?? {}).map(([name, { required, values, format = 'TEXT', repeats }]) =>
    required ? wordOf(name).toUpperCase() : `[--${wordOf(name)} ${values?.join('|') ?? format}]${repeats ? '…' : ''}`,
  );
  return ['context-gateway', command, ...words].join(' ');
}

/** The text of `--help`, for all commands or for one. */
export function helpText(one?: Command | 'mcp'): string {
  if (one === 'mcp') return MCP_HELP;
  if (one !== undefined) {
    const flags = Object.entries(one.parameters).map(([name, { required, description }]) => [
      required ? wordOf(name).toUpperCase() : `--${wordOf(name)}`,
      description,
    ]);
    const usage = `Usage: ${usageOf(one.command)}${one.hasNoJSON ? '' : ' [--json]'}`;
    return `${usage}\n\n${one.description}.\n\n${inTables(Object.fromEntries(flags))}`;
  }
  const rows = [
    ...COMMANDS.map(({ command, description }) => [usageOf(command).replace('context-gateway ', ''), description]),
    ['mcp', 'Serve contexts, memory and search to a model, as an MCP server on standard input and output'],
  ];
  const commands = rows.map(([usage, description]) => `  ${usage}\n      ${description}`);
  return `Usage: context-gateway COMMAND [--json]

${commands.join('\n')}

Reads CONTEXT_GATEWAY_BASE_URL, CONTEXT_GATEWAY_API_KEY (for ask, chat and usage), CONTEXT_GATEWAY_MODEL (for ask and chat)
and CONTEXT_GATEWAY_SESSION_TOKEN (for the others, and for chat --conversation).
--json prints the result as JSON. CONTEXT_GATEWAY_LOG=debug prints what each call does.
Exit codes: 0 for success, 1 when a call fails, 2 for an invalid command.
`;
}

const MCP_HELP = `Usage: context-gateway mcp

Serves contexts, memory and search to a model, as an MCP server on standard input and output. In the settings of an assistant:

  "context-gateway": {
    "command": "npx",
    "args": ["context-gateway", "mcp"],
    "env": { "CONTEXT_GATEWAY_BASE_URL": "https://…", "CONTEXT_GATEWAY_SESSION_TOKEN": "…" }
  }
`;

/** A parameter on the command line: `conversation` for `conversationId`. */
function wordOf(parameter: string): string {
  return parameter.replace(/Id$/, '');
}

function wordCount(command: string): number {
  return command.split(' ').length;
}
