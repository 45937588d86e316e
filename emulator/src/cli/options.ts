import * as z from 'zod/mini';
import { manualClock } from '../base/clock.js';
import { resolveSettings } from '../options.js';
import { PLAN_NAMES } from '../store/account.js';
import { SUMMARIZERS } from '../store/conversation-records.js';

/** An option of the command. It is a flag, an environment variable and a field of the config file. */
export interface CommandOption {
  /** Its heading in the help. */
  group: 'server' | 'service' | 'completions' | 'output';
  /** Its description in the help and the README. */
  about: string;
  /** The placeholder after the flag; a switch has none. */
  value?: string | undefined;
  /** The default, as printed in the help. */
  byDefault?: string | undefined;
  /** The schema of its value in the config file. */
  schema: z.ZodMiniType;
  /** Parses the text of a flag or variable. Returns invalid text unchanged, and the schema rejects it. */
  read: (text: string) => unknown;
  /** Whether the flag may be repeated. */
  isRepeatable?: boolean | undefined;
  /** Whether it is a path, which the config file takes relative to itself. */
  isPath?: boolean | undefined;
  /** Never repeated in a message. */
  isSecret?: boolean | undefined;
}

const text = { schema: z.string().check(z.minLength(1, 'empty')), read: (given: string): unknown => given };
const path = { ...text, isPath: true };
const secret = { ...text, isSecret: true };
const toggle = {
  schema: z.boolean({ error: 'not true or false' }),
  read: (given: string): unknown => ({ true: true, 1: true, false: false, 0: false })[given] ?? given,
};

function whole(most: number) {
  const error = `not a whole number up to ${most}`;
  return {
    schema: z.int({ error }).check(z.gte(0, error), z.lte(most, error)),
    read: (given: string): unknown => (/^\d+$/.test(given) ? Number(given) : given),
  };
}

function choice<const Names extends readonly string[]>(names: Names) {
  return {
    value: 'NAME',
    schema: z.literal(names, { error: `not one of ${names.join(', ')}` }),
    read: (given: string): unknown => given,
  };
}

/** `name=value` pairs, separated by commas. */
function pairs<Values extends z.ZodMiniType>(
  schema: Values,
  readValue: (text: string) => unknown = String,
  comma = /,/,
) {
  return {
    schema,
    read: (given: string): unknown => {
      const entries = given.split(comma).map((pair): [string, unknown] | undefined => {
        const [name = '', ...value] = pair.split('=');
        return name === '' || value.length === 0 ? undefined : [name.trim(), readValue(value.join('=').trim())];
      });
      return entries.some((entry) => entry === undefined) ? given : Object.fromEntries(entries as [string, unknown][]);
    },
  };
}

const notPairs = { error: 'not name=value pairs' };
const perMinute = whole(1e9);
const limits = z.strictObject(
  {
    gateway: z.optional(perMinute.schema),
    context: z.optional(perMinute.schema),
    compact: z.optional(perMinute.schema),
    tokens: z.optional(perMinute.schema),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : notPairs.error) },
);
const names = z.record(z.string(), text.schema, notPairs);
const origins = z.union([z.string(), z.array(z.string())], { error: 'not origins, * or none' });
const pace = z.strictObject(
  { tokensPerSecond: whole(1e6).schema, ttft: z.optional(whole(3_600_000).schema) },
  { error: 'not tokens per second, or tokens per second:milliseconds' },
);

/** What the service is without options. */
const STANDARD = resolveSettings({});

