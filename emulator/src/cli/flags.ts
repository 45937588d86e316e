import { parseArgs } from 'node:util';
import type { EmulatorOptions } from '../emulator.js';
import { PLAN_NAMES } from '../store/account.js';
import { SUMMARIZERS } from '../store/conversation-records.js';
import type { UpstreamOptions } from '../upstream/model-source.js';
import { assumed } from './assume.js';
import { oneOf } from './one-of.js';
import { addSampleConversation } from './sample.js';
import { seedFrom } from './seed-file.js';

/** What the command was told to do. */
export interface Flags {
  port: number;
  host: string;
  help: boolean;
  version: boolean;
  options: EmulatorOptions;
  /** Is the sample conversation there to try things on? */
  hasSample: boolean;
}

/** The flags of the command; an error's first line says what is wrong with them. */
export function readFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({ args: [...args], options: FLAGS });
  const seedFile = values['seed-file'];
  return {
    port: wholeNumber('--port', values.port, 65_535),
    host: values.host,
    help: values.help,
    version: values.version,
    hasSample: seedFile === undefined,
    options: {
      seed: values.seed,
      data: values.data,
      setup: seedFile === undefined ? addSampleConversation : seedFrom(seedFile),
      plan: values.plan === undefined ? undefined : oneOf('--plan', values.plan, PLAN_NAMES),
      latency: values.latency === undefined ? undefined : wholeNumber('--latency', values.latency, 3_600_000),
      limits: limitsOf(values.limits),
      pace: paceOf(values.pace),
      strict: values.strict,
      cors: corsOf(values.cors),
      upstream: upstreamOf(values),
      cassettes: cassettesOf(values),
      summarizer: values.summarizer === undefined ? undefined : oneOf('--summarizer', values.summarizer, SUMMARIZERS),
      ...assumed(values.assume),
    },
  };
}

const FLAGS = {
  port: { type: 'string', default: '4010' },
  host: { type: 'string', default: '127.0.0.1' },
  data: { type: 'string' },
  seed: { type: 'string' },
  'seed-file': { type: 'string' },
  plan: { type: 'string' },
  limits: { type: 'string' },
  latency: { type: 'string' },
  pace: { type: 'string' },
  strict: { type: 'boolean', default: false },
  cors: { type: 'string' },
  upstream: { type: 'string' },
  'upstream-key': { type: 'string' },
  'model-map': { type: 'string', multiple: true, default: [] as string[] },
  record: { type: 'string' },
  replay: { type: 'string' },
  summarizer: { type: 'string' },
  assume: { type: 'string', multiple: true, default: [] as string[] },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
} as const;

interface UpstreamValues {
  upstream?: string | undefined;
  'upstream-key'?: string | undefined;
  'model-map': readonly string[];
}

function upstreamOf({ upstream, 'upstream-key': key, 'model-map': map }: UpstreamValues): UpstreamOptions | undefined {
  if (upstream !== undefined) return { url: upstream, key, models: pairs('--model-map', map.join(',')) };
  if (key !== undefined) throw new Error('--upstream-key needs --upstream');
  if (map.length > 0) throw new Error('--model-map needs --upstream');
  return undefined;
}

function cassettesOf({ record, replay }: { record?: string | undefined; replay?: string | undefined }) {
  if (record !== undefined && replay !== undefined) throw new Error('either --record or --replay, not both');
  if (record !== undefined) return { directory: record, mode: 'record' } as const;
  return replay === undefined ? undefined : ({ directory: replay, mode: 'replay' } as const);
}

function limitsOf(text: string | undefined): Record<string, number> | undefined {
  if (text === undefined) return undefined;
  const limits = Object.entries(pairs('--limits', text)).map(([name, value]): [string, number] => {
    if (!['gateway', 'context', 'compact'].includes(name)) {
      throw new Error(`--limits ${name}: not one of gateway, context, compact`);
    }
    return [name, wholeNumber(`--limits ${name}`, value, 1e9)];
  });
  return Object.fromEntries(limits);
}

/** `--cors '*'` for any page, `--cors none`, or a list of origins. */
function corsOf(text: string | undefined): EmulatorOptions['cors'] {
  if (text === undefined) return undefined;
  if (text === 'none') return false;
  return { origins: text === '*' ? '*' : text.split(',').map((origin) => origin.trim()) };
}

/** `--pace 40` is tokens a second, `--pace 40:300` with the wait for the first one before it. */
function paceOf(text: string | undefined): { tokensPerSecond: number; ttft: number } | undefined {
  if (text === undefined) return undefined;
  const [tokensPerSecond = '', ttft = '0'] = text.split(':');
  return { tokensPerSecond: wholeNumber('--pace', tokensPerSecond, 1e6), ttft: wholeNumber('--pace', ttft, 3_600_000) };
}

function pairs(flag: string, text: string): Record<string, string> {
  if (text === '') return {};
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      if (name === '' || value.length === 0) throw new Error(`${flag} ${pair}: not of the form name=value`);
      return [name.trim(), value.join('=').trim()];
    }),
  );
}

function wholeNumber(flag: string, text: string, most: number): number {
  if (!/^\d+$/.test(text) || Number(text) > most) throw new Error(`${flag} ${text}: not a whole number up to ${most}`);
  return Number(text);
}
