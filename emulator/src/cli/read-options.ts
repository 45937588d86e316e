import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod/mini';
import { closest, unknownName } from '../base/closest.js';
import { parseJsonText } from '../base/json.js';
import { problemOf } from '../options.js';
import { type CommandOption, type GivenOptions, OPTIONS, PREFIX } from './options.js';

/** The parsed command line. */
export interface CommandLine {
  options: GivenOptions;
  help: boolean;
  version: boolean;
  /** The command for `exec` to run. */
  run: string | undefined;
}

/** The default config file. */
export const CONFIG_FILE = 'context-gateway-emulator.config.json';

/**
 * Reads the options from all sources. Flags override environment variables, which override the config file. Throws an
 * error with a message of one line that says what is wrong and where.
 */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
): CommandLine {
  const { values, run } = parseFlags(args);
  const { help = false, version = false, config, ...own } = values;
  const flags: Given = own;
  if (help || version) return { options: {}, help, version, run };
  const file = config ?? (env[`${PREFIX}CONFIG`] || undefined);
  const options: Given = { ...readConfig(file, directory), ...readVariables(env) };
  // `exec` ignores a port from the file or a variable: the emulator that is meant may be running there now.
  if (run !== undefined) delete options.port;
  for (const option of OPTIONS) {
    const given = flags[option.flag.slice(2)];
    if (given !== undefined) options[option.name] = checkedValue(option, given, labelOf(option.flag, option, given));
  }
  return { options, help, version, run };
}

/** Checked options by name. */
type Given = Record<string, unknown>;

function parseFlags(args: readonly string[]) {
  const own = OPTIONS.map(({ flag, value, isRepeatable = false }): [string, FlagForm] => [
    flag.slice(2),
    { type: value === undefined ? 'boolean' : 'string', multiple: isRepeatable },
  ]);
  const options = {
    ...Object.fromEntries(own),
    config: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const;
  for (const arg of args) {
    const name = /^--(?:no-)?([^=]+)/.exec(arg)?.[1];
    if (arg === '--') break;
    if (name !== undefined && !Object.hasOwn(options, name)) {
      const known = Object.keys(options).map((one) => `--${one}`);
      throw new Error(`--${name}: ${unknownName(`--${name}`, known)}`);
    }
  }
  const isExec = args[0] === 'exec';
  const rest = args.slice(isExec ? 1 : 0);
  const { values, positionals } = parseArgs({ args: rest, options, allowNegative: true, allowPositionals: isExec });
  if (isExec && !values.help && positionals.length !== 1) {
    throw new Error(
      `exec takes one command, in quotes: context-gateway-emulator exec "${positionals.join(' ') || 'npm test'}"`,
    );
  }
  return { values, run: positionals[0] };
}

type FlagForm = { type: 'boolean' | 'string'; multiple: boolean };

function readVariables(env: Readonly<Record<string, string | undefined>>): Given {
  const chosen: Given = {};
  const known = OPTIONS.map(({ variable }) => variable);
  for (const [variable, given = ''] of Object.entries(env)) {
    // Compose files pass unset variables as empty strings.
    if (!variable.startsWith(PREFIX) || given === '') continue;
    const option = OPTIONS.find((one) => one.variable === variable);
    if (option === undefined) {
      // Others may have variables with this prefix, such as Kubernetes.
      if (closest(variable, known) !== undefined) throw new Error(`${variable}: ${unknownName(variable, known)}`);
    } else if (option.name !== 'port' || !given.startsWith('tcp://')) {
      // Kubernetes sets the port for a service of the same name, to a value such as `tcp://10.0.0.1:4010`.
      chosen[option.name] = checkedValue(option, given, labelOf(variable, option, given));
    }
  }
  return chosen;
}

function readConfig(named: string | undefined, directory: string): Given {
  const file = resolve(directory, named ?? CONFIG_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    if (named === undefined) return {};
    throw new Error(`${named}: cannot read the file`);
  }
  const label = named ?? CONFIG_FILE;
  const chosen: Given = {};
  for (const [name, given] of Object.entries(parseConfig(text, label))) {
    const option = OPTIONS.find((one) => one.name === name);
    if (option !== undefined) {
      const value = checkedValue(option, given, label, [name]);
      const isPath = option.value === 'FILE' || option.value === 'DIR';
      chosen[name] = isPath ? resolve(dirname(file), String(value)) : value;
    } else if (name !== '$schema') {
      const names = OPTIONS.map((one) => one.name);
      throw new Error(`${label}: ${name}: ${unknownName(name, names)}`);
    }
  }
  return chosen;
}

function parseConfig(text: string, label: string): object {
  let config: unknown;
  try {
    config = parseJsonText(text);
  } catch (error) {
    throw new Error(`${label}: ${(error as SyntaxError).message}`);
  }
  if (typeof config === 'object' && config !== null && !Array.isArray(config)) return config;
  throw new Error(`${label}: expected an object, such as { "port": 4020 }`);
}

/** Reads and checks a value. A text is what a flag takes, and a list what a repeated flag does, or one with a list. */
function checkedValue(
  { schema, value, read, isRepeatable }: CommandOption,
  given: unknown,
  label: string,
  within: string[] = [],
): unknown {
  const text = Array.isArray(given) && (isRepeatable || value === 'LIST') ? given.join(',') : given;
  const parse = read ?? (value === undefined ? toBoolean : String);
  const result = typeof text === 'string' ? parse(text) : text;
  const { error } = z.safeParse(schema, result);
  if (error === undefined && text !== '') return result;
  const { path, message } = error === undefined ? { path: [], message: 'empty' } : problemOf(error);
  throw new Error([label, [...within, ...path].join('.'), message].filter((part) => part !== '').join(': '));
}

function toBoolean(text: string): unknown {
  return { true: true, 1: true, false: false, 0: false }[text] ?? text;
}

/** The flag or variable with its value, for an error message. */
function labelOf(name: string, { isSecret }: CommandOption, given: unknown): string {
  return isSecret ? name : `${name} ${String(given)}`.trimEnd();
}