/** All options. The name is the field in the config file; flag and variable are derived from it. */
export const OPTIONS = {
  port: {
    group: 'server',
    value: 'NUMBER',
    about: 'port to listen on; 0 picks a free port',
    byDefault: '4010',
    ...whole(65_535),
  },
  host: { group: 'server', value: 'ADDRESS', about: 'address to listen on', byDefault: '127.0.0.1', ...text },
  controlToken: {
    group: 'server',
    value: 'TEXT',
    about: 'token that opens the control plane and the inspector to other machines',
    byDefault: 'this machine only',
    ...secret,
  },
  data: {
    group: 'server',
    value: 'DIR',
    about: 'store everything in one file in this directory',
    byDefault: 'in memory',
    ...path,
  },
  seed: {
    group: 'server',
    value: 'TEXT',
    about: 'generate the same keys and ids on every start',
    byDefault: 'random',
    ...text,
  },
  seedFile: {
    group: 'server',
    value: 'FILE',
    about: 'load initial data from a JSON file',
    byDefault: 'a sample conversation',
    ...path,
  },
  import: {
    group: 'server',
    value: 'FILE',
    about: 'start with a snapshot, such as one of --export-on-exit',
    byDefault: 'none',
    ...path,
  },
  exportOnExit: {
    group: 'server',
    value: 'FILE',
    about: 'write a snapshot of all stored data when the command ends',
    byDefault: 'none',
    ...path,
  },
  now: {
    group: 'server',
    value: 'TIME',
    about: 'fix the clock at this time; POST /_emulator/clock advances it',
    byDefault: 'system time',
    schema: z.string().check(z.refine(isTime, 'not a time such as 2026-01-15T10:00:00Z')),
    read: (given: string): unknown => given,
  },
  plan: {
    group: 'service',
    about: 'plan of the account: starter (no Gateway access), agency, enterprise',
    byDefault: STANDARD.plan.id,
    ...choice(PLAN_NAMES),
  },
  limits: {
    group: 'service',
    value: 'LIST',
    about: 'rate limits, in requests (or tokens) per minute',
    byDefault: Object.entries(STANDARD.plan.limits)
      .map((limit) => limit.join('='))
      .join(','),
    ...pairs(limits, perMinute.read),
  },
  latency: {
    group: 'service',
    value: 'MS',
    about: 'delay before every response',
    byDefault: String(STANDARD.latency),
    ...whole(3_600_000),
  },
  pace: {
    group: 'service',
    value: 'NUMBER[:MS]',
    about: 'tokens per second in streams, and the delay before the first token',
    byDefault: 'no delay',
    schema: pace,
    read: readPace,
  },
  strict: { group: 'service', about: 'reject undocumented body fields', ...toggle },
  cors: {
    group: 'service',
    value: 'ORIGINS',
    about: 'origins that browsers may call from, separated by commas, or *, or none',
    byDefault: '*; with a seed, pages from this machine',
    schema: origins,
    read: readOrigins,
  },
  assume: {
    group: 'service',
    value: 'NAME=VALUE',
    about: 'set an undocumented detail to match your service',
    isRepeatable: true,
    ...pairs(names, String, /,(?=[\w-]+=)/),
  },
  upstream: {
    group: 'completions',
    value: 'URL',
    about: 'OpenAI-compatible server that generates completions; the URL includes /v1',
    ...text,
  },
  upstreamKey: {
    group: 'completions',
    value: 'KEY',
    about: 'API key for the upstream; keys of callers are never sent to it',
    ...secret,
  },
  modelMap: {
    group: 'completions',
    value: 'A=B',
    about: 'request model B from the upstream in place of A; separated by commas',
    isRepeatable: true,
    ...pairs(names),
  },
  record: {
    group: 'completions',
    value: 'DIR',
    about: 'record upstream responses in this directory, without keys',
    ...path,
  },
  replay: {
    group: 'completions',
    value: 'DIR',
    about: 'replay the responses recorded in this directory; opens no connections',
    ...path,
  },
  summarizer: {
    group: 'completions',
    about: 'what writes summaries: extractive, or upstream (a model)',
    byDefault: STANDARD.summarizer,
    ...choice(SUMMARIZERS),
  },
  quiet: { group: 'output', about: 'do not print requests', ...toggle },
} as const satisfies Record<string, CommandOption>;

/** The name of an option, as the config file writes it. */
export type OptionName = keyof typeof OPTIONS;
/** The given options, in the form of the config file. */
export type GivenOptions = { [Name in OptionName]?: z.infer<(typeof OPTIONS)[Name]['schema']> | undefined };

/** Every option with its name. */
export const optionEntries = (): [OptionName, CommandOption][] =>
  Object.entries(OPTIONS) as [OptionName, CommandOption][];

/** `seedFile` is the flag `seed-file`. */
export function flagName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `seedFile` is the variable `CONTEXT_GATEWAY_EMULATOR_SEED_FILE`. */
export function variableName(name: string): string {
  return PREFIX + flagName(name).replaceAll('-', '_').toUpperCase();
}

/** The prefix of the command's variables. */
export const PREFIX = 'CONTEXT_GATEWAY_EMULATOR_';

/** `40` is tokens per second; `40:300` adds the delay before the first one. */
function readPace(given: string): unknown {
  const [tokensPerSecond = '', ttft] = given.split(':').map(perMinute.read);
  return ttft === undefined ? { tokensPerSecond } : { tokensPerSecond, ttft };
}

function readOrigins(given: string): unknown {
  return given === '*' || given === 'none' ? given : given.split(',').map((origin) => origin.trim());
}

function isTime(given: string): boolean {
  try {
    manualClock(given);
    return true;
  } catch {
    return false;
  }
}
