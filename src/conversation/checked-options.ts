import { ConfigurationError } from '../index.js';
import { checkMessages } from './messages.js';
import type { CompactionOptions, CompactionTrigger, ConversationOptions } from './options.js';
import { SECTIONS } from './sections.js';

/** The service's models have windows of 128K and 200K tokens. Which model has which is not documented. */
const SMALLEST_WINDOW = 128_000;

/** The token budget of a prompt and its reply. */
export interface Window {
  contextWindow: number;
  reserveOutput: number;
}

/** What each option may be, as a message says it: types, or the values themselves. */
type Checks<T> = { readonly [Name in keyof Required<T>]: readonly string[] };

const NUMBER = ['a number from 0'];

const OPTIONS: Checks<ConversationOptions> = {
  context: ['an object'],
  gateway: ['an object'],
  conversationId: ['a string'],
  model: ['a string'],
  instructions: ['a string'],
  workspaceId: ['a string'],
  history: ['an array', 'a function'],
  contextWindow: NUMBER,
  reserveOutput: NUMBER,
  contextShare: NUMBER,
  countTokens: ['a function'],
  sections: ['an array'],
  placement: ['user', 'system'],
  mergeUserTurns: ['a boolean'],
  render: ['a function'],
  compaction: ['an object', 'false'],
  ledger: ['an object', 'false'],
  maxAge: NUMBER,
  onContextError: ['throw', 'skip'],
  onCompaction: ['a function'],
  onError: ['a function'],
};

const COMPACTION: Checks<CompactionOptions> = {
  when: ['an object', 'an array'],
  level: ['light', 'deep', 'aggressive', 'a function'],
  mode: ['background', 'before'],
  timeout: NUMBER,
  minGrowth: NUMBER,
  cooldown: NUMBER,
  onBefore: ['a function'],
};

const TRIGGER: Checks<CompactionTrigger> = { tokens: NUMBER, messages: NUMBER, fraction: NUMBER };

/** Rejects invalid options before any work starts. */
export function checkOptions(options: ConversationOptions): Window {
  check(options, OPTIONS);
  const { context, gateway, contextWindow = SMALLEST_WINDOW } = options;
  const { reserveOutput = Math.min(4096, Math.floor(contextWindow / 8)), contextShare = 0.5, sections = [] } = options;
  const { history, compaction, ledger } = options;
  refuse(context?.memory === undefined, 'context must be a ContextClient.');
  refuse(gateway?.chat === undefined, 'gateway must be a GatewayClient.');
  refuse(!options.conversationId, 'conversationId must not be empty.');
  refuse(!options.model, 'model must not be empty.');
  refuse(
    ![contextWindow, reserveOutput].every(Number.isInteger) || contextWindow <= reserveOutput,
    'contextWindow and reserveOutput must be whole numbers of tokens, the former larger.',
  );
  refuse(contextShare > 1, 'contextShare must be from 0 to 1.');
  refuse(!sections.every((section) => SECTIONS.includes(section)), `sections must be some of ${SECTIONS.join(', ')}.`);
  refuse(ledger && !('load' in ledger && 'save' in ledger), 'ledger must have load and save.');
  if (typeof history === 'object') checkMessages(history, 'history');
  if (compaction) checkCompaction(compaction, options.contextWindow);
  return { contextWindow, reserveOutput };
}

function checkCompaction(compaction: CompactionOptions, contextWindow: number | undefined): void {
  check(compaction, COMPACTION, 'compaction.');
  for (const trigger of [compaction.when ?? []].flat()) {
    check(trigger, TRIGGER, 'compaction.when.');
    const { fraction = 0 } = trigger;
    refuse(fraction > 1, 'compaction.when.fraction must be from 0 to 1.');
    refuse(fraction > 0 && contextWindow === undefined, 'A trigger with fraction needs contextWindow.');
  }
}

function check(given: object, checks: Readonly<Record<string, readonly string[]>>, path = ''): void {
  refuse(Object(given) !== given, `${path || 'createConversation'} takes an object of options.`);
  for (const [name, value] of Object.entries(given)) {
    const accepted = checks[name] ?? refuseUnknown(name, Object.keys(checks), path);
    const isBad = value === null || (typeof value === 'number' && !(value >= 0));
    const kind = isBad || (Array.isArray(value) ? 'array' : typeof value);
    const fits = accepted.some((one) => one.includes(` ${kind}`) || one === `${value}`);
    refuse(value !== undefined && !fits, `${path}${name} must be ${accepted.join(' or ')}.`);
  }
}

function refuseUnknown(given: string, names: readonly string[], path: string): never {
  // Most spelling mistakes are near the end.
  const meant = names.filter((name) => name.startsWith(given.slice(0, -3)));
  throw new ConfigurationError(
    `${path}${given} is not an option of createConversation` +
      (meant.length > 0 ? `; did you mean ${meant.join(', ')}?` : ` (it takes ${names.join(', ')}).`),
  );
}

function refuse(condition: unknown, message: string): void {
  if (condition) throw new ConfigurationError(message);
}
