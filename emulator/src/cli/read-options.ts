import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod/mini';
import { parseJsonText } from '../base/json.js';
import { closest } from './closest.js';
import {
  flagName,
  type GivenOptions,
  OPTIONS,
  type OptionName,
  optionEntries,
  PREFIX,
  variableName,
} from './options.js';

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
  const { values, run, help, version } = readFlags(args);
  const fromEnv = help || version ? {} : readVariables(env);
  const named = values.config ?? (env[`${PREFIX}CONFIG`] || undefined);
  const fromFile = help || version ? {} : readConfig(named, directory);
  const fromFlags = Object.fromEntries(
    optionEntries().flatMap(([name, option]): [string, unknown][] => {
      const given = values[flagName(name)];
      if (given === undefined) return [];
      const value = typeof given === 'boolean' ? given : option.read(given);
      return [[name, checkedOption(name, value, `--${flagName(name)}${shown(name, given)}`)]];
    }),
  );
  const configured = { ...fromFile, ...fromEnv };
  // `exec` ignores a port from the file or a variable: the emulator that is meant may be running there now.
  if (run !== undefined) delete configured.port;
  return { options: { ...configured, ...fromFlags }, help, version, run };
}

function readFlags(args: readonly string[]) {
  const isExec = args[0] === 'exec';
  const own = Object.fromEntries(
    optionEntries().map(([name, { value, isRepeatable = false }]) => {
      return [
        flagName(name),
        value === undefined ? { type: 'boolean' } : { type: 'string', multiple: isRepeatable },
      ] as const;
    }),
  ) as Record<string, { type: 'boolean' } | { type: 'string'; multiple: boolean }>;
  const options = {
    ...own,
    config: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const;
  for (const arg of args) {
    const flag = /^--(?:no-)?([^=]+)/.exec(arg)?.[1];
    if (arg === '--') break;
    if (flag !== undefined && !Object.hasOwn(options, flag))
      throw unknown(`--${flag}`, flag, Object.keys(options), '--');
  }
  const rest = args.slice(isExec ? 1 : 0);
  const { values, positionals } = parseArgs({ args: rest, options, allowNegative: true, allowPositionals: isExec });
  const { help = false, version = false, ...others } = values;
  if (isExec && !help && positionals.length !== 1) {
    throw new Error(
      `exec takes one command, in quotes: context-gateway-emulator exec "${positionals.join(' ') || 'npm test'}"`,
    );
  }
  const joined = Object.entries(others).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]);
  // Repeated flags are joined above, so every value is a string or a boolean.
  return {
    values: Object.fromEntries(joined) as Record<string, string | undefined>,
    run: positionals[0],
    help,
    version,
  };
}

function readVariables(env: Readonly<Record<string, string | undefined>>): GivenOptions {
  const names = new Map(optionEntries().map(([name]) => [variableName(name), name]));
  const chosen: Record<string, unknown> = {};
  for (const [variable, given = ''] of Object.entries(env)) {
    // Compose files pass unset variables as empty strings.
    if (!variable.startsWith(PREFIX) || given === '') continue;
    const name = names.get(variable);
    if (name !== undefined && !isKubernetesAddress(name, given)) {
      chosen[name] = checkedOption(name, OPTIONS[name].read(given), `${variable}${shown(name, given)}`);
    } else if (
      name === undefined &&
      variable !== `${PREFIX}CONFIG` &&
      closest(variable, [...names.keys()]) !== undefined
    ) {
      throw unknown(variable, variable, [...names.keys()]);
    }
  }
  return chosen;
}

/** Kubernetes sets this variable for a service of the same name, to a value such as `tcp://10.0.0.1:4010`. */
function isKubernetesAddress(name: OptionName, given: string): boolean {
  return name === 'port' && given.startsWith('tcp://');
}

function readConfig(named: string | undefined, directory: string): GivenOptions {
  const file = resolve(directory, named ?? CONFIG_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    if (named === undefined) return {};
    throw new Error(`${named}: cannot read the file`);
  }
  const label = named ?? CONFIG_FILE;
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch (error) {
    throw new Error(`${label}: ${(error as SyntaxError).message}`);
  }
  const result = z.safeParse(CONFIG, value);
  if (!result.success) throw new Error(`${label}: ${issueMessage(result.error.issues[0])}`);
  const { $schema: _, ...chosen } = result.data;
  for (const [name, { isPath }] of optionEntries()) {
    const path = chosen[name];
    if (isPath && typeof path === 'string') chosen[name] = resolve(dirname(file), path);
  }
  return chosen;
}

const CONFIG = z.strictObject(
  Object.fromEntries([
    ...optionEntries().map(([name, { schema }]) => [name, z.optional(schema)] as const),
    ['$schema', z.optional(z.string())] as const,
  ]),
);

function checkedOption(name: OptionName, value: unknown, source: string): unknown {
  const result = z.safeParse(OPTIONS[name].schema as z.ZodMiniType, value);
  if (result.success) return result.data;
  throw new Error(`${source}: ${issueMessage(result.error.issues[0], name)}`);
}

/** Describes a problem and its place. `option` is undefined if the whole file was checked. */
function issueMessage(issue: z.core.$ZodIssue | undefined, option?: OptionName): string {
  const path = issue?.path.map(String) ?? [];
  if (issue?.code === 'unrecognized_keys') {
    const [first = ''] = issue.keys;
    const of = option ?? path[0];
    return unknown([...path, first].join('.'), first, of === undefined ? Object.keys(OPTIONS) : fieldsOf(of)).message;
  }
  return `${path.length === 0 ? '' : `${path.join('.')}: `}${issue?.message ?? 'not valid'}`;
}

/** The fields of an option in the config file. */
function fieldsOf(name: string): string[] {
  const schema: z.ZodMiniType | undefined = OPTIONS[name as OptionName]?.schema;
  return schema instanceof z.ZodMiniObject ? Object.keys(schema.shape) : [];
}

/** The given value for an error message; empty for a secret. */
function shown(name: OptionName, given: unknown): string {
  return 'isSecret' in OPTIONS[name] ? '' : ` ${String(given)}`;
}

function unknown(label: string, name: string, known: readonly string[], before = ''): Error {
  const near = closest(name, known);
  const all = known.map((one) => before + one).join(', ');
  return new Error(`${label}: ${near === undefined ? `not one of ${all}` : `unknown; did you mean ${before}${near}?`}`);
}
