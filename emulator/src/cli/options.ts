import * as z from 'zod/mini';
import { FLAGS, type Flag, flag, GROUPS, toNumber, toPairs } from '../base/flag.js';
import { SERVICE_OPTIONS, type ServiceOptions } from '../options.js';

/** An option of the command, with its names. */
export interface CommandOption extends Flag {
  /** In the config file: `seedFile`. */
  name: string;
  /** On the command line: `--seed-file`. */
  flag: string;
  /** In the environment: `CONTEXT_GATEWAY_EMULATOR_SEED_FILE`. */
  variable: string;
  schema: z.ZodMiniType;
}

/** The given options, in the form of the config file. */
export type GivenOptions = z.input<typeof COMMAND_OPTIONS> & ServiceOptions;

/** The prefix of the command's variables. */
export const PREFIX = 'CONTEXT_GATEWAY_EMULATOR_';
export const DEFAULT_PORT = 4010;
export const DEFAULT_HOST = '127.0.0.1';

const text = z.string('expected a text');
const pairs = z.record(z.string(), text.check(z.minLength(1, 'empty')), 'not name=value pairs');
const notPort = 'not a whole number up to 65535';

/** What only the command has. All options of the service that have a flag are options of the command as well. */
const COMMAND_OPTIONS = z.object({
  port: flag('server', z.optional(z.int(notPort).check(z.gte(0, notPort), z.lte(65_535, notPort))), {
    value: 'NUMBER',
    about: 'port to listen on; 0 picks a free port',
    byDefault: String(DEFAULT_PORT),
    read: toNumber,
  }),
  host: flag('server', z.optional(text), { value: 'ADDRESS', about: 'address to listen on', byDefault: DEFAULT_HOST }),
  seedFile: flag('server', z.optional(text), {
    value: 'FILE',
    about: 'load initial data from a JSON file, unless --data has some',
    byDefault: 'a sample conversation',
  }),
  import: flag('server', z.optional(text), {
    value: 'FILE',
    about: 'start with a snapshot, such as one of --export-on-exit',
  }),
  exportOnExit: flag('server', z.optional(text), {
    value: 'FILE',
    about: 'write a snapshot of all stored data when the command ends',
  }),
  assume: flag('service', z.optional(pairs), {
    value: 'NAME=VALUE',
    about: 'set an undocumented detail to match your service',
    read: toPairs(String, /,(?=[\w-]+=)/),
    isRepeatable: true,
  }),
  upstreamKey: flag('completions', z.optional(text), {
    value: 'KEY',
    about: 'API key for the upstream; keys of callers are never sent to it',
    isSecret: true,
  }),
  modelMap: flag('completions', z.optional(pairs), {
    value: 'A=B',
    about: 'request model B from the upstream in place of A; separated by commas',
    read: toPairs(),
    isRepeatable: true,
  }),
  record: flag('completions', z.optional(text), {
    value: 'DIR',
    about: 'record upstream responses in this directory, without keys',
  }),
  replay: flag('completions', z.optional(text), {
    value: 'DIR',
    about: 'replay the responses recorded in this directory; opens no connections',
  }),
  quiet: flag('output', z.optional(z.boolean('expected true or false')), { about: 'do not print requests' }),
});

const { port, host, ...others } = COMMAND_OPTIONS.shape;
const ORDER = Object.keys(GROUPS);

/** All options of the command, in the order of the help. */
export const OPTIONS: readonly CommandOption[] = Object.entries({ port, host, ...SERVICE_OPTIONS.shape, ...others })
  .flatMap(([name, schema]): CommandOption[] => {
    const flag = FLAGS.get(schema);
    const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const variable = PREFIX + words.replaceAll('-', '_').toUpperCase();
    return flag === undefined ? [] : [{ ...flag, name, flag: `--${words}`, variable, schema }];
  })
  .sort((a, b) => ORDER.indexOf(a.group) - ORDER.indexOf(b.group));
