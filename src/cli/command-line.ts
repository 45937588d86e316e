import { parseArgs } from 'node:util';
import { nearest } from './nearest.js';
import { OPERATIONS, type Operation } from './operations.js';

/** A mistake of the user. The message says how to fix it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What the user asks for. @throws {UsageError} */
export function readCommandLine(given: readonly string[]) {
  const args = given[0] === '--json' ? [...given.slice(1), '--json'] : given;
  const [first] = args;
  const end = args.indexOf('--'); // after it, everything is a text
  const words = end === -1 ? args : args.slice(0, end);
  const operation = OPERATIONS.find(({ command }) => command === args.slice(0, wordCount(command)).join(' '));
  if (first === undefined || first === 'help' || words.includes('--help') || words.includes('-h'))
    return { kind: 'help', operation } as const;
  if (first === '--version') return { kind: 'version' } as const;
  if (first === 'mcp') {
    if (args.length > 1) throw new UsageError('mcp takes no arguments; its settings are environment variables.');
    return { kind: 'mcp' } as const;
  }
  if (operation === undefined) throw unknownCommand(first);
  const read = readArguments(operation, args.slice(wordCount(operation.command)));
  return { kind: 'operation', operation, ...read } as const;
}

function readArguments({ command, parameters }: Operation, args: readonly string[]) {
  const required = Object.keys(parameters).filter((name) => parameters[name]?.required);
  const flags = Object.keys(parameters).filter((name) => !parameters[name]?.required);
  const options = {
    json: { type: 'boolean' },
    ...Object.fromEntries(flags.map((name) => [wordOf(name), { type: 'string' }])),
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
  const { json, ...flagged } = parsed.values;
  const given: Record<string, string> = Object.fromEntries(
    required.map((name, at) => [name, parsed.positionals[at] ?? '']),
  );
  for (const name of flags) {
    const value = flagged[wordOf(name)];
    if (typeof value === 'string') given[name] = value;
  }
  return { given, json: json === true };
}

function unknownCommand(word: string): UsageError {
  if (word.startsWith('-')) {
    const known = [...new Set(OPERATIONS.flatMap(({ parameters }) => Object.keys(parameters).map(wordOf))), 'json'];
    const isKnown = known.some((name) => word === `--${name}` || word.startsWith(`--${name}=`));
    return new UsageError(
      isKnown ? `Options such as ${word} come after the command.` : `${unknownOption(word, known)}.`,
    );
  }
  const related = OPERATIONS.filter(({ command }) => command.split(' ')[0] === word).map(({ command }) => command);
  const known = related.length > 0 ? related : [...OPERATIONS.map(({ command }) => command), 'mcp'];
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
  const operation = OPERATIONS.find((one) => one.command === command);
  const words = Object.entries(operation?.parameters ?? {}).map(([name, { required, values, format = 'TEXT' }]) =>
    required ? wordOf(name).toUpperCase() : `[--${wordOf(name)} ${values?.join('|') ?? format}]`,
  );
  return ['context-gateway', command, ...words].join(' ');
}

/** The text of `--help`, for all commands or for one. */
export function helpText(one?: Operation): string {
  if (one !== undefined) return `Usage: ${usageOf(one.command)} [--json]\n\n${one.description}.\n`;
  const rows = [
    ...OPERATIONS.map(({ command, description }) => [usageOf(command).replace('context-gateway ', ''), description]),
    ['mcp', 'Serve these operations to a model, as an MCP server on standard input and output'],
  ];
  const commands = rows.map(([usage, description]) => `  ${usage}\n      ${description}`);
  return `Usage: context-gateway COMMAND [--json]

${commands.join('\n')}

Reads CONTEXT_GATEWAY_BASE_URL, CONTEXT_GATEWAY_API_KEY (for usage) and CONTEXT_GATEWAY_SESSION_TOKEN (for the others).
--json prints the result as JSON. CONTEXT_GATEWAY_LOG=debug prints what each call does.
Exit codes: 0 for success, 1 when a call fails, 2 for an invalid command.
`;
}

/** A parameter on the command line: `conversation` for `conversationId`. */
function wordOf(parameter: string): string {
  return parameter.replace(/Id$/, '');
}

function wordCount(command: string): number {
  return command.split(' ').length;
}
