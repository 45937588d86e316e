import * as z from 'zod/mini';
import { manualClock } from '../base/clock.js';
import { PLAN_NAMES } from '../store/account.js';
import { SUMMARIZERS } from '../store/conversation-records.js';

/** One option of the command: a flag, an environment variable and a field of the config file at once. */
export interface CommandOption {
  /** The heading of the help it stands under. */
  group: 'listens' | 'behaves' | 'answers' | 'command';
  /** What it is for, in the help and the README. */
  about: string;
  /** What stands after the flag; a switch has nothing there. */
  value?: string | undefined;
  /** What holds without it, as the help says it. */
  byDefault?: string | undefined;
  /** What the config file may say. */
  schema: z.ZodMiniType;
  /** A flag's or variable's text in the form of the config file; what it cannot read is left for the schema to refuse. */
  read: (text: string) => unknown;
  /** A flag may be given several times. */
  isRepeatable?: boolean | undefined;
  /** A file or folder: in the config file relative to that file. */
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

/** `name=value`, divided by commas. */
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

const notPairs = { error: 'not of the form name=value' };
const perMinute = whole(1e9);
const limits = z.strictObject(
  {
    gateway: z.optional(perMinute.schema),
    context: z.optional(perMinute.schema),
    compact: z.optional(perMinute.schema),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : notPairs.error) },
);
const names = z.record(z.string(), text.schema, notPairs);
const origins = z.union([z.string(), z.array(z.string())], { error: 'not origins, * or none' });
const pace = z.strictObject(
  { tokensPerSecond: whole(1e6).schema, ttft: z.optional(whole(3_600_000).schema) },
  { error: 'not tokens a second, or tokens a second:milliseconds' },
);

/** Every option there is. The name is the config file's field; flag and variable are made from it. */
export const OPTIONS = {
  port: {
    group: 'listens',
    value: 'NUMBER',
    about: 'where to listen; 0 takes a free port',
    byDefault: '4010',
    ...whole(65_535),
  },
  host: { group: 'listens', value: 'ADDRESS', about: 'which address to listen on', byDefault: '127.0.0.1', ...text },
  controlToken: {
    group: 'listens',
    value: 'TEXT',
    about: 'opens the control plane and the inspector to other machines that send it',
    byDefault: 'this machine only',
    ...secret,
  },
  data: {
    group: 'listens',
    value: 'DIR',
    about: 'keep everything in one file in this directory',
    byDefault: 'in memory',
    ...path,
  },
  seed: {
    group: 'listens',
    value: 'TEXT',
    about: 'the same keys and ids on every start',
    byDefault: 'random',
    ...text,
  },
  seedFile: {
    group: 'listens',
    value: 'FILE',
    about: 'first data from a JSON file',
    byDefault: 'a sample conversation',
    ...path,
  },
  now: {
    group: 'listens',
    value: 'TIME',
    about: 'the time it is until POST /_emulator/clock moves it on',
    byDefault: "the system's",
    schema: z.string().check(z.refine(isTime, 'not a point in time such as 2026-01-15T10:00:00Z')),
    read: (given: string): unknown => given,
  },
  plan: {
    group: 'behaves',
    about: 'what the account pays for: starter (no Gateway access), agency, enterprise',
    byDefault: 'agency',
    ...choice(PLAN_NAMES),
  },
  limits: {
    group: 'behaves',
    value: 'LIST',
    about: 'requests a minute',
    byDefault: 'gateway=1000,context=300,compact=20',
    ...pairs(limits, perMinute.read),
  },
  latency: { group: 'behaves', value: 'MS', about: 'wait before every response', byDefault: '0', ...whole(3_600_000) },
  pace: {
    group: 'behaves',
    value: 'NUMBER[:MS]',
    about: 'tokens a second in streams, and the wait for the first one',
    byDefault: 'at once',
    schema: pace,
    read: readPace,
  },
  strict: { group: 'behaves', about: 'refuse body fields that are not documented', ...toggle },
  cors: {
    group: 'behaves',
    value: 'ORIGINS',
    about: 'pages that may call: origins divided by commas, *, none',
    byDefault: '*; with a seed those of this machine',
    schema: origins,
    read: readOrigins,
  },
  assume: {
    group: 'behaves',
    value: 'NAME=VALUE',
    about: 'where your service differs',
    isRepeatable: true,
    ...pairs(names, String, /,(?=[\w-]+=)/),
  },
  upstream: { group: 'answers', value: 'URL', about: 'a server of the OpenAI form, up to /v1', ...text },
  upstreamKey: { group: 'answers', value: 'KEY', about: 'its key; the keys of callers are never sent on', ...secret },
  modelMap: {
    group: 'answers',
    value: 'A=B',
    about: 'what a model is called there; divided by commas',
    isRepeatable: true,
    ...pairs(names),
  },
  record: { group: 'answers', value: 'DIR', about: 'keep its responses, without keys', ...path },
  replay: { group: 'answers', value: 'DIR', about: 'reply from there and open no connection', ...path },
  summarizer: {
    group: 'answers',
    about: 'extractive, or upstream: a model writes summaries',
    byDefault: 'extractive',
    ...choice(SUMMARIZERS),
  },
  quiet: { group: 'command', about: 'do not show requests as they come', ...toggle },
} as const satisfies Record<string, CommandOption>;

/** The name of an option, as the config file writes it. */
export type OptionName = keyof typeof OPTIONS;
/** What was chosen, in the form of the config file. */
export type Chosen = { [Name in OptionName]?: z.infer<(typeof OPTIONS)[Name]['schema']> | undefined };

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

/** What the command's variables begin with. */
export const PREFIX = 'CONTEXT_GATEWAY_EMULATOR_';

/** `40` is tokens a second, `40:300` with the wait for the first one before it. */
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
